// Package detect determines the languages and the license of repositories.
//
//	detect.go     reading a branch's tree
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
	"log/slog"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/license"
	"arbor/internal/repo"
	"arbor/internal/repo/analysis"
)

// Service detects languages and licenses. Its worker has Run, Settle and Backlog.
type Service struct {
	*analysis.Worker
	db    *db.DB
	repos *repo.Service
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, log *slog.Logger) *Service {
	s := &Service{db: d, repos: repos}
	s.Worker = &analysis.Worker{DB: d, Log: log, Name: "detection", Bell: repo.Moved, Jobs: jobs, Read: s.read}
	return s
}

// read reads the tip of a default branch. Error: 404.
func (s *Service) read(ctx context.Context, j *analysis.Job) (store func(tx *db.Tx) error, err error) {
	r, err := s.look(ctx, j)
	if err != nil || r.seen {
		return nil, err
	}
	return func(tx *db.Tx) error { return r.store(tx, j.RepoID) }, nil
}

// result is the result of reading a tree.
type result struct {
	tree      git.SHA // empty: no branch
	seen      bool    // the same tree was read before
	languages []language
	license   *string
}

// look reads the tip of a default branch. Error: 404.
func (s *Service) look(ctx context.Context, j *analysis.Job) (r result, err error) {
	if j.Tip == "" {
		return r, nil
	}
	seen, err := db.Get(ctx, s.db, func(tx *db.Tx) (git.SHA, error) { return treeOf(tx, j.RepoID) })
	if err != nil {
		return r, err
	}
	objects, release, err := s.repos.GitOf(ctx, j.RepoID)
	if err != nil {
		return r, err
	}
	defer release()
	if r.tree, err = objects.PeelToTree(ctx, j.Tip); err != nil {
		return r, err
	}
	if r.tree == seen {
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
