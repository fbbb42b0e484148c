package process_test

import (
	"bytes"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"testing"
	"time"

	"arbor/internal/git/process"
	"arbor/internal/journal"
	"arbor/internal/test/testkit"
)

// An operator who sees that git was ended finds out by the id for which request or job, and one
// who looks closely also where it failed.
func TestEndsAreLogged(t *testing.T) {
	t.Parallel()
	binary, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	if out, err := exec.Command(binary, "init", "-q", "--bare", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var text bytes.Buffer
	r := process.NewRunner(binary, nil)
	r.LogTo(slog.New(journal.Text(&text, slog.LevelDebug)))
	batch := process.Task{Command: process.Command{Sub: "cat-file", Flags: []string{"--batch-check"}},
		Dir: dir}

	cage := process.Cage{Memory: 256 << 20}
	late := journal.WithJob(t.Context(), "late")
	batch.Limit = 200 * time.Millisecond // git waits for what never comes
	var p *process.Process
	var in io.WriteCloser
	var out io.Reader
	testkit.Eventually(t, func() bool { // the limit may be over before git starts
		p, in, out, err = r.Talk(late, cage, batch)
		return err == nil
	}, "git starts", func() string { return err.Error() })
	_, _ = io.Copy(io.Discard, out)
	if p.Wait() == nil {
		t.Error("git that took too long ended well")
	}
	in.Close()

	failed := journal.WithJob(t.Context(), "failed")
	batch.Limit, batch.Dir = time.Minute, "/"
	if r.Run(failed, cage, batch) == nil {
		t.Error("git without a repository ended well")
	}
	for _, want := range []string{`level=INFO msg="git was ended" command=cat-file`,
		" id=" + journal.ID(late) + "\n",
		`level=DEBUG msg="git failed" command=cat-file`, " id=" + journal.ID(failed) + "\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the log has no %q:\n%s", want, text.String())
		}
	}
}
