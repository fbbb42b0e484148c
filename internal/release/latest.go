package release

import (
	"strings"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// change is what happened to a release.
type change struct {
	before, after *Release // nil: it is new, or was deleted
	chosen        bool     // whether it is the latest was said with the change, or it is new
}

// settleLatest finds out which release is the latest after one has changed.
func settleLatest(tx *db.Tx, c change) error {
	before, after := c.before, c.after
	was := before != nil && before.Latest
	switch {
	case after == nil && was:
		return electLatest(tx, before.RepoID)
	case after == nil:
		return nil
	case !after.mayBeLatest() && was:
		if err := setLatest(tx, after.RepoID, 0); err != nil {
			return err
		}
		after.Latest = false
		return electLatest(tx, after.RepoID)
	case !after.mayBeLatest() || before.mayBeLatest() && !c.chosen:
		return nil
	}
	switch after.Choice {
	case MakeLatest:
		after.Latest = true
		return setLatest(tx, after.RepoID, after.ID)
	case KeepLatest:
		if !was {
			return nil
		}
	}
	return electLatest(tx, after.RepoID)
}

// maxCandidates bounds how many releases of one date are compared by version.
const maxCandidates = 100

// electLatest marks the release of the newest commit as the latest, among several the one with the highest
// version. Those that were not to be the latest are passed over.
func electLatest(tx *db.Tx, repoID repo.ID) error {
	list, err := candidates(tx, repoID, maxCandidates)
	if err != nil {
		return err
	}
	var best candidate
	for n, c := range list {
		if n == 0 || c.createdAt == best.createdAt && CompareVersions(c.tag, best.tag) > 0 {
			best = c
		}
	}
	return setLatest(tx, repoID, best.id)
}

// CompareVersions orders names of versions by bytes, but runs of digits by their number: v9 comes before
// v10. What stands behind a hyphen comes before the name without it, as 1.0-rc1 before 1.0.
func CompareVersions(a, b string) int {
	a, pre, isPre := strings.Cut(a, "-")
	b, other, isOther := strings.Cut(b, "-")
	if c := git.CompareNumbered(a, b); c != 0 {
		return c
	}
	switch {
	case isPre && !isOther:
		return -1
	case isOther && !isPre:
		return 1
	}
	return git.CompareNumbered(pre, other)
}
