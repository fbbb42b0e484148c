//go:build long

package mirror

import (
	"errors"
	"io"
	"testing"

	"arbor/internal/git"
)

// Another side that signs the mirror in and then says nothing is given up.
func TestSilentSSHIsGivenUp(t *testing.T) {
	t.Parallel()
	s := newSilent(t, false)
	_, err := s.connect(t.Context(), "git-upload-pack", io.Discard)
	if remote, ok := errors.AsType[*git.RemoteError](err); !ok || remote.Reason != "it took too long" {
		t.Errorf("%v", err)
	}
	waitFor(t, "the end of the connection", s.ended)
}
