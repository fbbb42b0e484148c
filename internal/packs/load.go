package packs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/packfile"
	"arbor/internal/repo"
)

// Open brings the folder of an open repository up to date with a generation of Repo.Packs. Errors: 503 if the depot
// does not answer, or if a pack there is missing or altered.
func (s *Service) Open(ctx context.Context, f repo.Folder, generation int64, objects *git.Repository) error {
	c := s.cacheOf(f)
	objects.Keep(keeper{s, c})
	return s.update(ctx, c, generation, objects)
}

// update is Open for what is known of the folder.
func (s *Service) update(ctx context.Context, c *cached, generation int64, objects *git.Repository) error {
	if c.isCurrent(generation, objects) {
		return nil
	}
	// A request that waits for a depot gives up its slot to requests that compute.
	return admission.From(ctx).Send(ctx, func() error {
		select { // others wait for the one that brings the packs
		case c.updating <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		defer func() { <-c.updating }()
		if c.isCurrent(generation, objects) {
			return nil
		}
		if err := s.load(ctx, c, objects); err != nil {
			err = fmt.Errorf("packs: folder %s: %w", c.folder.Name(), err)
			if errs.KindOf(err) == errs.Internal { // somebody removed the folder, or the disk failed
				s.log.WarnContext(ctx, "loading the packs of a repository failed", "error", err)
				err = errs.Wrap(errs.Unavailable, "The repository could not be loaded on this server. Try again.", err)
			}
			return err
		}
		return nil
	})
}

// maxLoadTries is how often load reads the list of packs at most, if packs are replaced in the meantime.
const maxLoadTries = 3

// load brings the folder up to date.
func (s *Service) load(ctx context.Context, c *cached, objects *git.Repository) error {
	for try := 1; ; try++ {
		list, at, err := s.list(ctx, c.folder)
		if err != nil {
			return err
		}
		there, err := objects.PackNames()
		if err != nil {
			return err
		}
		missing := maps.Clone(list)
		maps.DeleteFunc(missing, func(name string, f *packFile) bool { return there[name] == f.packSize })
		err = s.fetchMissing(ctx, c, objects, missing, func() error { return s.noteComplete(c, objects, list, at) })
		// Again, if packs were replaced, or somebody removed the folder meanwhile.
		if err == nil || try == maxLoadTries || !errors.Is(err, errGone) && objects.OnDisk() || ctx.Err() != nil {
			return err
		}
	}
}

// list reads which packs the folder must have, and the repository's Repo.Packs, which is 1 for a folder without a
// repository.
func (s *Service) list(ctx context.Context, f repo.Folder) (list map[string]*packFile, at int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if at, err = generation(tx, f); err != nil {
			return err
		}
		list, err = packsOf(tx, f)
		return err
	})
	return list, max(1, at), err
}

// noteComplete notes that the folder has what the list says.
func (s *Service) noteComplete(c *cached, objects *git.Repository, list map[string]*packFile, at int64) error {
	there, err := objects.PackNames()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.generation, c.names, c.stamp, c.size, c.inline = at, map[string]int64{}, time.Time{}, 0, 0
	for name, f := range list {
		c.names[name] = f.packSize
		c.size += f.size()
		if f.depot == 0 {
			c.inline += f.size()
		}
	}
	replaced := map[string]time.Time{}
	for name, size := range there {
		if _, listed := list[name]; listed {
			continue
		}
		c.size += size
		if replaced[name] = c.replaced[name]; replaced[name].IsZero() {
			replaced[name] = time.Now()
		}
	}
	c.replaced = replaced
	return nil
}

// parallel is how many packs of a folder are fetched at one time.
const parallel = 8

// fetchMissing fetches packs into the folder, and calls then, after which they count as packs of the folder.
func (s *Service) fetchMissing(
	ctx context.Context, c *cached, objects *git.Repository, missing map[string]*packFile, then func() error,
) error {
	if len(missing) == 0 {
		return then()
	}
	if err := objects.Init(); err != nil {
		return err
	}
	if err := s.link(ctx, c.folder, objects, missing); err != nil {
		return err
	}
	if len(missing) == 0 {
		return then()
	}
	var need int64
	for _, f := range missing {
		need += f.size()
	}
	room, err := s.makeRoom(ctx, need)
	if err != nil {
		return err
	}
	defer room.release()
	if err := s.fetchAll(ctx, room, objects, missing); err != nil {
		return err
	}
	return then()
}

// fetchAll fetches packs from the database and from depots.
func (s *Service) fetchAll(
	ctx context.Context, room *reservation, objects *git.Repository, missing map[string]*packFile,
) error {
	var small []*packFile
	names := map[*packFile]string{}
	for name, f := range missing {
		if names[f] = name; f.depot == 0 {
			small = append(small, f)
		}
	}
	for part := range slices.Chunk(small, inlineAtOnce) {
		if err := s.db.Read(ctx, func(tx *db.Tx) error { return readData(tx, part) }); err != nil {
			return err
		}
		for _, f := range part {
			if err := s.placeInline(room, objects, names[f], f); err != nil {
				return err
			}
			f.data = nil
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for name, f := range missing {
		if f.depot != 0 {
			g.Go(func() error { return s.fetch(ctx, room, objects, name, f) })
		}
	}
	return g.Wait()
}

// inlineAtOnce is how many packs are read from the database at one time: 4 MiB at most.
const inlineAtOnce = 64

// link creates hard links to packs in cached folders of other repositories that have the same files. So a fork of a
// cached repository costs no download. link removes the packs that it found from missing.
func (s *Service) link(
	ctx context.Context, f repo.Folder, objects *git.Repository, missing map[string]*packFile,
) error {
	ids := []int64{}
	for _, p := range missing {
		ids = append(ids, p.id)
	}
	var others map[int64][]sibling
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		others = map[int64][]sibling{}
		return db.InParts(ids, func(part []int64) error {
			found, err := otherFolders(tx, f, part)
			maps.Copy(others, found)
			return err
		})
	})
	if err != nil {
		return err
	}
	for name, p := range missing {
		for _, other := range others[p.id] {
			from := s.git.Repository(s.repos.Path(other.folder.ID, other.folder.Purges)).PackFiles(other.name)
			if s.linkPack(from, p, objects, name) {
				delete(missing, name)
				s.counters.fetched.WithLabelValues(fromDisk).Inc()
				break
			}
		}
	}
	return nil
}

// linkPack links the files of a pack that another folder has, if they are whole.
func (s *Service) linkPack(from packfile.Files, p *packFile, objects *git.Repository, name string) bool {
	sizes := map[string]int64{".pack": p.packSize, ".rev": p.reverseSize, ".idx": p.indexSize}
	for _, part := range from.Parts() {
		info, err := os.Stat(part.Path)
		if err != nil || info.Size() != sizes[part.Extension] {
			return false
		}
		to := filepath.Join(objects.PacksDir(), name+part.Extension)
		if err := os.Remove(to); err != nil && !os.IsNotExist(err) {
			return false
		}
		if os.Link(part.Path, to) != nil {
			return false
		}
	}
	return true
}
