package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"arbor/internal/git/packfile"
	"arbor/internal/git/process"
)

// When a repository is worth packing, and how much at a time.
const (
	manyPacks = 16
	manyLoose = 4       // in the one of 256 directories that is looked at: a thousand in all
	fullPack  = 8 << 30 // bytes of a pack that is never copied again
)

// Upkeep says whether a repository needs Maintain, and how much that reads.
type Upkeep struct {
	Needed bool
	Bytes  int64 // that it reads, about
}

// Upkeep finds out whether Maintain has work. It lists two directories.
func (r *Repository) Upkeep() (Upkeep, error) {
	var u Upkeep
	packs, err := r.packs()
	if err != nil {
		return u, err
	}
	if _, due := r.git.state(r.dir).replaced.waiting(r.git.options.PackGrace); due {
		u.Needed = true
	}
	if len(packs) >= manyPacks && len(toCombine(packs)) > 1 {
		u.Needed = true
		u.Bytes = sizeOf(toCombine(packs))
	}
	loose, err := r.looseBytes()
	if err != nil {
		return u, err
	}
	if loose > 0 {
		u.Needed = true
		u.Bytes += loose
	}
	graph, err := r.NeedsGraph()
	if graph {
		u.Needed = true
		u.Bytes += packs[len(packs)-1].size
	}
	return u, err
}

// NeedsPacking reports whether Pack would make reading faster. It lists two
// directories.
func (r *Repository) NeedsPacking() (bool, error) {
	packs, err := r.packs()
	if err != nil {
		return false, err
	}
	if len(packs) >= manyPacks && len(toCombine(packs)) > 1 {
		return true, nil
	}
	loose, err := r.looseBytes()
	return loose > 0, err
}

// looseBytes is about how much all loose objects take; 0 while they are few.
func (r *Repository) looseBytes() (total int64, err error) {
	const fan = "17"
	some, err := r.looseIn(fan)
	if err != nil || len(some) < manyLoose {
		return 0, err
	}
	for _, sha := range some {
		if info, err := os.Stat(r.path("objects", fan, string(sha[2:]))); err == nil {
			total += info.Size()
		}
	}
	return max(1, total) * 256, nil
}

// Maintain does all that a repository's packs need: it sets aside replaced packs (see
// replaced.go) and packs new ones that have piled up. now is the time by the database's
// clock. Readers and pushes continue. The caller sees to it that only one node
// does it at a time; that saves work, but nothing is lost if two do.
//
// again is the time after which Maintain should be called again to set aside the packs
// that it replaced; 0 if there are none.
func (r *Repository) Maintain(ctx context.Context, now time.Time) (again time.Duration, err error) {
	s := r.git.state(r.dir)
	if !r.Exists() {
		return 0, nil
	}
	if !s.packMu.TryLock() {
		return r.git.options.PackGrace, nil
	}
	defer s.packMu.Unlock()
	if err := r.setAsideReplaced(ctx, now); err != nil {
		return 0, err
	}
	needed, err := r.NeedsPacking()
	if err == nil && needed {
		err = r.pack(ctx, now)
	}
	if err == nil {
		err = r.graphIfNeeded(ctx)
	}
	if err != nil {
		return 0, err
	}
	if n, _ := s.replaced.waiting(0); n > 0 {
		again = r.git.options.PackGrace
	}
	return again, nil
}

// Pack puts loose objects into a pack and small packs into larger ones, each
// at most half as large as the next: so the work is that of each byte copied a
// few times, however many pushes there are. This is what `git repack --geometric`
// does, by the same command below it; but that removes at once what it replaced,
// and reads nothing back. No object is ever deleted, be it named by a ref or not.
// Readers and pushes continue. While a Pack of the same directory runs in
// this process another one does nothing.
func (r *Repository) Pack(ctx context.Context) error {
	s := r.git.state(r.dir)
	if !r.Exists() || !s.packMu.TryLock() {
		return nil
	}
	defer s.packMu.Unlock()
	err := r.pack(ctx, time.Now())
	if err == nil && s.graphOld {
		err = r.writeCommitGraph(ctx)
	}
	if err != nil {
		return err
	}
	return r.setAsideReplaced(ctx, time.Now())
}

// pack is Pack without the commit-graph, and without setting the replaced packs aside.
// The caller holds packMu.
func (r *Repository) pack(ctx context.Context, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, r.git.options.MaintenanceTimeout)
	defer cancel()
	changed, err := r.packLoose(ctx, now)
	if err != nil {
		return fmt.Errorf("packing loose objects: %w", err)
	}
	combined, err := r.packPacks(ctx)
	if err != nil {
		return fmt.Errorf("combining packs: %w", err)
	}
	if changed || combined {
		r.git.state(r.dir).graphOld = true
		r.git.pool.Retire(r.dir)
	}
	return nil
}

// packFile is one pack of the repository.
type packFile struct {
	name string // "pack-XXXX"
	size int64
}

func sizeOf(packs []packFile) (total int64) {
	for _, p := range packs {
		total += p.size
	}
	return total
}

// packs lists the repository's own packs, smallest first; not those that
// somebody marked to be kept, nor those that were replaced by others.
func (r *Repository) packs() ([]packFile, error) {
	entries, err := os.ReadDir(r.path("objects", "pack"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	replaced, k := &r.git.state(r.dir).replaced, r.keeper()
	var packs []packFile
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".idx")
		if !ok || !strings.HasPrefix(name, "pack-") || replaced.has(name) || k != nil && !k.Has(name) {
			continue
		}
		info, err := os.Stat(r.path("objects", "pack", name+".pack"))
		if err != nil {
			continue // removed, or damaged: not ours to touch
		}
		if _, err := os.Stat(r.path("objects", "pack", name+".keep")); err == nil {
			continue
		}
		packs = append(packs, packFile{name: name, size: info.Size()})
	}
	slices.SortFunc(packs, func(a, b packFile) int {
		if a.size != b.size {
			return int(max(-1, min(1, a.size-b.size)))
		}
		return strings.Compare(a.name, b.name)
	})
	return packs, nil
}

// toCombine chooses so many of the smallest packs that each one left is at least twice as
// large as all smaller ones together. Packs that are full stay as they are.
func toCombine(packs []packFile) []packFile {
	var total int64
	cut := 0
	for i, p := range packs {
		if p.size >= fullPack {
			break
		}
		if p.size < 2*total {
			cut = i + 1
		}
		total += p.size
	}
	return packs[:cut]
}

// packPacks combines what toCombine chooses into one pack.
func (r *Repository) packPacks(ctx context.Context) (bool, error) {
	packs, err := r.packs()
	if err != nil {
		return false, err
	}
	chosen := toCombine(packs)
	if len(chosen) < 2 {
		return false, nil
	}
	var in bytes.Buffer
	for _, p := range chosen {
		in.WriteString(p.name + ".pack\n")
	}
	name, err := r.packObjects(ctx, &in, "--stdin-packs")
	if err != nil {
		return false, err
	}
	return true, r.replace(chosen, name, func(keeper string) error { return r.verifyPack(ctx, keeper) })
}

// packObjects packs the objects that in names and moves the pack, synced, among the
// repository's packs. It returns the pack's name.
func (r *Repository) packObjects(ctx context.Context, in *bytes.Buffer, flags ...string) (string, error) {
	q, err := r.newQuarantine(packingPrefix)
	if err != nil {
		return "", err
	}
	defer func() { _ = q.Discard() }()
	q.pack, err = r.packInto(ctx, r.dir, q, q.env(), r.git.upkeepCage(), process.Task{Stdin: in, Nice: true,
		Limit: r.git.options.MaintenanceTimeout, Command: process.Command{Flags: flags}})
	if err != nil {
		return "", err
	}
	name := q.pack
	return name, q.Keep(ctx)
}

// verifyPack reads every object of a pack back, from its place, and compares it with its
// name and with the index.
func (r *Repository) verifyPack(ctx context.Context, name string) error {
	path := r.path("objects", "pack", name+".pack")
	return r.git.run(ctx, r.git.upkeepCage(), process.Task{
		Command: process.Command{Sub: "index-pack", Flags: []string{"--verify"}, Path: path},
		Dir:     r.dir, Limit: r.git.options.MaintenanceTimeout, Nice: true})
}

// PackLoose puts all loose objects into a pack.
func (r *Repository) PackLoose(ctx context.Context) error {
	s := r.git.state(r.dir)
	s.packMu.Lock()
	defer s.packMu.Unlock()
	_, err := r.packLoose(ctx, time.Now())
	return err
}

// looseIn lists the loose objects of one of the 256 directories.
func (r *Repository) looseIn(fan string) ([]SHA, error) {
	entries, err := os.ReadDir(r.path("objects", fan))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	var shas []SHA
	for _, e := range entries {
		if sha := SHA(fan + e.Name()); sha.Valid() {
			shas = append(shas, sha)
		}
	}
	return shas, nil
}

// packLoose puts all loose objects into one pack, reads it back and sets their
// files aside: git looks into packs first, and once more when a file is gone.
func (r *Repository) packLoose(ctx context.Context, now time.Time) (bool, error) {
	var loose []SHA
	for i := range 256 {
		shas, err := r.looseIn(fmt.Sprintf("%02x", i))
		if err != nil {
			return false, err
		}
		loose = append(loose, shas...)
	}
	if len(loose) == 0 {
		return false, nil
	}
	var in bytes.Buffer
	for _, sha := range loose {
		in.WriteString(string(sha) + "\n")
	}
	name, err := r.packObjects(ctx, &in)
	if err != nil {
		return false, err
	}
	if err := r.verifyPack(ctx, name); err != nil {
		return true, err
	}
	return true, r.setAsideLoose(loose, name, now)
}

// setAsideLoose sets aside the files of loose objects. A verified pack must contain all of them.
func (r *Repository) setAsideLoose(loose []SHA, pack string, now time.Time) error {
	x, err := packfile.OpenIndex(r.path("objects", "pack", pack+".idx"))
	if err != nil {
		return err
	}
	defer x.Close()
	dir, err := r.replacedDir(now)
	if err != nil {
		return err
	}
	for _, sha := range loose {
		if ok, err := x.Has(sha); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("git: %s does not hold %s, which stays", pack, sha))
		}
		err := os.Rename(r.path("objects", string(sha[:2]), string(sha[2:])), filepath.Join(dir, string(sha)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
