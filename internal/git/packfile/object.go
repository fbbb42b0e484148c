package packfile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/adler32"
	"hash/crc32"
	"sync"

	"arbor/internal/git/object"
)

// Object is an object that a pack stores whole, not as a delta.
type Object struct {
	ID     object.ID
	Bytes  []byte // header and deflated contents
	crc    uint32
	offset int64 // in the pack, once it is written
}

// Packer reuses compressors, which take a few hundred kilobytes each. The
// fastest level is enough: maintenance finds deltas, which save far more. Trees
// are mostly SHAs, which nothing makes smaller, and a new tree is nearly its
// predecessor: until there are deltas they are stored as they are, as is what is
// so small that a code table costs more than it saves.
type Packer struct{ pool sync.Pool }

func (d *Packer) get(to *bytes.Buffer) *zlib.Writer {
	if z, ok := d.pool.Get().(*zlib.Writer); ok {
		z.Reset(to)
		return z
	}
	z, _ := zlib.NewWriterLevel(to, zlib.BestSpeed) // the level is one that exists
	return z
}

// Pack names and deflates an object.
func (d *Packer) Pack(o object.NewObject) (Object, error) {
	var b bytes.Buffer
	b.Grow(64 + len(o.Data)/2)
	b.Write(objectHeader(o.Type, len(o.Data)))
	if o.Type == object.TypeTree || len(o.Data) < worthDeflating {
		store(&b, o.Data)
	} else if err := d.deflate(&b, o.Data); err != nil {
		return Object{}, err
	}
	return Object{ID: o.ID(), Bytes: b.Bytes(), crc: crc32.ChecksumIEEE(b.Bytes())}, nil
}

// worthDeflating is the size in bytes from which an object is compressed.
const worthDeflating = 128

func (d *Packer) deflate(to *bytes.Buffer, data []byte) error {
	z := d.get(to)
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	d.pool.Put(z)
	return nil
}

// store writes data in zlib's form without compressing it: blocks of up to 64
// KiB, each with its length and that length's complement.
func store(to *bytes.Buffer, data []byte) {
	to.Write([]byte{0x78, 0x01})
	for rest := data; ; {
		n := min(len(rest), 0xffff)
		last := byte(0)
		if n == len(rest) {
			last = 1
		}
		to.Write([]byte{last, byte(n), byte(n >> 8), ^byte(n), ^byte(n >> 8)})
		to.Write(rest[:n])
		if rest = rest[n:]; last == 1 {
			break
		}
	}
	to.Write(binary.BigEndian.AppendUint32(nil, adler32.Checksum(data)))
}

// objectHeader is type and size in the pack's own form: four bits of size,
// then seven to a byte.
func objectHeader(t object.Type, size int) []byte {
	kind := map[object.Type]byte{
		object.TypeCommit: kindCommit, object.TypeTree: kindTree, object.TypeBlob: kindBlob,
		object.TypeTag: kindTag,
	}[t]
	var b []byte
	c := kind<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(b, c)
}
