package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"arbor/internal/durable"
)

// uneven gives other amounts of its bytes at each read, and breaks off at their end with broken, if that is
// set.
type uneven struct {
	from   *bytes.Reader
	broken error
	n      int
}

func (u *uneven) Read(b []byte) (int, error) {
	u.n++
	n, err := u.from.Read(b[:min(len(b), 1+u.n*7919%chunk)])
	if err == io.EOF && u.broken != nil {
		err = u.broken
	}
	return n, err
}

// A file has the bytes that came, and their digest, however they came. What breaks off or is too large leaves
// neither a file nor a goroutine, which synctest would complain of.
func TestReceive(t *testing.T) {
	sent := make([]byte, 20<<20)
	rand.NewChaCha8([32]byte{2}).Read(sent)
	sum := sha256.Sum256(sent)
	broken := errors.New("broken off")
	for _, c := range []struct {
		name    string
		most    int64
		breaks  error
		refused error
		err     error
	}{
		{"whole", int64(len(sent)), nil, nil, nil},
		{"broken off", int64(len(sent)), broken, nil, broken},
		{"too large", int64(len(sent)) - 1, nil, nil, ErrSize},
		{"no room", int64(len(sent)), nil, broken, broken},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			s := &Store{dir: filepath.Join(dir, Folder)}
			s.Pin("")
			from := &uneven{from: bytes.NewReader(sent), broken: c.breaks}
			f, err := s.Receive(t.Context(), from, c.most, func() error { return c.refused })
			if !errors.Is(err, c.err) {
				t.Fatalf("%s: %v", c.name, err)
			}
			if err != nil {
				if left, _ := filepath.Glob(filepath.Join(s.dir, "*", "*")); len(left) > 0 {
					t.Errorf("%s: %v is left", c.name, left)
				}
				return
			}
			got, err := os.ReadFile(s.path(f.Name))
			if err != nil || !bytes.Equal(got, sent) || f.Size != int64(len(sent)) ||
				f.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("%s: %d bytes, %v, of the digest %s", c.name, len(got), err, f.SHA256)
			}
			if left, _ := filepath.Glob(filepath.Join(s.dir, "*", durable.Temporary+"*")); len(left) > 0 {
				t.Errorf("%s: %v is left", c.name, left)
			}
		})
	}
}
