package pulls_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// Auto-merge waits for a verified signature, and merges when the author adds the key of the commits.
func TestAutoMergeFollowsSigningKeys(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed: apt-get install openssh-client")
	}
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		const mail = "author@example.com" // of all commits of package gittest
		w := newWaiters(t, s, 1)
		s.Email(t, "sam", mail)
		w.rule(t, `{"type": "required_signatures"}`)
		s.Ask(t, "alice", "PATCH /repos/alice/plot", `{"allow_squash_merge": false}`, 200) // which the server would sign
		key, dir := filepath.Join(t.TempDir(), "key"), t.TempDir()
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key).
			CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
		gittest.Run(t, "", "clone", "-q", s.Remote(t, "will", "alice/plot"), dir)
		for name, value := range map[string]string{"gpg.format": "ssh", "user.signingkey": key, "user.name": "Sam",
			"user.email": mail} {
			gittest.Run(t, dir, "config", name, value)
		}
		gittest.Run(t, dir, "commit", "-q", "--allow-empty", "-S", "-m", "signed")
		gittest.Run(t, dir, "push", "-q", "-f", "origin", "HEAD:b0")
		w.Settle(t)
		w.enable(t, "will", 1, "")
		if by := w.settled(t, 1); by != "" {
			t.Fatalf("merged by %s without a key", by)
		}
		public, err := os.ReadFile(key + ".pub")
		testkit.NoError(t, err)
		s.Ask(t, "sam", "POST /user/ssh_signing_keys", fmt.Sprintf(`{"title": "k", "key": %q}`, public), 201)
		if by := w.settled(t, 1); by != "will" {
			t.Errorf("merged by %q once the key was there", by)
		}
	})
}
