package lfs

import (
	"strings"
	"testing"
)

var someOID = strings.Repeat("0f", 32)

// Pointers are read as git lfs reads them, and nothing else is taken for one.
func TestPointers(t *testing.T) {
	first := "version https://git-lfs.github.com/spec/v1\n"
	oid, size := "oid sha256:"+someOID+"\n", "size 12\n"
	for text, want := range map[string]bool{
		first + oid + size: true, first + oid + "size 12": true, "version https://hawser.github.com/spec/v1\n" + oid + size: true,
		first + "ext-0-foo sha256:" + someOID + "\n" + oid + size: true, strings.ReplaceAll(first+oid+size, "\n", "\r\n"): true,
		first + oid + "size 0\n": true,
		"":                       false, first: false, first + oid: false, first + size: false, oid + size: false,
		first + oid + "size -1\n": false, first + oid + "size 1e3\n": false, first + oid + "size 012\n": false,
		first + "oid sha256:" + strings.ToUpper(someOID) + "\n" + size: false,
		first + "oid md5:" + someOID + "\n" + size:                     false,
		"version https://example.org/spec/v1\n" + oid + size:           false,
		first + oid + size + strings.Repeat("x", MaxPointer):           false,
	} {
		if p, ok := ParsePointer([]byte(text)); ok != want || ok && p.OID != someOID {
			t.Errorf("%q: %+v, %v", text, p, ok)
		}
	}
}

func FuzzPointer(f *testing.F) {
	f.Add(Pointer{someOID, 12}.String())
	f.Add("version https://git-lfs.github.com/spec/v1\noid sha256:x\nsize 1")
	f.Fuzz(func(t *testing.T, text string) {
		p, ok := ParsePointer([]byte(text))
		if !ok {
			return
		}
		if again, ok := ParsePointer([]byte(p.String())); !ok || again != p || p.Size < 0 || !isOID(p.OID) {
			t.Errorf("%q is %+v", text, p)
		}
	})
}
