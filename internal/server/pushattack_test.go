package server_test

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// Slow anonymous clones kept everybody from pushing to a repository from which something was pushed away:
// each push has a walk there that finds what is hidden.
func TestPushesPassSlowClones(t *testing.T) {
	t.Parallel()
	dir := large(t)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Log.AllowErrors()
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/garden", false), dir)
		work, remote := t.TempDir(), s.Remote(t, "alice", "alice/garden")
		git := func(args ...string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), "git", args...)
			cmd.Dir, cmd.Env = work, gittest.Env()
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("git %s: %v\n%s%+v", args[0], err, out, s.Admitted.Usage())
			}
		}
		git("clone", "-q", "--bare", remote, ".")
		git("push", "-q", "--force", remote, "main:talk")
		tip := gittest.Run(t, dir, "rev-parse", "main")
		body := pkt("command=fetch") + "0001" + pkt("ofs-delta") + pkt("want "+tip) + pkt("done") + "0000"
		request := head("POST", "/alice/garden.git/git-upload-pack", "",
			"Content-Type: application/x-git-upload-pack-request",
			"Git-Protocol: version=2", fmt.Sprintf("Content-Length: %d", len(body))) + body
		ctx, stop := context.WithCancel(t.Context())
		var readers sync.WaitGroup
		for i := range 6 {
			for _, c := range besiege(t, s, fmt.Sprintf("127.0.%d.1", i), 10, request) {
				readers.Go(func() { defer c.Close(); readSlowly(ctx, c) })
			}
		}
		for n := range 3 {
			tree := gittest.Run(t, work, "rev-parse", "main^{tree}")
			next := gittest.Run(t, work, "commit-tree", "-p", "main", "-m", fmt.Sprint("empty ", n), tree)
			git("update-ref", "refs/heads/main", next)
			git("push", "-q", remote, "main")
		}
		stop()
		readers.Wait()
		freed(t, s)
	}, memory(1<<30))
}
