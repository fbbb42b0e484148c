package main

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// terminal is both ends of a pseudo terminal, and what was written on it.
type terminal struct {
	person, program *os.File

	mu    sync.Mutex
	shown bytes.Buffer
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("there are no pseudo terminals: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	testkit.NoError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetUint32(fd, unix.TIOCGPTN)
	testkit.NoError(t, err)
	program, err := os.OpenFile("/dev/pts/"+strconv.Itoa(int(n)), os.O_RDWR|syscall.O_NOCTTY, 0)
	testkit.NoError(t, err)
	t.Cleanup(func() { program.Close() })
	term := &terminal{person: person, program: program}
	go func() {
		buf := make([]byte, 1024)
		for {
			n, err := person.Read(buf)
			if err != nil {
				return
			}
			term.mu.Lock()
			term.shown.Write(buf[:n])
			term.mu.Unlock()
		}
	}()
	return term
}

func (p *terminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.String()
}

// start starts arbor with the terminal as its own.
func (p *terminal) start(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("arbor", args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, p.program, p.program, p.program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	testkit.NoError(t, cmd.Start())
	return cmd
}

// echoes reports whether the terminal shows what is typed.
func (p *terminal) echoes(t *testing.T) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(p.program.Fd()), unix.TCGETS)
	testkit.NoError(t, err)
	return state.Lflag&unix.ECHO != 0
}

// A person who changes their mind at the question for a password leaves by one Ctrl-C, or one SIGTERM, and
// the terminal shows again what is typed. A command that reads a pipe ends by the first signal, too.
func TestPromptsEnd(t *testing.T) {
	t.Parallel()
	s := newInstance(t, db.SQLite)
	s.makeTables()
	s.user("bob")
	for name, end := range map[string]func(t *testing.T, term *terminal, p *os.Process){
		"Ctrl-C": func(t *testing.T, term *terminal, _ *os.Process) {
			if _, err := term.person.Write([]byte{3}); err != nil {
				t.Fatal(err)
			}
		},
		"SIGTERM": func(t *testing.T, _ *terminal, p *os.Process) {
			testkit.NoError(t, p.Signal(syscall.SIGTERM))
		},
	} {
		for _, typed := range []string{"", "half a passwo", "a whole one\n"} {
			term := newTerminal(t)
			cmd := term.start(t, s.env, "user", "passwd", "bob")
			question := "Password: "
			if strings.HasSuffix(typed, "\n") {
				question = "Again: "
				testkit.Eventually(t, func() bool { return strings.Contains(term.text(), "Password: ") && !term.echoes(t) },
					"the first question", term.text)
			}
			if _, err := term.person.Write([]byte(typed)); err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, func() bool { return strings.Contains(term.text(), question) && !term.echoes(t) },
				"the question", term.text)
			end(t, term, cmd.Process)
			err := cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 1 {
				t.Errorf("%s after %q: %v, status %d\n%s", name, typed, err, code, term.text())
			}
			if !term.echoes(t) {
				t.Errorf("%s after %q: the terminal does not echo any more", name, typed)
			}
		}
	}
	for _, args := range [][]string{{"user", "passwd", "bob"}, {"restore", "--data", t.TempDir(), "-"},
		{"user", "key", "add", "bob", "-"}} {
		in, hold, err := os.Pipe()
		testkit.NoError(t, err)
		cmd := exec.Command("arbor", args...)
		cmd.Env, cmd.Stdin = s.env, in
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		testkit.NoError(t, cmd.Start())
		testkit.Eventually(t, func() bool { return reads(cmd.Process.Pid) }, "it waits for its input")
		cmd.Process.Signal(syscall.SIGINT)
		err = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 1 {
			t.Errorf("arbor %q: %v, status %d: %s", args, err, code, &said)
		}
		hold.Close()
		in.Close()
	}
}

// reads reports whether a process has a thread that reads standard input.
func reads(pid int) bool {
	tasks, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	for _, task := range tasks {
		where, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/task/" + task.Name() + "/syscall")
		call := strings.Fields(string(where))
		if len(call) > 1 && (call[0] == "0" || call[0] == "63") && call[1] == "0x0" { // read on amd64 and arm64
			return true
		}
	}
	return false
}

// A person at a terminal types the name of what a command deletes. Anything else deletes nothing.
func TestDeletionIsConfirmed(t *testing.T) {
	t.Parallel()
	s := newInstance(t, db.SQLite)
	s.makeTables()
	s.user("bob")
	for _, c := range []struct {
		typed, want string
		code        int
	}{{"bo\n", "not confirmed", 1}, {"\x03", "stopped", 1}, {"bob\n", "deleted bob", 0}} {
		term := newTerminal(t)
		cmd := term.start(t, s.env, "user", "delete", "bob")
		testkit.Eventually(t, func() bool { return strings.Contains(term.text(), "Type bob to confirm: ") },
			"the question", term.text)
		if _, err := term.person.WriteString(c.typed); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		testkit.Eventually(t, func() bool { return strings.Contains(term.text(), c.want) }, c.want, term.text)
		if code := cmd.ProcessState.ExitCode(); code != c.code {
			t.Errorf("%q: exit status %d, want %d: %s", c.typed, code, c.code, term.text())
		}
	}
}
