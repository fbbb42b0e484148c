// Package detect finds out in which languages the code of a repository is written, and under
// which license it is.
//
//	detect.go     the work that pushes leave, and who does it
//	languages.go  how much code there is of each language
//	table.go      what is known of languages: languages.json
//	store.go      the SQL
//	api.go        GET /repos/{owner}/{repo}/languages
//
// Tables: detections, repo_languages; and of repos the columns language and license.
//
// Package forge notes each repository whose default branch may have moved ([Note]). Run looks at the
// branch's tree, next to the requests, a fifth of the time at most: until then lists show what was
// found before. A tree that was looked at is not looked at again.
package detect

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/journal"
	"arbor/internal/license"
	"arbor/internal/repo"
)

const (
	leaseTime = 30 * time.Second // after that, work counts as abandoned
	pollTime  = 2 * time.Second  // between looks for work of other processes
	workTime  = time.Minute      // for one repository
	maxTries  = 5                // before work that fails is dropped
)

// Service looks at repositories.
type Service struct {
	db    *db.DB
	repos *repo.Service
	log   *slog.Logger
	one   sync.Mutex // repositories are looked at one after the other
	last  repo.ID    // that was looked at; guarded by one
}

// New makes the service.
func New(d *db.DB, repos *repo.Service, log *slog.Logger) *Service {
	return &Service{db: d, repos: repos, log: log}
}

// Run looks at what was pushed, to this process and to others, until ctx is done. It
// returns nil: what fails is logged and tried again.
func (s *Service) Run(ctx context.Context) error {
	db.Follow(ctx, s.repos.Moves(), pollTime, func(ctx context.Context) {
		_ = db.ByTurns(ctx, func(ctx context.Context) (bool, error) { return s.next(ctx), nil })
	})
	return nil
}

// Settle looks at all that was pushed before the call. For stores that are being filled:
// what fails is logged, and left to Run.
func (s *Service) Settle(ctx context.Context) error {
	for ctx.Err() == nil && s.next(ctx) {
	}
	return ctx.Err()
}

// next looks at one repository, and reports whether there may be more.
func (s *Service) next(ctx context.Context) (more bool) {
	s.one.Lock()
	defer s.one.Unlock()
	w, err := s.take(ctx)
	if err != nil || w == nil {
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "looking for repositories with new code failed", "error", err)
		}
		return false
	}
	ctx = journal.WithJob(ctx, "detection")
	limited, cancel := context.WithTimeout(ctx, workTime)
	defer cancel()
	var found result
	lease, failed := s.db.Hold(limited, jobs, w.lease, leaseTime, func(ctx context.Context) (err error) {
		found, err = s.look(ctx, w)
		return err
	})
	w.lease = lease
	if errs.Is(failed, errs.NotFound) { // the repository, or its branch, was just deleted
		failed = nil
	}
	if failed != nil && ctx.Err() == nil {
		s.log.WarnContext(ctx, "finding out about a repository's code failed",
			"repository", w.repoID, "try", w.tries, "error", failed)
	}
	err = s.db.Write(context.WithoutCancel(ctx), func(tx *db.Tx) error {
		switch {
		case failed == nil:
			return w.end(tx, found)
		case ctx.Err() != nil: // a stop: the worker that comes next goes on
			return jobs.PutOff(tx, w.lease, 0)
		case w.tries >= maxTries:
			return jobs.Remove(tx, w.lease)
		}
		return jobs.PutOff(tx, w.lease, time.Minute<<w.tries)
	})
	if err != nil && !errors.Is(err, db.ErrLeaseLost) { // lost: it was pushed to meanwhile
		s.log.WarnContext(ctx, "what is known of a repository's code waits for a later time", "error", err)
		return false
	}
	return true
}

// result is what was found in a tree.
type result struct {
	tree      git.SHA // empty: there is no branch
	seen      bool    // it was looked at before
	languages []language
	license   *string
}

// look finds out about the tip of a default branch. Error: 404.
func (s *Service) look(ctx context.Context, w *work) (r result, err error) {
	if w.tip == "" {
		return r, nil
	}
	objects, release, err := s.repos.GitOf(ctx, w.repoID)
	if err != nil {
		return r, err
	}
	defer release()
	if r.tree, err = objects.PeelToTree(ctx, w.tip); err != nil {
		return r, err
	}
	if r.tree == w.seen {
		r.seen = true
		return r, nil
	}
	if r.license, err = findLicense(ctx, objects, r.tree); err != nil {
		return r, err
	}
	r.languages, err = count(ctx, objects, r.tree)
	return r, err
}

// findLicense gives the key of the license in the root of a tree; nil where there is none.
func findLicense(ctx context.Context, objects *git.Repository, tree git.SHA) (*string, error) {
	entry, found, err := License(ctx, objects, tree)
	if err != nil || !found {
		return nil, err
	}
	key, err := LicenseOf(ctx, objects, entry.SHA)
	return &key, err
}

// License finds the file in the root of a tree that tells the license.
func License(
	ctx context.Context, objects *git.Repository, tree git.SHA,
) (best git.TreeEntry, found bool, err error) {
	entries, err := objects.Tree(ctx, tree, func(name []byte) bool { return license.Rank(string(name)) > 0 })
	for _, e := range entries {
		isFile := e.Mode == git.ModeFile || e.Mode == git.ModeExecutable
		if isFile && (!found || license.Rank(e.Path) < license.Rank(best.Path)) {
			best, found = e, true
		}
	}
	return best, found, err
}

// LicenseOf gives the key of the license that a blob's text is; license.Other for a text
// that is larger than any.
func LicenseOf(ctx context.Context, objects *git.Repository, sha git.SHA) (string, error) {
	_, text, err := objects.Contents(ctx, sha, license.MaxFile)
	if errs.Is(err, errs.TooLarge) {
		return license.Other, nil
	}
	if err != nil {
		return "", err
	}
	return license.Detect(text)
}
