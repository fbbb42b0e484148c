package git

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own names
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// heldPack is the size in bytes up to which a pack is read whole before it is
// unpacked. So are most pushes: they hold no process while they come in, and
// what they need is known before.
const heldPack = 128 << 10

// holdPack reads a pack up to its end, or as much as is held: then rest is not nil.
func holdPack(header packHeader, pack io.Reader) (held []byte, rest io.Reader, err error) {
	b := bytes.NewBuffer(append(make([]byte, 0, 4<<10), header[:]...))
	_, err = b.ReadFrom(io.LimitReader(pack, heldPack))
	if err != nil {
		return nil, nil, errReading(err)
	}
	if b.Len() < heldPack {
		return b.Bytes(), nil, nil
	}
	return b.Bytes(), pack, nil
}

// spooledPack is the size in bytes up to which a longer pack comes in before it is
// unpacked, too: into a file. So a client that sends slowly holds no process.
const spooledPack = 64 << 20

// spool takes in what follows the beginning of a pack, or as much as is spooled. The
// caller closes the file, which has no name any more.
func (q *Quarantine) spool(rest io.Reader) (file *os.File, err error) {
	if file, err = os.CreateTemp(q.dir, "spool-"); err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if _, err := io.Copy(file, io.LimitReader(rest, spooledPack)); err != nil {
		return nil, errors.Join(errReading(err), file.Close())
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Memory to unpack, in bytes: of the process, of each object, and for each byte
// of the largest one, which may be there with its base, its instructions and
// what keeps them.
const (
	needAlways    = minCage
	needPerObject = 400
	needPerByte   = 5
)

// packNeed is what memory git takes to unpack a pack that is held whole, in
// bytes, but not more than most. It follows the pack as far as it makes sense;
// git will tell what is wrong with it. Error: TooLarge for an object that is
// too large and no delta: git may take long to find that out.
func packNeed(pack []byte, most int64) (int64, error) {
	in := bytes.NewReader(pack)
	_, _ = in.Seek(int64(len(packHeader{})), io.SeekStart)
	var z inflater
	need, largest := int64(needAlways), uint64(0)
	for in.Len() > sha1.Size { // the checksum
		e, err := readPackEntry(in)
		if err != nil {
			break
		}
		contents, err := z.reset(in)
		if err != nil {
			break
		}
		largest = max(largest, e.size)
		if t, ok := kindType(e.kind); ok {
			var name string
			err := checkSize(t, int64(min(e.size, math.MaxInt64)), func() string {
				name = nameOf(t, e.size, contents)
				return name
			})
			if err != nil && name != "" {
				return 0, err
			}
		} else if base, result, err := deltaHead(contents); err == nil {
			largest = max(largest, base, result)
		}
		if largest > uint64(most) {
			return most, nil
		}
		// One byte more than it says, to read to the end and no further.
		if _, err := io.CopyN(io.Discard, contents, int64(e.size)+1); !errors.Is(err, io.EOF) {
			break
		}
		need += needPerObject
	}
	return min(most, need+needPerByte*int64(largest)), nil
}

// nameOf is the SHA of an object whose contents are read; empty when they are
// fewer bytes than the object is said to have.
func nameOf(t Type, size uint64, contents io.Reader) string {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", t, size)
	if n, err := io.Copy(h, contents); err != nil || uint64(n) != size {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}
