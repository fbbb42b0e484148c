// Package detect determines the languages and the license of repositories.
//
//	detect.go     the worker
//	languages.go  counting code by language
//	table.go      the data about languages: languages.json
//	store.go      the SQL
//	api.go        GET /repos/{owner}/{repo}/languages
//
// Tables: detections, repo_languages; columns language and license of repos.
//
// Package forge records each repository whose default branch may have moved ([Note]). Run reads the
// branch's tree in the background, at most a fifth of the time. Until then lists show the former result.
// The same tree is not read twice.
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
	leaseTime = 30 * time.Second // then the job counts as abandoned
	pollTime  = 2 * time.Second  // interval of looking for jobs of other processes
	workTime  = time.Minute      // limit for one repository
	maxTries  = 5                // then a failing job is dropped
)

// Service detects languages and licenses.
type Service struct {
	db    *db.DB
	repos *repo.Service
	log   *slog.Logger
	one   sync.Mutex // serializes the work on repositories
	last  repo.ID    // the last repository; guarded by one
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, log *slog.Logger) *Service {
	return &Service{db: d, repos: repos, log: log}
}

// Run processes repositories pushed to in this and other processes until ctx is done. It returns nil:
// errors are logged and the job is retried.
func (s *Service) Run(ctx context.Context) error {
	db.Follow(ctx, s.db.Bell(repo.Moved), pollTime, func(ctx context.Context) {
		_ = db.ByTurns(ctx, func(ctx context.Context) (bool, error) { return s.next(ctx), nil })
	})
	return nil
}

// Settle processes all repositories pushed to before the call. It is for seeding and tests: errors are
// logged, and the job is left to Run.
func (s *Service) Settle(ctx context.Context) error {
	for ctx.Err() == nil && s.next(ctx) {
	}
	return ctx.Err()
}

// next processes one repository, and reports whether more may be waiting.
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
	if errs.Is(failed, errs.NotFound) { // the repository or its branch was just deleted
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
		case ctx.Err() != nil: // stopping: the next worker continues
			return jobs.PutOff(tx, w.lease, 0)
		case w.tries >= maxTries:
			return jobs.Remove(tx, w.lease)
		}
		return jobs.PutOff(tx, w.lease, time.Minute<<w.tries)
	})
	if err != nil && !errors.Is(err, db.ErrLeaseLost) { // lost: it was pushed to again
		s.log.WarnContext(ctx, "what is known of a repository's code waits for a later time", "error", err)
		return false
	}
	return true
}

// result is the result of reading a tree.
type result struct {
	tree      git.SHA // empty: no branch
	seen      bool    // the same tree was read before
	languages []language
	license   *string
}

// look reads the tip of a default branch. Error: 404.
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

// findLicense returns the key of the license in the root of a tree, or nil.
func findLicense(ctx context.Context, objects *git.Repository, tree git.SHA) (*string, error) {
	entry, found, err := License(ctx, objects, tree)
	if err != nil || !found {
		return nil, err
	}
	key, err := LicenseOf(ctx, objects, entry.SHA)
	return &key, err
}

// License finds the license file in the root of a tree.
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

// LicenseOf returns the key of the license in a blob. A text that is too large is license.Other.
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
