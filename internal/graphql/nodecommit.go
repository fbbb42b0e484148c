package graphql

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/status"
)

// findStatus finds one status of a commit by its number: REST has lists of them only.
func (q *query) findStatus(ctx context.Context, id int64) (any, error) {
	at, err := placed(ctx, q, "Status"+decimal(id), func(tx *db.Tx) (spot, error) {
		in, sha, err := status.Place(tx, id)
		return spot{in, []string{"commits", string(sha), "statuses"}}, err
	})
	if err != nil {
		return nil, err
	}
	r, err := q.repositoryByID(ctx, at.repo)
	if err != nil {
		return nil, err
	}
	list, err := q.all(ctx, Question{Path: r.path(at.path...)}, mostContexts)
	if err != nil {
		return nil, err
	}
	for _, data := range list {
		if string(data.get("id")) == decimal(id) {
			return &object{kind: "StatusContext", data: data, whole: true, repo: r}, nil
		}
	}
	return nil, errs.Absent()
}

// findRollup finds what statuses and checks of a commit come to: all, or the statuses alone.
func (q *query) findRollup(ctx context.Context, kind string, in repo.ID, sha string) (any, error) {
	v, err := q.findInGit(ctx, "Commit", in, sha)
	if err != nil {
		return nil, err
	}
	r, err := q.rollup(ctx, v.(*object))
	if err == nil && r == nil {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	if kind == "StatusCheckRollup" {
		return r, nil
	}
	if s := combined(r); s != nil {
		return s, nil
	}
	return nil, errs.Absent()
}

// findPullCommit finds a commit as a part of the pull request of a number.
func (q *query) findPullCommit(ctx context.Context, id int64, sha string) (any, error) {
	found, err := q.findInTracker(ctx, "PullRequest", id)
	if err != nil {
		return nil, err
	}
	o := found.(*object)
	list, err := q.all(ctx, Question{Path: numbered(o, "pulls", "commits")}, mostEntries)
	if err != nil {
		return nil, err
	}
	for _, data := range list {
		if textOf(data, "sha") != sha {
			continue
		}
		c, err := listedCommit(o.repo, data)
		if err != nil {
			return nil, err
		}
		return newPullCommit(ctx, o, c), nil
	}
	return nil, errs.Absent()
}
