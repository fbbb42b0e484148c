package packs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/durable"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/git/packfile"
	"arbor/internal/repo"
	"arbor/internal/repo/purge"
)

// A repository moves in the same way as a purge works: its packs are copied to a new folder, and one transaction
// makes this the repository's folder. A concurrent write to the old folder is refused, and its client repeats it,
// because each transaction that refers to objects compares Repo.Purges. The sweep removes the old folder.

// MoveOptions are callbacks that report the progress and the problems of a move.
type MoveOptions struct {
	Progress func(done, all int64)
	Problem  func(line string) // called for each repository and each pack that cannot be moved
}

// Moved says what a move did.
type Moved struct {
	Repositories int64
	Packs        int64 // between depots
	Left         int64 // repositories and packs that were not moved
}

// Move moves the packs of all repositories to the place of new files, while servers run. It may be killed and run
// again. Error: 503.
func (s *Service) Move(ctx context.Context, o MoveOptions) (Moved, error) {
	to, _, err := s.files.Place(ctx)
	if err != nil {
		return Moved{}, err
	}
	m := &move{s: s, o: o, to: to}
	if err := m.repositories(ctx); err != nil {
		return m.moved, err
	}
	if err := m.files(ctx); err != nil {
		return m.moved, err
	}
	return m.moved, m.bundles(ctx)
}

type move struct {
	s     *Service
	o     MoveOptions
	to    file.DepotID // 0: the data folder
	names int64        // how many packs the repository that moves has in the depot
	moved Moved
}

// errSwept is the error if the sweep has removed rows of the new folder, which was not the repository's yet.
func errSwept(is bool) error {
	if is {
		return errors.New("the move took so long that its new packs were removed again: run this command again")
	}
	return nil
}

// notInTarget is the SQL condition for repositories that are not in the target place yet.
func (m *move) notInTarget() string {
	if m.to == 0 {
		return `packs > 0`
	}
	return `packs = 0`
}

func (m *move) repositories(ctx context.Context) error {
	ids, err := db.Get(ctx, m.s.db, func(tx *db.Tx) ([]repo.ID, error) {
		return db.QueryIDs[repo.ID](tx, `SELECT id FROM repos WHERE `+m.notInTarget()+` ORDER BY id`)
	})
	for n, id := range ids {
		if err != nil {
			return err
		}
		m.o.Progress(int64(n), int64(len(ids)))
		var done bool
		if done, err = m.repository(ctx, id); err != nil && ctx.Err() == nil {
			m.o.Problem(fmt.Sprintf("repository %d: %v", id, err))
			err = nil
		}
		if done {
			m.moved.Repositories++
		} else {
			m.moved.Left++
		}
	}
	return err
}

// rounds is how many rounds a move takes at most, if somebody keeps writing to the repository.
const rounds = 100

// repository moves one repository, in rounds: each round copies what was written during the round before. done is
// also true if the repository was deleted.
func (m *move) repository(ctx context.Context, id repo.ID) (done bool, err error) {
	first, err := m.state(ctx, id)
	if err != nil || first == nil || (first.packs > 0) == (m.to != 0) {
		return err == nil, err
	}
	into := repo.Folder{ID: id, Purges: max(time.Now().UnixMicro(), first.folder.Purges+1)}
	bring := m.copyToDepot
	if m.to == 0 {
		bring = m.copyToDataFolder
	}
	for range rounds {
		w, err := m.state(ctx, id)
		if err == nil && (w == nil || w.folder != first.folder) {
			err = errors.New("it was deleted or purged in the meantime: run this command again")
		}
		if err == nil {
			err = bring(ctx, w, into)
		}
		if err == nil {
			if done, err = m.swap(ctx, w, into); errors.Is(err, db.ErrOutcomeUnknown) {
				return false, err // the folder may be the repository's now: a later run or the sweep finds out
			}
		}
		if done {
			m.s.repos.Wrote(id)
			return true, nil // what the old folder had is swept
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, errors.Join(err, m.drop(ctx, into))
		}
	}
	return false, errors.Join(errors.New("clients kept writing to it: run this command again"), m.drop(ctx, into))
}

// repoState is the state of a repository at the beginning of a round. swap succeeds only if it has not changed since.
type repoState struct {
	folder      repo.Folder
	packs, refs int64
	noted       string // changes with each note about objects without a ref, see purge.NotesOf
}

func (m *move) state(ctx context.Context, id repo.ID) (w *repoState, err error) {
	err = m.s.db.Read(ctx, func(tx *db.Tx) error {
		w = &repoState{folder: repo.Folder{ID: id}}
		err := tx.QueryRow(`SELECT purges, packs, refs_generation FROM repos WHERE id = $1`, id).Scan(&w.folder.Purges,
			&w.packs, &w.refs)
		if errors.Is(err, db.ErrNoRows) {
			w = nil
			return nil
		}
		if err == nil {
			w.noted, err = purge.NotesOf(tx, id)
		}
		return err
	})
	return w, err
}

// copyToDepot stores all packs of the repository's folder in the depot, as those of a new folder.
func (m *move) copyToDepot(ctx context.Context, w *repoState, into repo.Folder) error {
	from, release, err := m.s.repos.Open(ctx, w.folder.ID, w.folder.Purges)
	if err != nil {
		return err
	}
	defer release()
	if m.names = 0; !from.Exists() {
		return nil
	}
	if err := from.PackLoose(ctx); err != nil {
		return err
	}
	there, err := from.PackNames()
	if err != nil {
		return err
	}
	to, releaseNew, err := m.s.repos.OpenNew(ctx, into, 1)
	if err != nil {
		return err
	}
	defer releaseNew()
	if err := to.Init(); err != nil {
		return err
	}
	k := keeper{m.s, m.s.cacheOf(into)}
	m.names = int64(len(there))
	for name := range there {
		if k.c.has(name) {
			continue
		}
		files := from.PackFiles(name)
		if err := k.Add(ctx, files); err != nil {
			return err
		}
		// read it back: the old folder will be removed
		kept, err := m.s.find(ctx, into, name)
		if err == nil && kept == nil {
			err = errSwept(true)
		}
		if err == nil {
			err = m.s.compare(ctx, kept)
		}
		if err != nil {
			return err
		}
		if err := placeLinks(to, files); err != nil {
			return err
		}
	}
	return nil
}

// copyToDataFolder copies all packs of the repository durably into a new folder in the data folder.
func (m *move) copyToDataFolder(ctx context.Context, w *repoState, into repo.Folder) error {
	from, release, err := m.s.repos.Open(ctx, w.folder.ID, w.folder.Purges)
	if err != nil {
		return err
	}
	defer release()
	list, at, err := m.s.list(ctx, w.folder)
	if err != nil || len(list) == 0 {
		return err
	}
	if at != w.packs {
		return fs.ErrNotExist // others wrote meanwhile
	}
	to, releaseNew, err := m.s.repos.OpenNew(ctx, into, 0)
	if err != nil {
		return err
	}
	defer releaseNew()
	if err := to.Init(); err != nil {
		return err
	}
	has, err := to.PackNames()
	if err != nil {
		return err
	}
	for name, f := range list {
		if has[name] == f.packSize {
			continue
		}
		files := from.PackFiles(name)
		if same, err := isWhole(files, f); err != nil || !same { // it is fetched again
			return errors.Join(err, os.Remove(files.Index), fs.ErrNotExist)
		}
		for _, part := range files.Parts() {
			if err := durable.Sync(part.Path); err != nil {
				return err
			}
		}
		if err := placeLinks(to, files); err != nil {
			return err
		}
	}
	return durable.Sync(to.PacksDir())
}

// placeLinks links the files of a pack into another folder, or copies them.
func placeLinks(to *git.Repository, p packfile.Files) error {
	linked := packfile.Files{Name: p.Name}
	for _, part := range p.Parts() {
		temporary, err := os.CreateTemp(to.PacksDir(), packfile.TmpPack)
		if err != nil {
			return err
		}
		path := temporary.Name()
		err = errors.Join(temporary.Close(), os.Remove(path))
		if err == nil && os.Link(part.Path, path) != nil {
			err = copyFile(part.Path, path)
		}
		if err != nil {
			return err
		}
		switch part.Extension {
		case ".pack":
			linked.Pack = path
		case ".rev":
			linked.Reverse = path
		default:
			linked.Index = path
		}
	}
	return to.Place(linked)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return durable.Replace(to, func(out *os.File) error {
		_, err := io.Copy(out, in)
		return err
	})
}

// swap makes the new folder the repository's, unless the repository has changed.
func (m *move) swap(ctx context.Context, w *repoState, into repo.Folder) (done bool, err error) {
	packs := 1
	if m.to == 0 {
		packs = 0
	}
	err = m.s.db.Write(ctx, func(tx *db.Tx) error {
		done = false
		// A transaction that notes an object locks this row for its foreign key. So after this lock, all such
		// transactions have committed.
		if err := repo.Lock(tx, into.ID); err != nil {
			return err
		}
		noted, err := purge.NotesOf(tx, into.ID)
		if err != nil || noted != w.noted {
			return err
		}
		var kept int64
		if err := tx.QueryRow(`SELECT COUNT(*) FROM packs WHERE repo_id = $1 AND purges = $2`, into.ID, into.Purges).
			Scan(&kept); err != nil || m.to != 0 && kept < m.names {
			return errors.Join(err, errSwept(m.to != 0 && kept < m.names))
		}
		n, err := tx.Exec(`UPDATE repos SET purges = $2, packs = $3
			WHERE id = $1 AND purges = $4 AND packs = $5 AND refs_generation = $6`,
			into.ID, into.Purges, packs, w.folder.Purges, w.packs, w.refs)
		done = n == 1
		return err
	})
	return done && err == nil, err
}

// drop removes the new folder of a move that failed.
func (m *move) drop(ctx context.Context, into repo.Folder) error {
	if err := m.s.Forget(ctx, into, true); err != nil {
		return err
	}
	return os.RemoveAll(m.s.repos.Path(into.ID, into.Purges))
}

// files moves packs that lie in other depots.
func (m *move) files(ctx context.Context) error {
	if m.to == 0 {
		return nil
	}
	after := int64(0)
	for {
		list, err := db.Get(ctx, m.s.db, func(tx *db.Tx) ([]*packFile, error) {
			return filesInOtherDepots(tx, m.to, after)
		})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, f := range list {
			after = f.id
			if err := m.file(ctx, f); err != nil {
				if ctx.Err() != nil || !errors.Is(err, depot.ErrDamaged) && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				m.o.Problem(fmt.Sprintf("%s: %v", keyPath(f.key), err))
				m.moved.Left++
				continue
			}
			m.moved.Packs++
		}
	}
}

// file copies a pack into the depot, reads it back, and notes where it is now.
func (m *move) file(ctx context.Context, f *packFile) error {
	if err := m.s.compare(ctx, f); err != nil {
		return err
	}
	from, err := m.s.files.Depot(ctx, f.depot)
	if err != nil {
		return err
	}
	to, err := m.s.files.Depot(ctx, m.to)
	if err != nil {
		return err
	}
	spool, err := os.CreateTemp(m.s.repos.Dir(), durable.Temporary)
	if err != nil {
		return err
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	if err := m.s.copyRange(ctx, from, f, spool, 0, f.size()); err != nil {
		return err
	}
	if err := to.Put(ctx, keyPath(f.key), spool, f.size()); err != nil {
		return err
	}
	there := *f
	there.depot = m.to
	if err := m.s.compare(ctx, &there); err != nil {
		return err
	}
	var done bool
	err = m.s.db.Write(ctx, func(tx *db.Tx) error {
		n, err := tx.Exec(`UPDATE pack_files SET depot_id = $3 WHERE id = $1 AND depot_id = $2`, f.id, f.depot, m.to)
		done = n == 1
		return err
	})
	if err != nil || !done {
		return err
	}
	return m.s.delete(ctx, []*packFile{f})
}

// bundles removes the bundles in other depots. Servers make them again.
func (m *move) bundles(ctx context.Context) error {
	list, err := db.Get(ctx, m.s.db, func(tx *db.Tx) ([]*bundle, error) {
		return bundlesWhere(tx, `depot_id <> $1`, m.to)
	})
	if err != nil {
		return err
	}
	return m.s.removeBundles(ctx, list)
}
