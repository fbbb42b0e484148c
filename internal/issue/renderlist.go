package issue

import (
	"bufio"
	"crypto/sha256"
	"hash"
	"sync"

	"arbor/internal/web"
)

// piece is JSON that stands in many issues: an account, a label, a milestone.
type piece struct {
	json []byte
	sum  [sha256.Size]byte
}

func newPiece(v any) *piece {
	b := mustMarshal(v)
	return &piece{b, sha256.Sum256(b)}
}

// tagged makes the entity tag of a list, of its bytes with a zero byte and its sum in place
// of each piece. Most of a list is pieces, and their sums are kept with them. JSON has no zero
// bytes, so two different lists never look the same here.
type tagged struct {
	sum  hash.Hash
	in   *bufio.Writer
	done int // how many bytes of the list are in the sum
}

var taggedPool = sync.Pool{New: func() any {
	sum := sha256.New()
	return &tagged{sum: sum, in: bufio.NewWriterSize(sum, 16<<10)}
}}

func newTagged() *tagged {
	t := taggedPool.Get().(*tagged)
	t.sum.Reset()
	t.in.Reset(t.sum)
	t.done = 0
	return t
}

// add adds a piece that is about to be appended to the list.
func (t *tagged) add(list []byte, part *piece) {
	t.in.Write(list[t.done:]) // to a hash: it cannot fail
	t.in.WriteByte(0)
	t.in.Write(part.sum[:])
	t.done = len(list) + len(part.json)
}

// tag is the tag of the whole list.
func (t *tagged) tag(list []byte) string {
	t.in.Write(list[t.done:])
	t.in.Flush()
	return web.TagOf(t.sum.Sum(nil))
}

// write renders the page as an array, with its tag; a list that is sent in parts has none.
func (p *page) write(out *web.Output) error {
	t := newTagged()
	defer taggedPool.Put(t)
	if !out.Untagged() {
		p.tagged = t
	}
	err := out.Array(len(p.issues), func(n int) (err error) {
		if out.Begun() {
			p.tagged = nil
		}
		out.Buf, err = p.appendIssue(out.Buf, p.issues[n])
		return err
	})
	p.tagged = nil
	if err == nil && !out.Begun() && !out.Untagged() {
		out.ETag = t.tag(out.Buf)
	}
	return err
}

// appendPiece appends a piece.
func (p *page) appendPiece(b []byte, part *piece) []byte {
	if p.tagged != nil {
		p.tagged.add(b, part)
	}
	return append(b, part.json...)
}
