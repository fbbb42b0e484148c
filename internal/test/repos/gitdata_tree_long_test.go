//go:build long

package repos_test

import (
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// The Go distribution is as real as a tree gets: 15,000 files.
func TestTreeOfGoEqualsGit(t *testing.T) {
	t.Parallel()
	dir, tree := gittest.GoTree(t)
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Import(t, s.Repo(t, "alice/go", false), dir)
	var p treePayload
	s.Check(t, apitest.Case{Do: "GET /repos/alice/go/git/trees/" + string(tree) + "?recursive=1",
		Status: 200}).JSON(t, &p)
	compare(t, "recursive", p.lines(), lsTree(t, dir, string(tree), true))
}
