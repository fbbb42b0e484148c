package packfile

import (
	"crypto/sha1" //nolint:gosec // git's own checksum
	"hash"
	"io"
)

// minPack is the length of the smallest pack: its header and its checksum.
const minPack = 12 + sha1.Size

// UntilEnd reads one pack from a connection that stays open behind it: it ends where the last 20 bytes are
// the checksum of all before. Clients wait there for an answer, so nothing else tells the end.
func UntilEnd(r io.Reader) io.Reader { return &untilEnd{r: r, sum: sha1.New()} }

type untilEnd struct {
	r     io.Reader
	sum   hash.Hash // of all but tail
	tail  []byte    // the last bytes, 20 at most
	read  int64
	ended bool
}

func (u *untilEnd) Read(p []byte) (int, error) {
	if u.ended {
		return 0, io.EOF
	}
	n, err := u.r.Read(p)
	u.note(p[:n])
	if err == nil && u.ended {
		err = io.EOF
	}
	return n, err
}

// note counts what was read. A look at the sum costs less than a microsecond, and comes once for each read.
func (u *untilEnd) note(b []byte) {
	u.read += int64(len(b))
	if over := len(u.tail) + len(b) - sha1.Size; over > 0 {
		fromTail := min(over, len(u.tail))
		u.sum.Write(u.tail[:fromTail])
		u.tail = append(u.tail[:0], u.tail[fromTail:]...)
		u.sum.Write(b[:over-fromTail])
		b = b[over-fromTail:]
	}
	u.tail = append(u.tail, b...)
	u.ended = u.read >= minPack && string(u.sum.Sum(nil)) == string(u.tail)
}
