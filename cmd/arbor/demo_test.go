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
	"arbor/internal/db/dbtest"
	"arbor/internal/git/gittest"
)

// The first thing that anyone sees of Arbor: each line that the demo prints
// works when it is pasted, and nothing stays behind. If this failed, people
// would turn away in the first minute.
func TestDemo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		needProgram(t, "curl", "the lines of the demo that use curl")
		temporary, work := t.TempDir(), t.TempDir()
		args := []string{"demo", "--listen", "127.0.0.1:0"}
		if engine == db.PostgreSQL {
			args = append(args, "--database", dbtest.Empty(t, engine))
		}
		var out, problems logBuffer
		cmd := exec.Command("arbor", args...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = work, append(gittest.Env(), "TMPDIR="+temporary), &out, &problems
		held, end, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer end.Close()
		cmd.ExtraFiles, cmd.Env = []*os.File{held}, append(cmd.Env, leashVariable+"=3")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		held.Close()
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		eventually(t, func() bool { return strings.Contains(out.String(), "git push") },
			func() string { return out.String() + problems.String() })
		lines := pasteable(out.String())
		if len(lines) < 10 {
			t.Errorf("only %d lines to paste:\n%s", len(lines), &out)
		}
		for _, line := range lines {
			text, err := paste(t, work, line)
			if err != nil || strings.Contains(text, `"error"`) {
				t.Errorf("pasted: %s\n%v\n%s", line, err, text)
			}
		}
		address := regexp.MustCompile(`http://[^ /']+`).FindString(out.String())
		for number, want := range map[string]string{"8": `"merged":true`, "9": `"mergeable_state":"dirty"`, "10": `"merged":true`,
			"11": `"merged":true`, "12": `"mergeable_state":"unstable"`} {
			text, err := paste(t, work, "curl -s "+address+"/repos/alice/greenhouse/pulls/"+number)
			if err != nil || !strings.Contains(text, want) {
				t.Errorf("pull request %s is not %s: %v\n%s", number, want, err, text)
			}
		}
		if got := refs(t, address+"/alice/greenhouse"); got["refs/heads/watering"] == "" {
			t.Errorf("the push that the demo shows made no branch: %v", got)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil { // Ctrl-C
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Ctrl-C: %v\n%s", err, &problems)
			}
		case <-time.After(patience):
			cmd.Process.Signal(syscall.SIGQUIT)
			t.Fatalf("Ctrl-C does not end it: %v\n%s", <-ended, &problems)
		}
		if left := glob(t, filepath.Join(temporary, "*")); len(left) != 0 {
			t.Errorf("left behind: %q", left)
		}
		if problems.String() != "" {
			t.Errorf("on standard error:\n%s", &problems)
		}
	})
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
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(line, "curl -s", `curl -s -w '\n%{http_code}'`, 1))
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
