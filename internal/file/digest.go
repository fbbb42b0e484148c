package file

import (
	"crypto/sha256"
	"encoding/hex"
)

// Buffers of an incoming file: while one is filled and written, others are hashed. A socket rarely returns
// more than one can hold.
const (
	buffers = 4
	chunk   = 128 << 10 // bytes of each
)

// digest returns the SHA-256 of a file in a goroutine of its own, which sum ends.
type digest struct {
	free chan []byte // buffers that may be filled
	full chan []byte // to be hashed, in order
	made chan string // the digest, once full is closed
	done bool
}

func newDigest() *digest {
	d := &digest{free: make(chan []byte, buffers), full: make(chan []byte, buffers),
		made: make(chan string, 1)}
	for range buffers {
		d.free <- nil
	}
	go func() {
		hash := sha256.New()
		for b := range d.full {
			hash.Write(b)
			d.free <- b
		}
		d.made <- hex.EncodeToString(hash.Sum(nil))
	}()
	return d
}

// buffer waits for an empty buffer. The previous one may still be in use until add passes it to the
// goroutine.
func (d *digest) buffer() []byte {
	if b := <-d.free; b != nil {
		return b[:chunk]
	}
	return make([]byte, chunk)
}

// add hashes bytes at the beginning of the last buffer.
func (d *digest) add(b []byte) { d.full <- b }

// sum ends the goroutine, and returns the digest in hexadecimal digits. It may be called again, which returns
// nothing.
func (d *digest) sum() string {
	if d.done {
		return ""
	}
	d.done = true
	close(d.full)
	return <-d.made
}
