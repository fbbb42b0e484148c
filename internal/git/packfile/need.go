package packfile

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own names
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"

	"arbor/internal/git/object"
)

// Memory to unpack, in bytes: of the process, of each object, and for each byte
// of the largest one, which may be there with its base, its instructions and
// what keeps them.
const (
	NeedPerObject = 400
	needPerByte   = 5
)

// Bases are the objects that deltas of a pack name. They may be in the pack, too.
type Bases struct {
	Named []object.SHA
	All   bool // the list is complete
}

// Need is the memory in bytes that git takes to unpack a pack that is held whole,
// but not more than most, and the bases of its deltas. It ends quietly where the pack is
// damaged: git will say so. Error: TooLarge for an object that is too large and no
// delta, since git may take long to find that out.
func Need(pack []byte, least, most int64) (need int64, outside Bases, err error) {
	in := bytes.NewReader(pack)
	_, _ = in.Seek(int64(len(Header{})), io.SeekStart)
	var z inflater
	need = least
	largest := uint64(0)
	for in.Len() > sha1.Size { // the checksum
		e, err := readEntry(in)
		if err != nil {
			break
		}
		if e.kind == kindRefDelta {
			outside.Named = append(outside.Named, object.SHA(hex.EncodeToString(e.base[:])))
		}
		contents, err := z.reset(in)
		if err != nil {
			break
		}
		largest = max(largest, e.size)
		if t, ok := kindType(e.kind); ok {
			var name string
			err := object.CheckSize(t, int64(min(e.size, math.MaxInt64)), func() string {
				name = nameOf(t, e.size, contents)
				return name
			})
			if err != nil && name != "" {
				return 0, outside, err
			}
		} else if base, result, err := deltaHead(contents); err == nil {
			largest = max(largest, base, result)
		}
		if largest > uint64(most) {
			return most, outside, nil
		}
		// One byte more than it says, to read to the end and no further.
		if _, err := io.CopyN(io.Discard, contents, int64(e.size)+1); !errors.Is(err, io.EOF) {
			break
		}
		need += NeedPerObject
	}
	outside.All = in.Len() == sha1.Size
	return min(most, need+needPerByte*int64(largest)), outside, nil
}

// nameOf is the SHA of an object whose contents are read; empty when they are
// fewer bytes than the object is said to have.
func nameOf(t object.Type, size uint64, contents io.Reader) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", t, size)
	if n, err := io.Copy(h, contents); err != nil || uint64(n) != size {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
