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
	"path/filepath"

	"arbor/internal/errs"
	"arbor/internal/git/object"
)

// heldPack is the size in bytes up to which a pack is held in memory before it is
// unpacked. Its need of memory is known then.
const heldPack = 128 << 10

// largePart is the part of git's memory in which larger packs are tried first.
const largePart = 8

// sentPack is a pack that was read to its end, with the memory that unpacking it needs.
// No process waits for a client: a slow one would keep memory from the pushes of others.
type sentPack struct {
	held []byte
	file *os.File // the pack, when it is too large to be held; has no name any more
	size int64
	need int64 // bytes

	bases bases // that its deltas name, as far as they are known
}

// holdPack reads a pack to its end.
func (q *Quarantine) holdPack(header packHeader, pack io.Reader, count uint32) (p *sentPack, err error) {
	g := q.repository.git
	b := bytes.NewBuffer(append(make([]byte, 0, 4<<10), header[:]...))
	_, err = b.ReadFrom(io.LimitReader(pack, heldPack))
	if err != nil {
		return nil, errReading(err)
	}
	p = &sentPack{held: b.Bytes(), size: int64(b.Len())}
	if p.size < heldPack {
		if p.size > g.options.MaxPackBytes {
			return nil, g.errTooLarge()
		}
		p.need, p.bases, err = packNeed(p.held, g.part(mostPart, 0))
		return p, err
	}
	p.need = g.part(largePart, needPerObject*int64(count))
	if p.file, err = os.Create(filepath.Join(q.dir, "sent")); err != nil {
		return nil, err
	}
	err = os.Remove(p.file.Name()) // a server that is killed leaves nothing
	if err == nil {
		p.size, err = g.copyPack(p.file, io.MultiReader(b, pack))
	}
	if err != nil {
		p.close()
		return nil, err
	}
	p.held = nil
	return p, nil
}

// copyPack copies the pack that a client sends, and gives its size.
func (g *Git) copyPack(to io.Writer, pack io.Reader) (int64, error) {
	limited := io.LimitReader(pack, g.options.MaxPackBytes+1)
	size, err := io.CopyBuffer(struct{ io.Writer }{to}, limited, make([]byte, 64<<10))
	if err != nil {
		return size, errReading(err)
	}
	if size > g.options.MaxPackBytes {
		return size, g.errTooLarge()
	}
	return size, nil
}

func (g *Git) errTooLarge() error {
	return errs.Newf(errs.TooLarge, "the pack is too large (maximum is %d bytes)", g.options.MaxPackBytes)
}

// reader reads the pack from its beginning.
func (p *sentPack) reader() io.Reader {
	if p.file == nil {
		return bytes.NewReader(p.held)
	}
	return io.NewSectionReader(p.file, 0, p.size)
}

func (p *sentPack) close() {
	if p.file != nil {
		p.file.Close()
	}
}

// Memory to unpack, in bytes: of the process, of each object, and for each byte
// of the largest one, which may be there with its base, its instructions and
// what keeps them.
const (
	needAlways    = minCage
	needPerObject = 400
	needPerByte   = 5
)

// packNeed is the memory in bytes that git takes to unpack a pack that is held whole,
// but not more than most, and the bases of its deltas. It ends quietly where the pack is
// damaged: git will say so. Error: TooLarge for an object that is too large and no
// delta, since git may take long to find that out.
func packNeed(pack []byte, most int64) (need int64, outside bases, err error) {
	in := bytes.NewReader(pack)
	_, _ = in.Seek(int64(len(packHeader{})), io.SeekStart)
	var z inflater
	need = needAlways
	largest := uint64(0)
	for in.Len() > sha1.Size { // the checksum
		e, err := readPackEntry(in)
		if err != nil {
			break
		}
		if e.kind == kindRefDelta {
			outside.named = append(outside.named, SHA(hex.EncodeToString(e.base[:])))
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
		need += needPerObject
	}
	outside.all = in.Len() == sha1.Size
	return min(most, need+needPerByte*int64(largest)), outside, nil
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
