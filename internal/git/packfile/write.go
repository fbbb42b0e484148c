package packfile

import (
	"bufio"
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own checksum
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"slices"

	"golang.org/x/sync/errgroup"
)

// TmpPack begins the names of files in objects/pack that are being written;
// git knows such names and leaves them alone.
const TmpPack = "tmp_pack_"

// Writer is a pack on its way into the repository: objects that are whole,
// with its index, in temporary files next to their final place.
type Writer struct {
	dir     string // objects/pack
	file    *os.File
	out     *bufio.Writer
	sum     hash.Hash
	offset  int64
	objects []Object // their bytes are dropped as soon as they are written
}

// NewWriter begins a pack of count objects.
func NewWriter(dir string, count int) (*Writer, error) {
	f, err := os.CreateTemp(dir, TmpPack)
	if err != nil {
		return nil, err
	}
	p := &Writer{dir: dir, file: f, sum: sha1.New(), objects: make([]Object, 0, count)}
	p.out = bufio.NewWriterSize(io.MultiWriter(f, p.sum), 64<<10)
	header := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(count))
	p.offset = int64(len(header))
	_, err = p.out.Write(header)
	return p, err
}

// Add writes one object. Error: its place would need more than the 31 bits that an
// index of indexBytes has for it.
func (p *Writer) Add(o Object) error {
	if p.offset > math.MaxInt32 {
		return fmt.Errorf("git: a pack written here ends at 2 GiB")
	}
	_, err := p.out.Write(o.Bytes)
	o.offset = p.offset
	p.offset += int64(len(o.Bytes))
	o.Bytes = nil
	p.objects = append(p.objects, o)
	return err
}

// Drop removes the pack, unless it was kept.
func (p *Writer) Drop() {
	_ = p.file.Close()
	_ = os.Remove(p.file.Name())
}

// Finish writes the rest of the pack and its index, and closes both; with sync it syncs them. The caller moves them to
// their final names, or removes the index and calls Drop.
func (p *Writer) Finish(sync bool) (Files, error) {
	if err := p.out.Flush(); err != nil {
		return Files{}, err
	}
	trailer := p.sum.Sum(nil)
	if _, err := p.file.Write(trailer); err != nil {
		return Files{}, err
	}
	index, err := os.CreateTemp(p.dir, TmpPack)
	if err != nil {
		return Files{}, err
	}
	end := func(f *os.File) error {
		err := f.Chmod(0o400)
		if sync {
			err = errors.Join(err, f.Sync())
		}
		return errors.Join(err, f.Close())
	}
	contents := indexBytes(p.objects, trailer)
	var both errgroup.Group
	both.Go(func() error { return end(p.file) })
	both.Go(func() error {
		_, err := index.Write(contents)
		return errors.Join(err, end(index))
	})
	if err := both.Wait(); err != nil {
		return Files{}, errors.Join(err, os.Remove(index.Name()))
	}
	return Files{Name: "pack-" + hex.EncodeToString(trailer), Pack: p.file.Name(), Index: index.Name()}, nil
}

// indexBytes is an index of version 2, of objects whose offsets need no more
// than 31 bits: Add refuses others.
func indexBytes(objects []Object, trailer []byte) []byte {
	sorted := slices.Clone(objects)
	slices.SortFunc(sorted, func(a, b Object) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	b := make([]byte, 0, indexNames+28*len(sorted)+40)
	b = append(b, "\xfftOc\x00\x00\x00\x02"...)
	next := 0
	for first := range 256 {
		for next < len(sorted) && int(sorted[next].ID[0]) == first {
			next++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(next))
	}
	for _, o := range sorted {
		b = append(b, o.ID[:]...)
	}
	for _, o := range sorted {
		b = binary.BigEndian.AppendUint32(b, o.crc)
	}
	for _, o := range sorted {
		b = binary.BigEndian.AppendUint32(b, uint32(o.offset))
	}
	b = append(b, trailer...)
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}
