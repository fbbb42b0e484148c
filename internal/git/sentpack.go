package git

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	"arbor/internal/errs"
	"arbor/internal/git/packfile"
	"arbor/internal/git/process"
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

	bases packfile.Bases // that its deltas name, as far as they are known
}

// holdPack reads a pack to its end.
func (q *Quarantine) holdPack(header packfile.Header, pack io.Reader, count uint32) (p *sentPack, err error) {
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
		p.need, p.bases, err = packfile.Need(p.held, process.MinCage, g.part(mostPart, 0))
		return p, err
	}
	p.need = g.part(largePart, packfile.NeedPerObject*int64(count))
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
