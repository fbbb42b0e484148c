package packfile

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own names
	"testing"

	"arbor/internal/git/object"
	"arbor/internal/test/testkit"
)

// Need ends for every pack, damaged ones too. It asks for no less memory than git
// always needs, and for no more than there is.
func FuzzPackNeed(f *testing.F) {
	var d Packer
	pack := []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x02")
	for _, o := range []object.NewObject{
		{Type: object.TypeBlob, Data: bytes.Repeat([]byte("x"), 1000)},
		{Type: object.TypeTree, Data: []byte("100644 f\x0012345678901234567890")},
	} {
		p, err := d.Pack(o)
		testkit.NoError(f, err)
		pack = append(pack, p.Bytes...)
	}
	sum := sha1.Sum(pack)
	f.Add(append(pack, sum[:]...))
	f.Add([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01\xe4\x01x\x9c"))
	f.Fuzz(func(t *testing.T, pack []byte) {
		const least, most = 16 << 20, 100 << 20
		need, _, err := Need(pack, least, most)
		if err == nil && (need < least || need > most) {
			t.Errorf("%d bytes", need)
		}
	})
}
