package repo

import (
	"fmt"

	"arbor/internal/db"
	"arbor/internal/git"
)

// Refs of a pull request, which cannot be pushed to (decision 36).
const (
	PullHead  = "head"  // the commit to be merged
	PullMerge = "merge" // the last test merge
)

// SetPullRef sets refs/pull/N/head or merge, or deletes it if sha is git.ZeroSHA. purges is Repo.Purges
// from before the object was looked up or written. The repository's row must be locked. It does not count
// as a push. Error: 503 if objects have been purged.
func SetPullRef(tx *db.Tx, repoID ID, purges, number int64, kind string, sha git.SHA) error {
	branch, err := lockForRefs(tx, repoID)
	if err != nil {
		return err
	}
	if sha != git.ZeroSHA && branch.purges != purges {
		return errPurged()
	}
	name := fmt.Sprintf("%s%d/%s", PullRefs, number, kind)
	if err := noteRef(tx, repoID, name, sha); err != nil {
		return err
	}
	return writeRefs(tx, repoID, []RefUpdate{{Name: name, New: sha}})
}

// SetPullHeads sets refs/pull/N/head of many pull requests. It is SetPullRef for an import, whose objects are on disk.
func SetPullHeads(tx *db.Tx, repoID ID, purges int64, heads map[int64]git.SHA) error {
	if len(heads) == 0 {
		return nil
	}
	branch, err := lockForRefs(tx, repoID)
	if err != nil {
		return err
	}
	if branch.purges != purges {
		return errPurged()
	}
	updates := make([]RefUpdate, 0, len(heads))
	for number, sha := range heads {
		updates = append(updates, RefUpdate{Name: fmt.Sprintf("%s%d/%s", PullRefs, number, PullHead), New: sha})
	}
	if err := MarkUnreachedIn(tx, repoID); err != nil {
		return err
	}
	return writeRefs(tx, repoID, updates)
}
