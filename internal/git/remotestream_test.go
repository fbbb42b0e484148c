package git_test

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// program is a service of git as a Stream.
type program struct {
	io.Reader
	io.WriteCloser
	cmd *exec.Cmd
}

func (p *program) CloseWrite() error { return p.WriteCloser.Close() }

func (p *program) Close() error {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	return nil
}

// A remote that is not reached by HTTP gets and gives the same, and a conversation that breaks off is told.
func TestRemoteByStream(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	g := gittest.New(t, git.Options{})
	ours, release, err := g.Open(t.Context(), filepath.Join(t.TempDir(), "ours.git"))
	testkit.NoError(t, err)
	defer release()
	gittest.Run(t, folder, "init", "-q", "--bare", "-b", "main", "a.git")
	dir := filepath.Join(folder, "a.git")
	gittest.Import(t, dir, gittest.History("refs/heads/main", 3, 5))
	breaks := false
	remote := git.Remote{Connect: func(_ context.Context, service string, said io.Writer) (git.Stream, error) {
		cmd := exec.Command("git", strings.TrimPrefix(service, "git-"), dir)
		cmd.Stderr = said
		in, err := cmd.StdinPipe()
		testkit.NoError(t, err)
		out, err := cmd.StdoutPipe()
		testkit.NoError(t, err)
		testkit.NoError(t, cmd.Start())
		p := &program{out, in, cmd}
		if breaks {
			p.Reader = io.LimitReader(out, 20)
		}
		return p, nil
	}}
	refs, err := g.ListRemote(t.Context(), remote, 10)
	testkit.NoError(t, err)
	tip := refs.Refs["refs/heads/main"]
	if refs.Head != "refs/heads/main" || tip == "" {
		t.Fatalf("%+v", refs)
	}
	for range 2 { // the second time it has all
		q, _, err := ours.FetchRemote(t.Context(), remote, git.FetchOptions{Dir: t.TempDir(),
			Want: []wire.Command{{Name: "refs/heads/main", Old: git.ZeroSHA, New: tip}}})
		testkit.NoError(t, err)
		testkit.NoError(t, q.Keep(t.Context()))
	}
	gittest.Run(t, ours.Dir(), "fsck", "--full")
	refused, err := ours.PushRemote(t.Context(), remote, []git.Ref{{Name: "refs/heads/copy", SHA: tip}})
	if err != nil || len(refused) > 0 {
		t.Errorf("%v, %v", refused, err)
	}
	if got := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "refs/heads/copy")); got != string(tip) {
		t.Errorf("the remote has %s", got)
	}
	breaks = true
	if _, err := g.ListRemote(t.Context(), remote, 10); err == nil || err.Error() == "" {
		t.Errorf("half a list of refs: %v", err)
	}
}
