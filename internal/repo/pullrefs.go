package repo

import (
	"fmt"

	"arbor/internal/db"
	"arbor/internal/git"
)

// The refs of a pull request, which nobody can push (decision 36).
const (
	PullHead  = "head"  // what it asks to merge
	PullMerge = "merge" // the last test merge
)

// SetPullRef points refs/pull/N/head or merge somewhere, with git.ZeroSHA
// nowhere. purges is Repo.Purges from before the object was looked for or written. The caller
// has locked the repository's row. It does not count as a push: nothing else moves. Error: 503 if
// objects have been purged.
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
