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
)

// When a repository is worth packing.
const (
	manyPacks = 20
	manyLoose = 4 // in the one of 256 directories that is looked at: a thousand in all
)

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
	loose, err := r.looseIn("17")
	return len(loose) >= manyLoose, err
}

// Pack puts loose objects into a pack and small packs into larger ones, each
// at most half as large as the next: so the work is that of each byte copied a
// few times, however many pushes there are. No object is ever deleted, be it
// named by a ref or not: a file goes only when the synced new pack is seen to
// hold all of it. Readers and pushes go on meanwhile. While a Pack of the same
// directory runs in this process another one does nothing.
func (r *Repository) Pack(ctx context.Context) error {
	s := r.git.state(r.dir)
	if !r.Exists() || !s.packMu.TryLock() {
		return nil
	}
	defer s.packMu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, r.git.options.MaintenanceTimeout)
	defer cancel()
	changed, err := r.packLoose(ctx)
	if err != nil {
		return fmt.Errorf("packing loose objects: %w", err)
	}
	combined, err := r.packPacks(ctx)
	if err != nil {
		return fmt.Errorf("combining packs: %w", err)
	}
	if !changed && !combined {
		return nil
	}
	r.git.pool.retire(r.dir)
	return r.writeCommitGraph(ctx)
}

// packFile is one pack of the repository.
type packFile struct {
	name string // "pack-XXXX"
	size int64
}

// packs lists the repository's own packs, smallest first; not those that
// somebody marked to be kept, nor those whose objects were merged into others.
func (r *Repository) packs() ([]packFile, error) {
	entries, err := os.ReadDir(r.path("objects", "pack"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	small := &r.git.state(r.dir).small
	var packs []packFile
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".idx")
		if !ok || !strings.HasPrefix(name, "pack-") || small.isGone(name) {
			continue
		}
		info, err := os.Stat(r.path("objects", "pack", name+".pack"))
		if err != nil {
			continue // gone meanwhile, or damaged: not ours to touch
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

// toCombine chooses the smallest packs such that each one left is at least
// twice as large as all smaller ones together.
func toCombine(packs []packFile) []packFile {
	var total int64
	cut := 0
	for i, p := range packs {
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
	for _, p := range chosen {
		if p.name == name {
			continue
		}
		if err := r.removePack(p.name, name); err != nil {
			return true, err
		}
	}
	return true, nil
}

// packObjects makes a pack of what in names and moves it, synced, among the
// repository's packs. It gives the pack's name.
func (r *Repository) packObjects(ctx context.Context, in *bytes.Buffer, flags ...string) (string, error) {
	q, err := r.newQuarantine(packingPrefix)
	if err != nil {
		return "", err
	}
	defer func() { _ = q.Discard() }()
	var out bytes.Buffer
	err = r.git.run(ctx, task{
		command: command{sub: "pack-objects", path: filepath.Join(q.dir, "pack", "pack"),
			flags: append([]string{"-q", "--delta-base-offset", "--threads=1"}, flags...)},
		dir: r.dir, env: q.env(), cage: r.git.upkeepCage(), limit: r.git.options.MaintenanceTimeout, stdin: in, stdout: &out, nice: true})
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(out.String())
	if !isHex40(id) {
		return "", fmt.Errorf("git pack-objects: unexpected output %q", clip(id))
	}
	name := "pack-" + id
	q.pack = name
	return name, q.Keep()
}

// removePack removes a pack, all of whose objects must be in another one.
func (r *Repository) removePack(old, kept string) error {
	path := r.path("objects", "pack", old)
	x, err := openIndex(path + ".idx")
	if err != nil {
		return err
	}
	defer x.close()
	y, err := openIndex(r.path("objects", "pack", kept+".idx"))
	if err != nil {
		return err
	}
	defer y.close()
	if ok, err := y.holdsAll(x); err != nil || !ok {
		return errors.Join(err, fmt.Errorf("git: %s does not hold all of %s, which stays", kept, old))
	}
	removals := &r.git.state(r.dir).removals
	removals.Add(1)
	defer removals.Add(1)
	// The index goes first: git finds a pack by it.
	for _, ext := range []string{".idx", ".rev", ".bitmap", ".pack"} {
		if err := os.Remove(path + ext); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
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
		if sha := SHA(fan + e.Name()); sha.valid() {
			shas = append(shas, sha)
		}
	}
	return shas, nil
}

// packLoose puts all loose objects into one pack and removes their files.
func (r *Repository) packLoose(ctx context.Context) (bool, error) {
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
	x, err := openIndex(r.path("objects", "pack", name+".idx"))
	if err != nil {
		return true, err
	}
	defer x.close()
	for _, sha := range loose {
		if ok, err := x.has(sha); err != nil || !ok {
			return true, errors.Join(err, fmt.Errorf("git: %s does not hold %s, which stays", name, sha))
		}
		if err := os.Remove(r.path("objects", string(sha[:2]), string(sha[2:]))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true, err
		}
	}
	return true, nil
}
