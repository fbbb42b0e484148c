package transport_test

import (
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/repo/transport"
)

// Each listing of a repository's refs reads all of them, so their number has a limit.
// At the limit refs can still be moved and deleted.
func TestRefsHaveAnEnd(t *testing.T) {
	t.Parallel()
	one, two := git.SHA(strings.Repeat("1", 40)), git.SHA(strings.Repeat("2", 40))
	got := transport.RefusedForCount(transport.MaxRefs-1, []wire.Command{
		{Name: "refs/heads/a", Old: git.ZeroSHA, New: one},
		{Name: "refs/heads/b", Old: git.ZeroSHA, New: one},
		{Name: "refs/heads/c", Old: one, New: two},
		{Name: "refs/heads/d", Old: one, New: git.ZeroSHA},
	})
	for i, refused := range []bool{false, true, false, false} {
		if (got[i].Error != "") != refused {
			t.Errorf("command %d: %q", i, got[i].Error)
		}
	}
}
