package repo

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// git stores refs as files and directories, so refs/heads/a and refs/heads/a/b cannot both exist.

// manyNames is the maximum number of ref names that are looked up one by one. For more, all refs of the
// repository are read: a name may have a hundred parent directories, and a push twenty thousand names.
const manyNames = 1000

// nearRefs are the refs that updates may conflict with: those with the same name, those that are parents of
// new ones, and the first below each new one.
type nearRefs struct {
	shas  map[string]git.SHA // all but some of the last kind
	names []string           // of all, in any order until clashes sorts them
}

// sendRefsNear reads, as [db.Tx.SendEach] does, the refs that the updates may conflict with. Its cost is limited by the
// refs of one repository.
func sendRefsNear(tx *db.Tx, repoID ID, updates []RefUpdate) (*nearRefs, error) {
	near := &nearRefs{shas: map[string]git.SHA{}}
	wanted := names(updates)
	var created []string
	isNew := map[string]bool{}
	for _, u := range updates {
		if u.Old == git.ZeroSHA && u.New != git.ZeroSHA {
			created, isNew[u.Name] = append(created, u.Name), true
			wanted = slices.AppendSeq(wanted, foldersOf(u.Name))
		}
	}
	if len(wanted) > manyNames || deletesBelow(updates, isNew) { // the first one below a new one may be deleted
		return near, tx.SendEach(near.add, `SELECT name, sha FROM refs WHERE repo_id = $1`, repoID)
	}
	err := sendRefsNamed(tx, near.add, repoID, wanted, "")
	if err == nil {
		err = near.sendBelow(tx, repoID, created)
	}
	return near, err
}

// deletesBelow reports whether an update deletes a ref below one of the names.
func deletesBelow(updates []RefUpdate, names map[string]bool) bool {
	for _, u := range updates {
		for folder := range foldersOf(u.Name) {
			if u.New == git.ZeroSHA && names[folder] {
				return true
			}
		}
	}
	return false
}

func (near *nearRefs) add(row db.Scanner) error {
	var name, sha string
	if err := row.Scan(&name, &sha); err != nil {
		return err
	}
	near.shas[name] = git.SHA(sha)
	near.names = append(near.names, name)
	return nil
}

// sendBelow reads, for each of the names that are parents of refs, the first of these. The subquery uses
// the index once per name; with a join PostgreSQL may read all refs of the repository for each.
func (near *nearRefs) sendBelow(tx *db.Tx, repoID ID, names []string) error {
	return db.InParts(names, func(part []string) error {
		args := db.Args(part, repoID)
		values := make([]string, len(part))
		for i := range part {
			values[i] = fmt.Sprintf("(CAST($%d AS TEXT))", i+2)
		}
		return tx.SendEach(func(row db.Scanner) error {
			var child *string
			err := row.Scan(&child)
			if child != nil {
				near.names = append(near.names, *child)
			}
			return err
		}, `WITH wanted(folder) AS (VALUES `+strings.Join(values, ",")+`)
			SELECT (SELECT MIN(name) FROM refs
				WHERE repo_id = $1 AND name > folder || '/' AND name < folder || '0') FROM wanted`, args...)
	})
}

// clashes returns, for each created ref that conflicts with another ref, that ref. It takes deletions among
// the updates into account.
func (near *nearRefs) clashes(updates []RefUpdate) map[string]string {
	slices.Sort(near.names)
	deleted, created := map[string]bool{}, map[string]bool{}
	for _, u := range updates {
		if u.New == git.ZeroSHA {
			deleted[u.Name] = true
		} else if _, exists := near.shas[u.Name]; !exists {
			created[u.Name] = true
		}
	}
	clash := map[string]string{}
	for name := range created {
		for folder := range foldersOf(name) {
			if _, exists := near.shas[folder]; created[folder] || exists && !deleted[folder] {
				clash[name] = folder
			}
		}
		first, _ := slices.BinarySearch(near.names, name+"/")
		for _, other := range near.names[first:] {
			if !strings.HasPrefix(other, name+"/") {
				break
			}
			if !deleted[other] {
				clash[name] = other
				break
			}
		}
	}
	return clash
}

// refuseClashes refuses created refs that conflict with others. Called again when more updates are refused, it takes
// their deletions no longer into account.
func (near *nearRefs) refuseClashes(updates []RefUpdate, refused []error) {
	var left []RefUpdate
	for i, u := range updates {
		if refused[i] == nil {
			left = append(left, u)
		}
	}
	clash := near.clashes(left)
	for i, u := range updates {
		if refused[i] == nil && clash[u.Name] != "" {
			refused[i] = errs.Newf(errs.Conflict, "name conflicts with %s", clash[u.Name])
		}
	}
}

// foldersOf yields refs/heads/a and refs/heads/a/b for refs/heads/a/b/c.
func foldersOf(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		depth := 0
		for i := range len(name) {
			if name[i] != '/' {
				continue
			}
			if depth++; depth > 2 && !yield(name[:i]) {
				return
			}
		}
	}
}
