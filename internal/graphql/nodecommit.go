package graphql

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/status"
)

// statusesByID loads statuses of commits that were found before.
func statusesByID(q *query) loader[int64, status.Payload] {
	return loader[int64, status.Payload]{name: "statuses by id", route: "/commits/{ref...}/statuses", key: byID,
		read: q.load.Statuses.ByIDs}
}

// findStatuses finds statuses of commits by their numbers.
func (q *query) findStatuses(ctx context.Context, ids []nodeID) []lookup {
	spots, err := db.Get(ctx, q.do.DB, func(tx *db.Tx) (map[int64]status.Spot, error) {
		return status.Places(tx, db.Unique(numbersOf(ids)))
	})
	commits := make([]nodeID, len(ids))
	for n, id := range ids {
		at := spots[id.number]
		commits[n] = nodeID{"Commit", int64(at.Repo), string(at.SHA)}
	}
	if err != nil {
		return failures(err, len(ids))
	}
	found, list := q.findInGit(ctx, commits), []*object{}
	for n, id := range ids {
		if commit, ok := found[n].value.(*object); ok {
			o := &object{kind: "StatusContext", id: id.number, repo: commit.repo}
			list, found[n].value = append(list, o), o
		}
	}
	missing := q.fill(ctx, list, isWhole)
	for n := range ids {
		if o, ok := found[n].value.(*object); ok {
			found[n] = lookupOf(o, missing[o])
		}
	}
	return found
}

// findRollups finds what statuses and checks of commits come to: all, or the statuses alone.
func (q *query) findRollups(ctx context.Context, ids []nodeID) []lookup {
	commits := make([]nodeID, len(ids))
	for n, id := range ids {
		commits[n] = nodeID{"Commit", id.number, id.name}
	}
	found, list := q.findInGit(ctx, commits), []*object{}
	for _, f := range found {
		if commit, ok := f.value.(*object); ok {
			list = append(list, commit)
		}
	}
	q.loadRollups(ctx, list)
	for n, id := range ids {
		commit, ok := found[n].value.(*object)
		if !ok {
			continue
		}
		r, err := q.rollup(ctx, commit)
		found[n] = lookup{err: err}
		switch {
		case r == nil:
		case id.kind == "StatusCheckRollup":
			found[n].value = r
		default:
			found[n].value = combined(r)
		}
	}
	return found
}

// findPullCommits finds commits as parts of the pull requests of the numbers.
func (q *query) findPullCommits(ctx context.Context, ids []nodeID) []lookup {
	of := make([]nodeID, len(ids))
	for n, id := range ids {
		of[n] = nodeID{kind: "PullRequest", number: id.number}
	}
	found, pulls, seen := q.findInTracker(ctx, of), []*object{}, map[*object]bool{}
	for _, f := range found {
		if o, ok := f.value.(*object); ok && !seen[o] {
			pulls, seen[o] = append(pulls, o), true
		}
	}
	entries, err := q.commitEntries(ctx, pulls)
	if err != nil {
		return failures(err, len(ids))
	}
	for n, id := range ids {
		o, ok := found[n].value.(*object)
		if !ok {
			continue
		}
		found[n] = lookup{}
		for _, e := range entries[o] {
			if c := e.node.(bare); c.fields["commit"].(*object).name == id.name {
				found[n].value = c
			}
		}
	}
	return found
}
