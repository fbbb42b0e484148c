// Package statistic counts the commits of default branches: by author, week, day and hour.
//
//	statistic.go  reading a branch's history
//	count.go      counting a history
//	store.go      the SQL
//	api.go        GET /repos/{owner}/{repo}/stats/...
//	payload.go    the answers
//
// Tables: repo_statistics, statistics_jobs.
//
// Nothing is counted until somebody asks. The first request adds a job and answers 202, and Run counts in the
// background, at most a fifth of the time. The counts are kept for the head of the default branch, so the same
// history is not walked twice, and after a push the next request has the new one counted. Merges do not count.
//
// Counts name authors by address; whose account an address is, is looked up when they are shown. They are of a
// branch that whoever may read the code sees anyway, so a change of visibility changes nothing in them, and they
// go with the repository.
package statistic

import (
	"context"
	"log/slog"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/repo/analysis"
)

// asked is rung when a job was added.
const asked = "statistics"

// Service counts commits. Its worker has Run, Settle and Backlog.
type Service struct {
	*analysis.Worker
	db    *db.DB
	repos *repo.Service
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, log *slog.Logger) *Service {
	s := &Service{db: d, repos: repos}
	s.Worker = &analysis.Worker{DB: d, Log: log, Name: "statistics", Bell: asked, Jobs: jobs, Read: s.countTip}
	return s
}

// countTip walks the history of a repository's default branch. Error: 404.
func (s *Service) countTip(ctx context.Context, j *analysis.Job) (store func(tx *db.Tx) error, err error) {
	if j.Tip == "" {
		return nil, nil
	}
	objects, release, err := s.repos.GitOf(ctx, j.RepoID)
	if err != nil {
		return nil, err
	}
	defer release()
	found, err := countHistory(ctx, objects, j.Tip)
	if err != nil {
		return nil, err
	}
	return func(tx *db.Tx) error { return found.store(tx, j.RepoID, j.Tip) }, nil
}
