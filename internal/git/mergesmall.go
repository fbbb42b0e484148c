package git

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git's own checksum
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"sync"
	"time"
)

// Bounds of MergeSmall.
const (
	smallPack      = 8 << 20 // bytes of the largest pack that it takes up
	manySmallPacks = 16      // from which it begins
	retireAfter    = 256     // packs that were removed before readers start anew
)

// packGrace is how long a merged pack stays. A git process that looks for what
// is new reads the directory once: it may have read past the place of the new
// pack just before that came, and must then still find the old one.
const packGrace = 3 * time.Second

// smallPacks is what MergeSmall remembers of a repository.
type smallPacks struct {
	deltas  map[string]bool // packs seen to have deltas, by name; guarded by packMu
	removed int             // packs since readers started anew; guarded by packMu

	mu   sync.Mutex
	gone map[string]mergedPack // those that wait to be removed
}

// mergedPack is a pack whose objects are all in another one.
type mergedPack struct {
	name, into string
	at         time.Time
}

// isGone reports a pack that waits to be removed.
func (s *smallPacks) isGone(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.gone[name]
	return ok
}

// merged notes a pack that is to be removed.
func (s *smallPacks) merged(name, into string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		s.gone = map[string]mergedPack{}
	}
	s.gone[name] = mergedPack{name, into, time.Now()}
}

// due takes the packs that have waited long enough, the first merged first.
func (s *smallPacks) due() []mergedPack {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []mergedPack
	for name, m := range s.gone {
		if time.Since(m.at) >= packGrace {
			due = append(due, m)
			delete(s.gone, name)
		}
	}
	slices.SortFunc(due, func(a, b mergedPack) int { return a.at.Compare(b.at) })
	return due
}

// removeMerged removes the packs that have waited long enough. One that cannot
// be shown to be in another pack stays, and is merged again some time.
func (r *Repository) removeMerged() {
	s := r.git.state(r.dir)
	s.packMu.Lock()
	defer s.packMu.Unlock()
	for _, m := range s.small.due() {
		if err := r.removePack(m.name, m.into); err != nil {
			r.git.log.Debug("a merged pack stays", "pack", m.name, "error", err)
			continue
		}
		s.small.removed++
	}
	if s.small.removed >= retireAfter {
		s.small.removed = 0
		r.git.pool.retire(r.dir)
	}
}

// MergeSmall puts the small packs that WriteObjects left into larger ones, as
// many as Pack would, without starting a process: objects are copied as they
// are. So readers have few packs to look through however fast requests write.
// Like Pack it never deletes an object. It does nothing while a Pack runs.
func (r *Repository) MergeSmall(ctx context.Context) error {
	s := r.git.state(r.dir)
	if !s.packMu.TryLock() {
		return nil
	}
	defer s.packMu.Unlock()
	packs, err := r.packs()
	if err != nil {
		return err
	}
	packs = s.small.candidates(packs)
	if len(packs) < manySmallPacks {
		return nil
	}
	chosen := toCombine(packs)
	if len(chosen) < 2 || ctx.Err() != nil {
		return ctx.Err()
	}
	if err := r.merge(ctx, &s.small, chosen); err != nil {
		return fmt.Errorf("merging small packs: %w", err)
	}
	time.AfterFunc(packGrace+packGrace/10, r.removeMerged)
	return nil
}

// candidates are the packs that are small and, for all that is known, whole.
func (s *smallPacks) candidates(packs []packFile) []packFile {
	if s.deltas == nil {
		s.deltas = map[string]bool{}
	}
	there := map[string]bool{}
	var list []packFile
	for _, p := range packs {
		there[p.name] = true
		if p.size <= smallPack && !s.deltas[p.name] {
			list = append(list, p)
		}
	}
	for name := range s.deltas {
		if !there[name] {
			delete(s.deltas, name)
		}
	}
	return list
}

// merge writes one pack with the objects of the chosen ones, leaving aside
// those that have deltas. What it replaces is removed later.
func (r *Repository) merge(ctx context.Context, s *smallPacks, chosen []packFile) error {
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
	for _, p := range whole {
		if p.name != name {
			s.merged(p.name, name)
		}
	}
	return nil
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
