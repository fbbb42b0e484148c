// Package gittest helps tests to make real repositories: quickly, through `git
// fast-import`, and always the same, with fixed authors and times. It also
// runs git with a clean environment. Only tests import it.
package gittest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"arbor/internal/git"
	_ "arbor/internal/test/testenv" // repositories in memory, more tests at a time
	"arbor/internal/test/testkit"
)

// Author and Start are the author and the first time, in Unix seconds, of all
// commits that this package makes; each next commit is a minute later.
const (
	Author = "A U Thor <author@example.com>"
	Start  = 1_300_000_000
)

// Opened returns what opens a repository that is open already, for serve.UploadPack.
func Opened(r *git.Repository) func(context.Context) (*git.Repository, func(), error) {
	return func(context.Context) (*git.Repository, func(), error) { return r, func() {}, nil }
}

// New returns a Git whose processes end with the test.
func New(tb testing.TB, o git.Options) *git.Git {
	tb.Helper()
	g, err := git.New(tb.Context(), o)
	testkit.NoError(tb, err)
	tb.Cleanup(func() { _ = g.Close() })
	return g
}

// Env is the environment of git in tests: no configuration of the machine, a
// fixed author and time, nothing to prompt with.
func Env() []string {
	date := fmt.Sprintf("%d +0000", Start)
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=A U Thor", "GIT_COMMITTER_EMAIL=author@example.com", "GIT_COMMITTER_DATE=" + date,
		"GIT_CONFIG_COUNT=4", "GIT_CONFIG_KEY_0=init.defaultBranch", "GIT_CONFIG_VALUE_0=main",
		"GIT_CONFIG_KEY_1=protocol.file.allow", "GIT_CONFIG_VALUE_1=always",
		"GIT_CONFIG_KEY_2=gc.auto", "GIT_CONFIG_VALUE_2=0",
		"GIT_CONFIG_KEY_3=maintenance.auto", "GIT_CONFIG_VALUE_3=false"}
}

// Run runs git in dir and returns its output without the final newline; the test
// ends when it fails.
func Run(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	return strings.TrimSuffix(string(Pipe(tb, dir, nil, args...)), "\n")
}

// Resolve returns the SHA that a name stands for in a repository.
func Resolve(tb testing.TB, dir, name string) git.SHA {
	tb.Helper()
	return git.SHA(Run(tb, dir, "rev-parse", name))
}

// Pipe runs git in dir with the given input and returns all of its output.
func Pipe(tb testing.TB, dir string, stdin io.Reader, args ...string) []byte {
	tb.Helper()
	out, stderr, err := Try(tb, dir, stdin, args...)
	if err != nil {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr)
	}
	return out
}

// Try runs git in dir and returns output, standard error and how it ended.
func Try(tb testing.TB, dir string, stdin io.Reader, args ...string) (stdout, stderr []byte, err error) {
	tb.Helper()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(tb.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, Env()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errOut
	err = cmd.Run()
	return out.Bytes(), errOut.Bytes(), err
}

// Wrapped returns the path of a program that is git except for one sub-command, in whose
// place it runs a line of shell.
func Wrapped(tb testing.TB, sub, instead string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "git")
	script := "case \"$1\" in " + sub + ") " + instead + ";; esac\nexec git \"$@\"\n"
	testkit.Program(tb, path, script)
	return path
}

// Object writes an object, however wrong its contents are, and names it.
func Object(tb testing.TB, dir string, kind git.Type, contents string) git.SHA {
	tb.Helper()
	out := Pipe(tb, dir, strings.NewReader(contents), "hash-object", "-w", "--literally", "--stdin", "-t",
		string(kind))
	return git.SHA(strings.TrimSpace(string(out)))
}

// Bare creates an empty bare repository.
func Bare(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "bare.git")
	template, err := empty()
	if err == nil {
		err = os.CopyFS(dir, template)
	}
	testkit.NoError(tb, err)
	return dir
}

// empty is a bare repository as git makes it, made once: tests need hundreds.
var empty = sync.OnceValues(func() (fs.FS, error) {
	dir, err := os.MkdirTemp("", "empty-repository-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("git", "init", "-q", "--bare", "--template=", dir)
	cmd.Env = Env()
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("git init: %w: %s", err, out)
	}
	return filesOf(dir)
})

// Repository creates a bare, packed repository whose branch main has the given
// number of commits; each writes one of files files, in ten directories.
func Repository(tb testing.TB, commits, files int) string {
	tb.Helper()
	dir := Bare(tb)
	Import(tb, dir, History("refs/heads/main", commits, files))
	return dir
}

// Import feeds a stream to `git fast-import`, which leaves one pack. An empty
// repository gets a copy of what an equal stream made before.
func Import(tb testing.TB, dir string, stream io.Reader) {
	tb.Helper()
	text, err := io.ReadAll(stream)
	testkit.NoError(tb, err)
	if len(text) > maxKept || !isEmpty(dir) {
		fastImport(tb, dir, text)
		return
	}
	kept := keptOf(tb, dir, text)
	kept.once.Do(func() {
		fastImport(tb, dir, text)
		if kept.files, err = filesOf(dir); err != nil {
			tb.Fatal(err)
		}
	})
	switch {
	case !isEmpty(dir): // it was the first
	case kept.files == nil: // the first failed
		fastImport(tb, dir, text)
	default:
		fill(tb, dir, kept.files)
	}
}

func fastImport(tb testing.TB, dir string, stream []byte) {
	tb.Helper()
	Pipe(tb, dir, bytes.NewReader(stream), "-c", "fastimport.unpackLimit=0", "fast-import",
		"--quiet", "--force")
}

// ImportStored is Import of what does not compress, as noise: that takes a second for twenty megabytes.
func ImportStored(tb testing.TB, dir string, stream io.Reader) {
	tb.Helper()
	Pipe(tb, dir, stream, "-c", "fastimport.unpackLimit=0", "-c", "core.compression=0", "fast-import",
		"--quiet", "--force")
}

// CommitLine begins a commit in a stream for Import, n seconds after the first.
func CommitLine(branch string, n int, message string) string {
	return fmt.Sprintf("commit refs/heads/%s\ncommitter %s %d +0000\ndata %d\n%s\n",
		branch, Author, Start+n, len(message), message)
}

// FileLines puts a file into such a commit.
func FileLines(name, contents string) string {
	return fmt.Sprintf("M 100644 inline %s\ndata %d\n%s\n", name, len(contents), contents)
}

// WriteFile writes a file of a clone.
func WriteFile(tb testing.TB, dir, name, text string) {
	tb.Helper()
	testkit.NoError(tb, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// CommitFile commits one file in a clone, and returns the new objects.
func CommitFile(tb testing.TB, dir, name, text string) (commit, tree, blob string) {
	tb.Helper()
	WriteFile(tb, dir, name, text)
	Run(tb, dir, "add", name)
	Run(tb, dir, "commit", "-q", "-m", "Add "+name)
	commit = Run(tb, dir, "rev-parse", "HEAD")
	tree = Run(tb, dir, "rev-parse", "HEAD^{tree}")
	return commit, tree, Run(tb, dir, "rev-parse", "HEAD:"+name)
}

// LargePatches creates a bare repository whose only commit adds eleven megabytes of
// control characters in twelve files, which take six times as much room in JSON.
func LargePatches(tb testing.TB) string {
	tb.Helper()
	dir := Bare(tb)
	stream := CommitLine("main", 0, "m")
	text := strings.Repeat(strings.Repeat("\x01", 999)+"\n", 900)
	for n := range 12 {
		stream += FileLines(fmt.Sprint("file", n), text)
	}
	Import(tb, dir, strings.NewReader(stream+"done\n"))
	return dir
}

// History is the stream of a history for Import: the first commit has all
// files, each later one rewrites one of them.
func History(ref string, commits, files int) io.Reader {
	var b bytes.Buffer
	write := func(commit, file int) {
		text := strings.Repeat(fmt.Sprintf("line of file %d\n", file),
			20) + fmt.Sprintf("commit %d\n", commit)
		fmt.Fprintf(&b, "M 100644 inline dir%d/file%d.txt\ndata %d\n%s\n", file%10, file, len(text), text)
	}
	for c := range commits {
		message := fmt.Sprintf("Commit %d\n", c)
		fmt.Fprintf(&b, "commit %s\ncommitter %s %d +0000\ndata %d\n%s", ref, Author, Start+60*c,
			len(message), message)
		if c > 0 {
			write(c, c%max(files, 1))
			continue
		}
		for f := range files {
			write(0, f)
		}
	}
	b.WriteString("done\n")
	return &b
}
