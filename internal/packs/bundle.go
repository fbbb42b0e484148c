package packs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/durable"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Bundles are stored in the same depot as packs. The row is inserted before the upload, so that a purge finds it, and
// deleted after the file. What becomes of a bundle:
//
//	repository hidden, renamed           it stays; each request is checked before its address is given
//	  or transferred; membership lost
//	force push to the default branch, or the next packing withdraws it; it is removed after bundleGrace
//	  another branch becomes the default
//	newer bundle made                    the same
//	repository deleted                   its row is deleted with the repository's; the sweep removes the file
//	objects purged                       it is removed before the purge ends
//	packs moved to another place         it is removed, and a new one is made in the new place
//	lost in its depot                    the sweep withdraws it, and a new one is made
//	not made, for lack of disk space     a withdrawn row remains, so that no node retries within bundleGrace
//	store backed up and restored         it is not in the backup

// bundleGrace is how long a withdrawn bundle stays in its depot, because clients that were just given its address
// are still downloading it. During this time no new bundle of the repository is made, so repeated force pushes do
// not cause many of them.
const bundleGrace = time.Hour

// bundleAction is what is to be done for the bundle of a repository.
type bundleAction int

const (
	keepBundle bundleAction = iota
	withdrawBundle
	makeBundle
)

// BundleDue reports whether MakeBundle has work for a repository. Packing does not depend on it, so a failure is
// logged.
func (s *Service) BundleDue(ctx context.Context, id repo.ID) bool {
	_, task, err := s.nextBundleAction(ctx, id)
	s.logBundle(ctx, id, err)
	return err == nil && task != keepBundle
}

func (s *Service) logBundle(ctx context.Context, id repo.ID, err error) {
	if err != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "making a bundle failed: clones work without it", "repository", id, "error", err)
	}
}

// nextBundleAction finds out what is to be done.
func (s *Service) nextBundleAction(ctx context.Context, id repo.ID) (now *bundleState, task bundleAction, err error) {
	now, err = db.Get(ctx, s.db, func(tx *db.Tx) (*bundleState, error) { return bundledOf(tx, id) })
	if err != nil || now == nil {
		return nil, keepBundle, err
	}
	depotID, place, err := s.files.Place(ctx)
	if err != nil {
		return nil, keepBundle, err
	}
	usable := s.BundleSize > 0 && place != nil && place.Signs() && now.tip != ""
	var live *bundle
	waits := false // a withdrawn bundle is still to be removed, or an upload is running
	for _, b := range now.bundles {
		if b.made != 0 && b.gone == 0 {
			live = b
		} else {
			waits = true
		}
	}
	if live == nil {
		if usable && !waits && now.packed >= s.BundleSize {
			task = makeBundle
		}
		return now, task, nil
	}
	leads := false
	if usable && live.folder == now.folder && live.depot == depotID {
		if leads, err = s.isBundleAncestor(ctx, live, now.tip); err != nil {
			return nil, keepBundle, err
		}
	}
	switch {
	case !leads:
		task = withdrawBundle
	case !waits && live.tip != now.tip && now.packed-live.packed > live.packed/2:
		task = makeBundle // only after growth by half, so over time each byte is written only a few times
	}
	return now, task, nil
}

// MakeBundle makes the bundle of a repository that needs one, and withdraws one that must not be offered any longer.
// The caller holds the lease of the repository's packing. What fails is logged, and put off for bundleGrace.
func (s *Service) MakeBundle(ctx context.Context, id repo.ID) {
	now, task, err := s.nextBundleAction(ctx, id)
	switch {
	case err != nil:
	case task == withdrawBundle:
		err = s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error { return withdraw(tx, `repo_id = $2`, id) })
	case task == makeBundle:
		b := &bundle{key: newKey(), folder: now.folder, tip: now.tip, packed: now.packed}
		if err = s.makeBundle(ctx, now, b); err != nil {
			err = errors.Join(err, s.abandon(ctx, b))
		}
	}
	s.logBundle(ctx, id, err)
}

// makeBundle writes a bundle to a file without a name, and uploads that.
func (s *Service) makeBundle(ctx context.Context, of *bundleState, b *bundle) error {
	began := time.Now()
	if err := s.repos.Room.CheckFor(of.size); err != nil {
		return err
	}
	objects, release, err := s.repos.Open(ctx, of.folder.ID, of.folder.Purges)
	if err != nil {
		return err
	}
	defer release()
	spool, err := os.CreateTemp(s.repos.Dir(), durable.Temporary)
	if err != nil {
		return err
	}
	defer spool.Close()
	if err := os.Remove(spool.Name()); err != nil { // a server that is killed leaves nothing
		return err
	}
	out := &bundleWriter{file: spool, sum: sha256.New(), check: s.repos.Room.Check}
	if err := objects.WriteBundle(ctx, out, []git.Ref{{Name: git.Heads + of.branch, SHA: of.tip}}); err != nil {
		return err
	}
	id, to, err := s.files.Place(ctx)
	if err == nil && to == nil {
		err = errors.New("packs: new packs no longer go to a depot, but to the data folder: restart the server")
	}
	if err != nil {
		return err
	}
	b.depot, b.size, b.sha256 = id, out.size, hex.EncodeToString(out.sum.Sum(nil))
	if err := s.upload(ctx, b, to, spool); err != nil {
		return err
	}
	s.log.InfoContext(ctx, "made a bundle", "repository", of.folder.ID, "bytes", b.size, "took", time.Since(began))
	return nil
}

// errPurgedBundle says that a bundle has objects that a purge may have removed.
var errPurgedBundle = errors.New("packs: the repository was purged, moved or deleted while its bundle was made")

// upload inserts the bundle's row, uploads the bundle, and then marks it as ready to be offered.
func (s *Service) upload(ctx context.Context, b *bundle, to *depot.Depot, from *os.File) error {
	current := func(tx *db.Tx) error {
		is, err := isCurrentFolder(tx, b.folder)
		if err == nil && !is {
			err = errPurgedBundle
		}
		return err
	}
	err := s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		if err := current(tx); err != nil {
			return err
		}
		return addBundle(tx, b)
	})
	if err == nil {
		err = to.Put(ctx, keyPath(b.key), from, b.size)
	}
	if err != nil {
		return err
	}
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		if err := current(tx); err != nil {
			return err
		}
		there, err := markUploaded(tx, b)
		if err == nil && !there {
			err = errPurgedBundle
		}
		return err
	})
}

// abandon removes a bundle that failed, or leaves it to the sweep. It keeps a withdrawn row, so that no bundle is
// made for bundleGrace; but not if the server is stopping, so that another one may be made at once.
func (s *Service) abandon(ctx context.Context, b *bundle) error {
	stops := ctx.Err() != nil
	ctx = context.WithoutCancel(ctx)
	err := s.removeBundles(ctx, []*bundle{b})
	if err == nil && stops {
		return nil
	}
	return errors.Join(err, s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		if is, e := isCurrentFolder(tx, b.folder); e != nil || err == nil && !is {
			return e
		}
		if err == nil {
			if e := addBundle(tx, b); e != nil {
				return e
			}
		}
		return withdraw(tx, `key_name = $2`, b.key)
	}))
}

// bundleWriter is a bundle in a file, which is written while there is room for it.
type bundleWriter struct {
	file  *os.File
	sum   hash.Hash
	size  int64
	check func() error
}

func (w *bundleWriter) Write(p []byte) (int, error) {
	if err := w.check(); err != nil {
		return 0, err
	}
	w.sum.Write(p)
	n, err := w.file.Write(p)
	w.size += int64(n)
	return n, err
}

// removeBundles removes bundles from their depots, and then their rows.
func (s *Service) removeBundles(ctx context.Context, list []*bundle) error {
	if len(list) == 0 {
		return nil
	}
	files := make([]*packFile, len(list))
	for n, b := range list {
		files[n] = b.asFile()
	}
	if err := s.delete(ctx, files); err != nil {
		return err
	}
	return s.db.Write(ctx, func(tx *db.Tx) error { return dropBundles(tx, list) })
}

// uploadPoll is the interval in which removeBundlesOf checks whether an upload has ended.
const uploadPoll = 200 * time.Millisecond

// removeBundlesOf removes the bundles of a folder that belongs to no repository any longer. If one is being
// uploaded and now is true, it waits for the upload; otherwise the uploading node removes the bundles.
func (s *Service) removeBundlesOf(ctx context.Context, f repo.Folder, now bool) error {
	for {
		var list []*bundle
		var busy bool
		err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
			const of = `b.repo_id = $1 AND b.purges = $2
				AND NOT EXISTS (SELECT 1 FROM repos r WHERE r.id = b.repo_id AND r.purges = b.purges)`
			err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM bundles b WHERE `+of+` AND `+uploading(tx)+`)`, f.ID, f.Purges).
				Scan(&busy)
			if err == nil && !busy {
				list, err = bundlesWhere(tx, of, f.ID, f.Purges)
			}
			return err
		})
		if err != nil || busy && !now {
			return err
		}
		if !busy {
			return s.removeBundles(ctx, list)
		}
		if err := git.Sleep(ctx, uploadPoll); err != nil {
			return err
		}
	}
}

// sweepBundles removes bundles that were withdrawn some time ago, and withdraws those whose upload broke off.
func (s *Service) sweepBundles(ctx context.Context, grace time.Duration) error {
	var list []*bundle
	broken := false
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		now, err := tx.Clock()
		if err != nil {
			return err
		}
		err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM bundles b WHERE b.made_at IS NULL AND b.gone_at IS NULL
			AND NOT (` + uploading(tx) + `))`).Scan(&broken)
		if err == nil {
			list, err = bundlesWhere(tx, `b.gone_at <= $1`, now-db.Time(grace.Microseconds()))
		}
		return err
	})
	if err == nil && broken {
		err = s.db.Write(ctx, func(tx *db.Tx) error {
			return withdraw(tx, `b.made_at IS NULL AND NOT (`+uploading(tx)+`)`)
		})
	}
	if err != nil {
		return err
	}
	return s.removeBundles(ctx, list)
}

// forgetLost withdraws the bundles of a depot whose keys begin with two digits, and that the depot's list does not
// contain with the right size. It skips bundles made after a time, because the list may be older.
func (s *Service) forgetLost(
	ctx context.Context, id file.DepotID, digits string, sizes map[string]int64, before time.Time,
) error {
	list, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]*bundle, error) {
		return bundlesWhere(tx, `b.depot_id = $1 AND b.key_name >= $2 AND b.key_name < $3 AND b.made_at < $4
			AND b.gone_at IS NULL`, id, digits, digits+"g", db.FromTime(before))
	})
	for _, b := range list {
		if size, ok := sizes[b.key]; err == nil && (!ok || size != b.size) {
			s.log.WarnContext(ctx, "a bundle is missing or altered in its depot: a new one will be made", "repository",
				b.folder.ID, "key", keyPath(b.key))
			err = s.db.Write(ctx, func(tx *db.Tx) error { return withdraw(tx, `key_name = $2`, b.key) })
		}
	}
	return err
}

// verifyBundles compares the rows of bundles with what lies in depots, and takes them off the lists.
func (s *Service) verifyBundles(
	ctx context.Context, lists map[file.DepotID]map[string]int64, v Verification,
) error {
	var rows []*bundle
	err := s.db.ReadLong(ctx, func(tx *db.Tx) (err error) {
		rows, err = bundlesWhere(tx, `TRUE`)
		return err
	})
	if err != nil {
		return err
	}
	for _, b := range rows {
		size, listed := lists[b.depot][keyPath(b.key)]
		delete(lists[b.depot], keyPath(b.key))
		if b.made == 0 || b.gone != 0 {
			continue
		}
		problem, err := s.verify(ctx, b.asFile(), listed && size == b.size, v.Deep)
		if err != nil {
			return err
		}
		if problem != "" {
			v.Bundle(fmt.Sprintf("%s, a bundle, %s", keyPath(b.key), strings.TrimSpace(problem)))
		}
	}
	return nil
}
