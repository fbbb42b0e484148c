package file

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"arbor/internal/depot"
)

// summed is a reader that makes a digest of what is read.
type summed struct {
	in   io.Reader
	hash hash.Hash
	n    int64
}

func newSum(in io.Reader) *summed { return &summed{in: in, hash: sha256.New()} }

func (s *summed) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	s.hash.Write(p[:n])
	s.n += int64(n)
	return n, err
}

// compare returns depot.ErrDamaged unless all of a file was read.
func (s *summed) compare(f *File) error {
	if s.n != f.Size {
		return fmt.Errorf("%w: it has %d bytes, not %d", depot.ErrDamaged, s.n, f.Size)
	}
	if got := hex.EncodeToString(s.hash.Sum(nil)); got != f.SHA256 {
		return fmt.Errorf("%w: its SHA-256 is %s", depot.ErrDamaged, got)
	}
	return nil
}
