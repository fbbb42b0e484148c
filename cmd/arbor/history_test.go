package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/git"
	"arbor/internal/git/wire"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// gitRun is one run of git by a person: what it said, and whether it worked.
type gitRun struct {
	out string // standard output and error together
	err error
}

// try runs git in dir.
func try(t testing.TB, dir string, args ...string) gitRun {
	t.Helper()
	out, problems, err := gittest.Try(t, dir, nil, args...)
	return gitRun{string(out) + string(problems), err}
}

// begin starts git in dir; what becomes of it comes over the channel.
func begin(t testing.TB, dir string, args ...string) (*exec.Cmd, <-chan gitRun) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, gittest.Env(), &out, &out
	testkit.NoError(t, cmd.Start())
	ended := make(chan gitRun, 1)
	go func() {
		err := cmd.Wait()
		ended <- gitRun{out.String(), err}
	}()
	return cmd, ended
}

// heavy creates a bare repository whose branch main has a file of so many
// incompressible bytes: a pack that is some time on its way.
func heavy(t testing.TB, size int) string {
	t.Helper()
	dir := gittest.Bare(t)
	noise := make([]byte, size)
	rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%-32d", size)))).Read(noise)
	var b bytes.Buffer
	fmt.Fprintf(&b, "commit refs/heads/main\ncommitter %s %d +0000\ndata 5\nNoise\nM 100644 inline noise\ndata %d\n",
		gittest.Author, gittest.Start, size)
	b.Write(noise)
	b.WriteString("\ndone\n")
	gittest.Import(t, dir, &b)
	return dir
}

// add creates a commit on a branch of a bare repository, and names it. Each text
// makes another commit.
func add(t testing.TB, dir, branch, text string) git.SHA {
	t.Helper()
	from := ""
	if r := try(t, dir, "rev-parse", "--verify", "-q", "refs/heads/"+branch); r.err == nil {
		from = "from refs/heads/" + branch + "^0\n"
	}
	stream := fmt.Sprintf(
		"commit refs/heads/%s\nmark :1\ncommitter %s %d +0000\ndata %d\n%s\n%sM 100644 inline %s\ndata %d\n%s\nget-mark :1\ndone\n",
		branch, gittest.Author, gittest.Start, len(text), text, from, "file", len(text), text)
	made := gittest.Pipe(t, dir, strings.NewReader(stream), "-c", "fastimport.unpackLimit=0", "fast-import",
		"--quiet", "--force")
	return git.SHA(strings.TrimSpace(string(made)))
}

// refs are what a remote has, by name: what git ls-remote --refs is told, without its three processes.
func refs(t testing.TB, remote string) map[string]string {
	t.Helper()
	res, err := http.Get(remote + "/info/refs?service=" + wire.ServiceUploadPack)
	testkit.NoError(t, err)
	defer res.Body.Close()
	list, lines := map[string]string{}, wire.NewPktReader(res.Body)
	for {
		_, line, err := lines.Next()
		if errors.Is(err, io.EOF) && res.StatusCode == http.StatusOK {
			return list
		}
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("refs of %s: %s %v %s", remote, res.Status, err, line)
		}
		named, _, _ := strings.Cut(string(line), "\x00")
		if sha, name, _ := strings.Cut(strings.TrimSpace(named), " "); strings.HasPrefix(name, "refs/") &&
			!strings.HasSuffix(name, "^{}") {
			list[name] = sha
		}
	}
}

// whole clones everything from a remote and looks at every object.
func whole(t testing.TB, remote string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "whole.git")
	for _, args := range [][]string{{"clone", "-q", "--mirror", remote, dir},
		{"-C", dir, "fsck", "--strict", "--full"}} {
		if r := try(t, "", args...); r.err != nil {
			t.Errorf("git %q: %v\n%s", args, r.err, r.out)
		}
	}
}
