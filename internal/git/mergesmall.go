package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1" //nolint:gosec // git's own checksum
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"time"
)

// Bounds of MergeSmall.
const (
	smallPack      = 8 << 20  // bytes of the largest pack that it takes up
	manySmallPacks = 16       // from which it begins
	maxMerged      = 64 << 20 // bytes of all that it takes up at a time, and holds in memory
)

// MergeSmall puts the small packs that WriteObjects left into larger ones without
// starting a process: objects are copied as they are, and read back. So readers
// have few packs to look through however fast requests write. Like Pack it never
// deletes an object. It does nothing while a Pack runs.
func (r *Repository) MergeSmall(ctx context.Context) error {
	s := r.git.state(r.dir)
	if !s.packMu.TryLock() {
		return nil
	}
	defer s.packMu.Unlock()
	return errors.Join(r.setAsideReplaced(time.Now()), r.mergeSmall(ctx))
}

// mergeSmall is MergeSmall for who holds packMu. What it replaces stays.
func (r *Repository) mergeSmall(ctx context.Context) error {
	s := r.git.state(r.dir)
	packs, err := r.packs()
	if err != nil {
		return err
	}
	s.deltas = known(s.deltas, packs)
	packs = s.withoutDeltas(smallOnes(packs))
	if len(packs) < manySmallPacks {
		return nil
	}
	chosen := toCombine(packs)
	for sizeOf(chosen) > maxMerged {
		chosen = chosen[:len(chosen)-1]
	}
	if len(chosen) < 2 || ctx.Err() != nil {
		return ctx.Err()
	}
	if err := r.merge(ctx, s, chosen); err != nil {
		return fmt.Errorf("merging small packs: %w", err)
	}
	return nil
}

// smallOnes are the small ones of packs, which are in order of size.
func smallOnes(packs []packFile) []packFile {
	n, _ := slices.BinarySearchFunc(packs, int64(smallPack), func(p packFile, size int64) int {
		if p.size <= size {
			return -1
		}
		return 1
	})
	return packs[:n]
}

// withoutDeltas leaves out the packs that were seen to have deltas.
func (s *state) withoutDeltas(packs []packFile) []packFile {
	return slices.DeleteFunc(slices.Clone(packs), func(p packFile) bool { return s.deltas[p.name] })
}

// known is what a set of names has of the packs that are there.
func known(names map[string]bool, packs []packFile) map[string]bool {
	there := map[string]bool{}
	for _, p := range packs {
		if names[p.name] {
			there[p.name] = true
		}
	}
	return there
}

// merge writes one pack with the objects of the chosen ones, leaving aside
// those that have deltas, and reads it back. What it replaces is set aside later.
func (r *Repository) merge(ctx context.Context, s *state, chosen []packFile) error {
	seen := map[[sha1.Size]byte]bool{}
	var objects []packed
	var whole []packFile
	for _, p := range chosen {
		if err := ctx.Err(); err != nil {
			return err
		}
		list, ok, err := readWhole(r.path("objects", "pack", p.name))
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if !ok {
			s.deltas[p.name] = true
			continue
		}
		whole = append(whole, p)
		for _, o := range list {
			if !seen[o.id] {
				seen[o.id] = true
				objects = append(objects, o)
			}
		}
	}
	if len(whole) < 2 {
		return nil
	}
	name, err := r.writeMerged(objects)
	if err != nil {
		return err
	}
	return r.replace(whole, name, func(keeper string) error { return checkWhole(r.path("objects", "pack", keeper)) })
}

// writeMerged makes a durable pack of the objects: commits first and blobs
// last, as walks read them.
func (r *Repository) writeMerged(objects []packed) (string, error) {
	slices.SortStableFunc(objects, func(a, b packed) int { return mergeRank(a) - mergeRank(b) })
	p, err := newPackFiles(r.path("objects", "pack"), len(objects))
	if err != nil {
		return "", err
	}
	for _, o := range objects {
		if err := p.add(o); err != nil {
			p.drop()
			return "", err
		}
	}
	name, err := p.keep()
	if err != nil {
		p.drop()
	}
	return name, err
}

// mergeRank orders commits, tags, trees, blobs.
func mergeRank(o packed) int {
	switch packedType(o.bytes) {
	case 1:
		return 0
	case 4:
		return 1
	}
	return int(packedType(o.bytes))
}

func packedType(object []byte) byte { return object[0] >> 4 & 7 }

// readWhole reads a pack, given without extension, and cuts it into objects. It
// reports false for a pack with deltas, whose objects need each other's places.
// What is damaged is an error: each object is held against its checksum.
func readWhole(path string) (objects []packed, ok bool, err error) {
	pack, err := os.ReadFile(path + ".pack")
	if err != nil {
		return nil, false, err
	}
	index, err := os.ReadFile(path + ".idx")
	if err != nil {
		return nil, false, err
	}
	objects, err = cutPack(pack, index)
	if err != nil {
		return nil, false, err
	}
	for _, o := range objects {
		if packedType(o.bytes) > 4 {
			return nil, false, nil
		}
		if crc32.ChecksumIEEE(o.bytes) != o.crc {
			return nil, false, fmt.Errorf("git: object %x is damaged", o.id)
		}
	}
	return objects, true, nil
}

// checkWhole reads back a pack without deltas, given without extension: all of it
// against its checksum, and every object against its name.
func checkWhole(path string) error {
	pack, err := os.ReadFile(path + ".pack")
	if err != nil {
		return err
	}
	index, err := os.ReadFile(path + ".idx")
	if err != nil {
		return err
	}
	objects, err := cutPack(pack, index)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	body, trailer := pack[:len(pack)-sha1.Size], pack[len(pack)-sha1.Size:]
	sums := index[len(index)-2*sha1.Size:]
	if packSum, indexSum := sha1.Sum(body), sha1.Sum(index[:len(index)-sha1.Size]); !bytes.Equal(packSum[:], trailer) ||
		!bytes.Equal(sums[:sha1.Size], trailer) || !bytes.Equal(sums[sha1.Size:], indexSum[:]) {
		return fmt.Errorf("%s: a checksum is wrong", path)
	}
	for _, o := range objects {
		if err := o.check(); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// check unpacks an object that is whole and compares it with its name.
func (o packed) check() error {
	kind, size, header := packedHeader(o.bytes)
	if kind == "" {
		return fmt.Errorf("git: object %x has no header", o.id)
	}
	in := bytes.NewReader(o.bytes[header:])
	z, err := zlib.NewReader(in)
	if err != nil {
		return fmt.Errorf("git: object %x: %w", o.id, err)
	}
	sum := sha1.New()
	fmt.Fprintf(sum, "%s %d\x00", kind, size)
	n, err := io.Copy(sum, io.LimitReader(z, size+1))
	if err != nil || n != size || in.Len() != 0 || [sha1.Size]byte(sum.Sum(nil)) != o.id {
		return errors.Join(err, fmt.Errorf("git: object %x is damaged", o.id))
	}
	return nil
}

// packedHeader reads the header of an object in a pack: its type, its size in
// bytes and the header's own length. The type is "" for deltas, and for what is
// no header.
func packedHeader(b []byte) (kind Type, size int64, length int) {
	for shift := 0; length < len(b) && length < 9; length++ {
		c := int64(b[length])
		if length == 0 {
			size, shift = c&15, 4
		} else {
			size |= c & 127 << shift
			shift += 7
		}
		if c < 128 {
			kinds := [8]Type{1: TypeCommit, 2: TypeTree, 3: TypeBlob, 4: TypeTag}
			return kinds[packedType(b)], size, length + 1
		}
	}
	return "", 0, 0
}

// cutPack cuts a small pack at the offsets that its index names.
func cutPack(pack, index []byte) ([]packed, error) {
	damaged := fmt.Errorf("git: pack or index is damaged")
	if len(index) < indexNames+40 || !bytes.HasPrefix(index, []byte("\xfftOc\x00\x00\x00\x02")) || len(pack) < 32 {
		return nil, damaged
	}
	n := int(binary.BigEndian.Uint32(index[indexNames-4:]))
	if len(index) != indexNames+28*n+40 {
		return nil, damaged
	}
	names, sums, offsets := index[indexNames:], index[indexNames+20*n:], index[indexNames+24*n:]
	objects := make([]packed, n)
	for i := range objects {
		objects[i] = packed{id: [sha1.Size]byte(names[20*i:]), crc: binary.BigEndian.Uint32(sums[4*i:]),
			offset: int64(binary.BigEndian.Uint32(offsets[4*i:]))}
	}
	slices.SortFunc(objects, func(a, b packed) int { return int(a.offset - b.offset) })
	end := int64(len(pack) - sha1.Size)
	for i := n - 1; i >= 0; i-- {
		from := objects[i].offset
		if from < 12 || from >= end {
			return nil, damaged
		}
		objects[i].bytes = pack[from:end]
		end = from
	}
	return objects, nil
}
