package diff_test

import (
	"bytes"
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Somebody who applies what the server gives must get the tree that git would give.
func TestWriteDiffAndPatchesAreGitsOwn(t *testing.T) {
	t.Parallel()
	dir, first, second := odd(t)
	r := gittest.New(t, git.Options{}).Repository(dir)
	var text, patch, root bytes.Buffer
	for _, err := range []error{diff.Write(t.Context(), &text, r, first, second),
		diff.WritePatches(t.Context(), &patch, r, second, first),
		diff.WritePatches(t.Context(), &root, r, first)} {
		testkit.NoError(t, err)
	}
	for name, c := range map[string]struct {
		got  string
		args []string
	}{
		"diff":  {text.String(), []string{"diff", string(first), string(second)}},
		"patch": {patch.String(), []string{"format-patch", "--stdout", "main~1..main"}},
		"root":  {root.String(), []string{"format-patch", "--stdout", "--root", "main~1"}},
	} {
		if want := string(gittest.Pipe(t, dir, nil, c.args...)); c.got != want {
			t.Errorf("%s differs from git's: %d bytes, want %d", name, len(c.got), len(want))
		}
	}
}
