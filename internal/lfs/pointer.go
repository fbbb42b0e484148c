package lfs

import (
	"bytes"
	"strconv"
	"strings"
)

// MaxPointer is the size in bytes of the largest pointer.
const MaxPointer = 1024

// Pointer is what Git has in the place of an object. In JSON it is the object as clients and servers name it.
type Pointer struct {
	OID  string `json:"oid"`
	Size int64  `json:"size"` // of the object, in bytes
}

// versions are the first lines of pointers: the present one, and that of the first releases.
var versions = [...]string{"https://git-lfs.github.com/spec/v1", "https://hawser.github.com/spec/v1"}

// ParsePointer reads a pointer. ok is false for any other file.
func ParsePointer(data []byte) (p Pointer, ok bool) {
	if len(data) > MaxPointer || !bytes.HasPrefix(data, []byte("version ")) {
		return p, false
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	version := strings.TrimPrefix(strings.TrimSuffix(lines[0], "\r"), "version ")
	if version != versions[0] && version != versions[1] {
		return p, false
	}
	p.Size = -1
	for _, line := range lines[1:] {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\r"), " ")
		switch key {
		case "oid":
			p.OID, ok = strings.CutPrefix(value, "sha256:")
			if !ok || !isOID(p.OID) {
				return Pointer{}, false
			}
		case "size":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n < 0 || strconv.FormatInt(n, 10) != value {
				return Pointer{}, false
			}
			p.Size = n
		}
	}
	if p.OID == "" || p.Size < 0 {
		return Pointer{}, false
	}
	return p, true
}

// String returns the pointer as Git has it.
func (p Pointer) String() string {
	return "version " + versions[0] + "\noid sha256:" + p.OID + "\nsize " + strconv.FormatInt(p.Size, 10) + "\n"
}
