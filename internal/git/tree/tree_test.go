package tree_test

import (
	"errors"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/git/object"
	"arbor/internal/git/tree"
	"arbor/internal/test/testkit"
)

// store has trees in memory, where a repository would have them.
type store map[object.SHA][]byte

func (s store) read(sha object.SHA) ([]byte, error) {
	contents, ok := s[sha]
	if !ok && sha != "" && sha != object.EmptyTree {
		return nil, errs.Absent()
	}
	return contents, nil
}

func (s store) add(objects []object.NewObject) {
	for _, o := range objects {
		s[o.SHA()] = o.Data
	}
}

// edit creates a tree of another one and files, each PATH=CONTENT, or PATH to remove it.
func (s store) edit(t *testing.T, base object.SHA, files ...string) object.SHA {
	t.Helper()
	var edits []tree.Edit
	for _, f := range files {
		path, content, put := strings.Cut(f, "=")
		e := tree.Edit{Path: path, Mode: object.ModeFile}
		if put {
			e.SHA = object.NewObject{Type: object.TypeBlob, Data: []byte(content)}.SHA()
		}
		edits = append(edits, e)
	}
	built, err := tree.Build(s.read, tree.NewCounts(), base, edits)
	testkit.NoError(t, err)
	s.add(built.Objects)
	return built.SHA
}

// Trees merge without a process where no path was changed on both sides; else git has
// to look into files.
func TestMerge(t *testing.T) {
	t.Parallel()
	s := store{}
	base := s.edit(t, "", "a=1", "dir/b=1", "dir/sub/c=1")
	for _, c := range []struct {
		ours, theirs, want []string // edits of the base; no want: git is needed
	}{
		{[]string{"a=2"}, []string{"dir/b=2"}, []string{"a=2", "dir/b=2"}},
		{[]string{"dir/b=2"}, []string{"dir/sub/c=2", "dir/d=1"},
			[]string{"dir/b=2", "dir/sub/c=2", "dir/d=1"}},
		{[]string{"a=2"}, []string{"a=2"}, []string{"a=2"}},
		{[]string{"a"}, []string{"dir/b"}, []string{"a", "dir/b"}},
		{[]string{"a=2"}, []string{"a=3"}, nil},
		{[]string{"a"}, []string{"a=3"}, nil},
	} {
		m := tree.NewMerger(s.read)
		got, err := m.Merge(base, s.edit(t, base, c.ours...), s.edit(t, base, c.theirs...))
		if c.want == nil {
			if !errors.Is(err, tree.ErrNeedsGit) {
				t.Errorf("%v and %v merge to %s, %v", c.ours, c.theirs, got, err)
			}
			continue
		}
		if want := s.edit(t, base, c.want...); err != nil || got != want {
			t.Errorf("%v and %v merge to %s, want %s: %v", c.ours, c.theirs, got, want, err)
		}
	}
}
