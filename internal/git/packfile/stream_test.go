package packfile_test

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own checksum
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"arbor/internal/git/packfile"
)

// chunks returns what it holds in pieces of any size, and then fails: nobody may ask for more.
type chunks struct {
	rest  []byte
	sizes *rand.Rand
}

var errTooFar = errors.New("read behind the pack")

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.rest) == 0 {
		return 0, errTooFar
	}
	n := min(len(p), len(c.rest), 1+c.sizes.IntN(50))
	copy(p, c.rest[:n])
	c.rest = c.rest[n:]
	return n, nil
}

// A client that waits for the answer to its push, as JGit and libgit2 do, would wait for ever if its pack
// were read too far.
func TestUntilEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for size := range 200 {
		pack := make([]byte, 12+size)
		for i := range pack {
			pack[i] = byte(random.Uint32())
		}
		sum := sha1.Sum(pack)
		pack = append(pack, sum[:]...)
		got, err := io.ReadAll(packfile.UntilEnd(&chunks{pack, random}))
		if err != nil || !bytes.Equal(got, pack) {
			t.Fatalf("a pack of %d bytes: %d, %v", len(pack), len(got), err)
		}
		got, err = io.ReadAll(packfile.UntilEnd(iotest.OneByteReader(bytes.NewReader(pack[:len(pack)-1]))))
		if err != nil || len(got) != len(pack)-1 {
			t.Fatalf("a pack without its end: %d, %v", len(got), err)
		}
		damaged := bytes.Clone(pack)
		damaged[0] ^= 1
		if _, err := io.ReadAll(packfile.UntilEnd(&chunks{damaged, random})); !errors.Is(err, errTooFar) {
			t.Fatalf("a damaged pack: %v", err)
		}
	}
}
