package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// The first thing that anyone sees of Arbor: each line that the demo prints
// works when it is pasted, and nothing stays behind. If this failed, people
// would turn away in the first minute.
func TestDemo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		needProgram(t, "curl", "the lines of the demo that use curl")
		d := startDemo(t, engine, "git push")
		lines := pasteable(d.out.String())
		if len(lines) < 10 {
			t.Errorf("only %d lines to paste:\n%s", len(lines), &d.out)
		}
		// A token may have these three capital letters, but no space before them.
		if said := d.out.String(); strings.Contains(said, "ssh") || strings.Contains(said, " SSH") {
			t.Errorf("without --ssh-listen the demo speaks of SSH:\n%s", said)
		}
		for _, line := range lines {
			text, err := paste(t, d.work, line)
			if err != nil || strings.Contains(text, `"error"`) {
				t.Errorf("pasted: %s\n%v\n%s", line, err, text)
			}
		}
		address := d.address()
		for number, want := range map[string]string{"8": `"merged":true`, "9": `"mergeable_state":"dirty"`,
			"10": `"merged":true`,
			"11": `"merged":true`, "12": `"mergeable_state":"unstable"`} {
			text := ""
			testkit.Eventually(t, func() (is bool) { // a test merge may not be done
				var err error
				text, err = paste(t, d.work, "curl -s "+address+"/repos/alice/greenhouse/pulls/"+number)
				return err == nil && strings.Contains(text, want)
			}, "pull request "+number+" is "+want, func() string { return text })
		}
		if got := refs(t, address+"/alice/greenhouse"); got["refs/heads/watering"] == "" {
			t.Errorf("the push that the demo shows made no branch: %v", got)
		}
	})
}

// demoProcess is an arbor demo in a process of its own.
type demoProcess struct {
	t             *testing.T
	cmd           *exec.Cmd
	out, problems logBuffer
	work          string // where it was started, for what it says to paste
	temporary     string // where it makes its folder
	ended         chan error
}

// startDemo starts a demo and waits until it has told what to try, of which last
// is in the last line. At the end of the test it is stopped as a person does.
func startDemo(t *testing.T, engine db.Engine, last string, flags ...string) *demoProcess {
	t.Helper()
	d := &demoProcess{t: t, work: t.TempDir(), temporary: t.TempDir(), ended: make(chan error, 1)}
	args := append([]string{"demo", "--listen", "127.0.0.1:0"}, flags...)
	if engine == db.PostgreSQL {
		args = append(args, "--database", dbtest.Empty(t, engine))
	}
	held, end, err := os.Pipe()
	testkit.NoError(t, err)
	d.cmd = exec.Command("arbor", args...)
	d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr, d.cmd.ExtraFiles = d.work, &d.out, &d.problems, []*os.File{held}
	d.cmd.Env = append(gittest.Env(), "TMPDIR="+d.temporary, leashVariable+"=3", collectLess)
	testkit.NoError(t, d.cmd.Start())
	held.Close()
	go func() { d.ended <- d.cmd.Wait() }()
	t.Cleanup(func() {
		d.stop()
		end.Close()
	})
	testkit.Eventually(t, func() bool {
		return strings.Contains(d.out.String(), last) && strings.HasSuffix(d.out.String(), "\n")
	}, "all that a demo says", d.out.String, d.problems.String)
	return d
}

// stop presses Ctrl-C, after which nothing may be left, nor have been complained
// of.
func (d *demoProcess) stop() {
	d.t.Helper()
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		d.t.Error(err)
	}
	select {
	case err := <-d.ended:
		if err != nil || d.problems.String() != "" {
			d.t.Errorf("Ctrl-C: the demo ended with %v and said:\n%s", err, &d.problems)
		}
	case <-time.After(testkit.Patience):
		d.cmd.Process.Signal(syscall.SIGQUIT)
		d.t.Errorf("Ctrl-C does not end it: %v\n%s", <-d.ended, &d.problems)
	}
	if left := glob(d.t, filepath.Join(d.temporary, "*")); len(left) != 0 {
		d.t.Errorf("left behind: %q", left)
	}
}

// address is where the demo says that it is.
func (d *demoProcess) address() string {
	return regexp.MustCompile(`http://[^ /']+`).FindString(d.out.String())
}

// tokens are people's, by login, as the demo prints them.
func (d *demoProcess) tokens() map[string]string {
	tokens := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  (\S+) +(arb_\S+)`).FindAllStringSubmatch(d.out.String(),
		-1) {
		tokens[m[1]] = m[2]
	}
	return tokens
}

// pasteable are the commands that the demo prints, in their order.
func pasteable(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		command := strings.TrimSpace(line)
		for _, program := range []string{"curl ", "git ", "cd "} {
			if strings.HasPrefix(line, "  ") && strings.HasPrefix(command, program) {
				list = append(list, command)
			}
		}
	}
	return list
}

// paste runs a line as a person's shell would. curl says what status it got.
func paste(t testing.TB, dir, line string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c",
		strings.Replace(line, "curl -s", `curl -s -w '\n%{http_code}'`, 1))
	cmd.Dir, cmd.Env = dir, gittest.Env()
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err == nil && strings.HasPrefix(line, "curl") && !regexp.MustCompile(`\n20[0-9]$`).MatchString(text) {
		err = fmt.Errorf("the status is not 2xx")
	}
	return text, err
}

// needProgram skips the test where a program is missing, unless nothing may be
// skipped.
func needProgram(t testing.TB, name, what string) {
	t.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("ARBOR_TEST_STRICT") == "1" {
		t.Fatalf("%s is missing, and ARBOR_TEST_STRICT=1", name)
	}
	t.Skipf("NOT TESTED: %s. Get it with `apt-get install %s`.", what, name)
}
