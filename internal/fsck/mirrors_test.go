package fsck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/mirror"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// A password that nothing can decrypt any more is found before the next run of its mirror fails.
func TestBrokenMirrorsAreFound(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		s.Repo(t, "alice/copy", false)
		s.Ask(t, "alice", "PUT /repos/alice/copy/mirror",
			`{"remote_url": "http://127.0.0.1:1/x.git", "username": "alice", "password": "secret"}`, 201)
		if found := look(t, s, Options{}); strings.Contains(found.text(), "mirror") {
			t.Fatal(found.text())
		}
		testkit.NoError(t, os.Remove(filepath.Join(s.Dir, mirror.Folder, "key")))
		const problem = "mirrors/key cannot decrypt the password of mirror 1: enter it again"
		if found := look(t, s, Options{}); !strings.Contains(found.text(), problem) || !found.Sound() {
			t.Error(found.text())
		}
		write(t, s, `INSERT INTO mirrors (repo_id, push, url, follow_head, was_private, by_operator, created_at)
			SELECT repo_id, push, url, follow_head, was_private, by_operator, created_at FROM mirrors`)
		if found := look(t, s, Options{}); !strings.Contains(found.text(), "is a mirror of 2 repositories") || found.Sound() {
			t.Error(found.text())
		}
	})
}
