package packs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"sync"

	"golang.org/x/sync/errgroup"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Verification says how packs are looked at, and hears what is found, one call at a time.
type Verification struct {
	Deep     bool // read each pack and compare it with its SHA-256
	Progress func(done, all int64)
	Problem  func(repos []repo.ID, problem string) // of a pack that these repositories have
	Left     func(key string)                      // of an object that belongs to nothing, or is not ours
	Bundle   func(problem string)                  // of a bundle, which a server makes again
}

// readers is how many packs are read at one time.
const readers = 4

// Verify compares the rows of packs with what lies in depots. Errors: *depot.IdentityError; 503.
func (s *Service) Verify(ctx context.Context, v Verification) (packs int64, err error) {
	lists, err := s.lists(ctx)
	if err != nil {
		return 0, err
	}
	var rows []*packFile
	err = s.db.ReadLong(ctx, func(tx *db.Tx) (err error) {
		rows, err = allFiles(tx)
		return err
	})
	if err != nil {
		return 0, err
	}
	var mu sync.Mutex
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for n, f := range rows {
		size, listed := lists[f.depot][keyPath(f.key)]
		delete(lists[f.depot], keyPath(f.key))
		g.Go(func() error {
			problem, err := s.verify(reading, f, listed && size == f.size(), v.Deep)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			v.Progress(int64(n), int64(len(rows)))
			if problem == "" {
				return nil
			}
			having, err := s.having(reading, f)
			if err == nil && len(having) > 0 {
				v.Problem(having, keyPath(f.key)+" "+problem)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return 0, err
	}
	if err := s.verifyBundles(ctx, lists, v); err != nil {
		return 0, err
	}
	for _, list := range lists {
		for key := range list {
			v.Left(key)
		}
	}
	return int64(len(rows)), nil
}

// keyName matches what newKey returns.
var keyName = regexp.MustCompile(`^[0-9a-f]{32}$`)

// isKey reports whether a key of a depot is that of a pack or a bundle. What has another one is not ours.
func isKey(key string) bool {
	name := path.Base(key)
	return keyName.MatchString(name) && key == keyPath(name)
}

// lists reads what lies below Folder in each depot, with its size, by its whole key.
func (s *Service) lists(ctx context.Context) (map[file.DepotID]map[string]int64, error) {
	depots, err := s.files.Depots(ctx)
	if err != nil {
		return nil, err
	}
	lists := map[file.DepotID]map[string]int64{}
	for id, d := range depots {
		list := map[string]int64{}
		lists[id] = list
		err := d.List(ctx, Folder+"/", func(e depot.Entry) error {
			list[e.Key] = e.Size
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return lists, nil
}

// verify returns what is wrong with a pack; empty: nothing. One that a list does not have may be newer than that.
func (s *Service) verify(ctx context.Context, f *packFile, listed, deep bool) (problem string, err error) {
	if (listed || f.depot == 0) && !deep {
		return "", nil
	}
	err = s.compare(ctx, f)
	switch {
	case err == nil:
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		return "is missing", nil
	case errors.Is(err, depot.ErrDamaged):
		return "is not what was put there: its size or SHA-256 is another", nil
	}
	return "", err
}

// having lists the repositories that have a pack now; none if it is gone, or lies elsewhere.
func (s *Service) having(ctx context.Context, f *packFile) (ids []repo.ID, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]repo.ID, error) {
		return db.QueryIDs[repo.ID](tx, `SELECT DISTINCT p.repo_id FROM packs p JOIN pack_files f ON f.id = p.file_id
			WHERE f.id = $1 AND f.depot_id = $2 LIMIT 100`, f.id, f.depot)
	})
}

// OpenFolder opens a folder whose packs are kept, whether or not a repository has it any longer, with all that it has:
// for a backup. Errors: fs.ErrNotExist if it has no packs; 503.
func (s *Service) OpenFolder(
	ctx context.Context, f repo.Folder,
) (objects *git.Repository, release func(), err error) {
	objects, release, err = s.git.Open(ctx, s.repos.Path(f.ID, f.Purges))
	if err != nil {
		return nil, nil, err
	}
	if err = s.Open(ctx, f, 1, objects); err == nil && !objects.Exists() {
		err = fmt.Errorf("packs: folder %s: %w", f.Name(), fs.ErrNotExist)
	}
	if err == nil {
		_, err = objects.Refresh(ctx)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	done, _ := objects.Use()
	unpin := release
	return objects, func() { done(); unpin() }, nil
}
