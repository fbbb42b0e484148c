package git

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"arbor/internal/git/tree"
	"arbor/internal/test/testkit"
)

// mergeable creates two commits that changed one file at its two ends, and a
// third that cannot be merged with them: in many files.
func mergeable(t *testing.T, r *Repository) (ours, theirs, other SHA) {
	t.Helper()
	who := Signature{Name: "A", Email: "a@example.com", When: time.Unix(1_300_000_000, 0).UTC()}
	commit := func(middle string, suffix string, parents ...SHA) SHA {
		lines := NewObject{Type: TypeBlob, Data: []byte(middle)}
		small := NewObject{Type: TypeBlob, Data: []byte(suffix)}
		edits := []tree.Edit{{Path: "dir/file", Mode: ModeFile, SHA: lines.SHA()}}
		for i := range maxConflicts + 5 {
			edits = append(edits, tree.Edit{Path: "small/" + strconv.Itoa(i), Mode: ModeFile,
				SHA: small.SHA()})
		}
		tree, err := r.BuildTree(t.Context(), "", edits)
		testkit.NoError(t, err)
		c := &Commit{Tree: tree.SHA, Parents: parents, Author: who, Committer: who, Message: "m\n"}
		encoded, err := c.Encode()
		testkit.NoError(t, err)
		shas, err := r.WriteObjects(t.Context(), append(tree.Objects, lines, small, encoded))
		testkit.NoError(t, err)
		return shas[len(shas)-1]
	}
	lines := strings.Repeat("line\n", 20)
	root := commit(lines, "0")
	return commit("ours\n"+lines, "0", root), commit(lines+"theirs\n", "1", root),
		commit("other\n"+lines, "2", root)
}

// A merged file that is too large to hold in memory must be in the repository
// all the same, and readable, before the merge is told of.
func TestMergeKeepsWhatIsLarge(t *testing.T) {
	t.Parallel()
	g := node(t)
	for room, inMemory := range map[int64]int{gatherBytes: 3, 200: 2, 0: 0} {
		r := g.Repository(filepath.Join(t.TempDir(), strconv.FormatInt(room, 10)+".git"))
		ours, theirs, _ := mergeable(t, r)
		s, err := r.newScratch()
		testkit.NoError(t, err)
		s.room = room
		o, err := s.merge(t.Context(), ours, theirs)
		if err != nil || o.conflict {
			t.Fatal(o, err)
		}
		objects, err := s.gather(t.Context(), o.tree)
		if err != nil || len(objects) != inMemory {
			t.Errorf("with room for %d bytes %d objects are in memory, %v", room, len(objects), err)
		}
		if again, err := s.gather(t.Context(), o.tree); err != nil || len(again) != 0 {
			t.Errorf("gathered twice: %d, %v", len(again), err)
		}
		s.drop()
		if _, err := r.WriteObjects(t.Context(), objects); err != nil {
			t.Fatal(err)
		}
		if err := r.CheckConnected(t.Context(), o.tree, nil); err != nil {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
		entry, err := r.Lookup(t.Context(), o.tree, "dir/file")
		testkit.NoError(t, err)
		_, contents, err := r.Contents(t.Context(), entry.SHA, 1000)
		if want := "ours\n" + strings.Repeat("line\n", 20) + "theirs\n"; err != nil ||
			string(contents) != want {
			t.Errorf("the file is %q, %v", contents, err)
		}
	}
}

// Of a merge with conflicts without end as many are told as anyone reads.
func TestMergeOfManyConflicts(t *testing.T) {
	t.Parallel()
	g := node(t)
	r := g.Repository(filepath.Join(t.TempDir(), "r.git"))
	_, theirs, other := mergeable(t, r)
	m, err := r.MergeTree(t.Context(), other, theirs)
	if err != nil || !m.Conflict || len(m.Paths) != maxConflicts || m.Tree != "" {
		t.Errorf("%d conflicts, %q, %v", len(m.Paths), m.Tree, err)
	}
	g.dropping.Wait()
	if left, err := filepath.Glob(r.path("objects", incomingPrefix+"*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
