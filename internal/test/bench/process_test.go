//go:build long

package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// arbor is an `arbor serve` in a process of its own, as an operator starts it:
// its log goes to a file.
type arbor struct {
	suite *suite
	cmd   *exec.Cmd
	data  string
	url   string
	token string // of alice

	readers int // see reader
}

// newData creates a data directory with the user alice and her token.
func (s *suite) newData(b *testing.B) (data, token string) {
	b.Helper()
	data = filepath.Join(b.TempDir(), "data")
	s.command(b, data, "user", "create", "alice")
	return data, s.command(b, data, "token", "create", "alice")
}

// noSettings keeps this machine's own settings away from the program.
const noSettings = "ARBOR_CONFIG=" + os.DevNull

// command runs a subcommand of arbor on a data folder and gives its output.
func (s *suite) command(b *testing.B, data string, args ...string) string {
	b.Helper()
	cmd := exec.Command(s.binary, args...)
	cmd.Env = append(os.Environ(), "ARBOR_DATA="+data, noSettings)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("arbor %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// start creates a data directory and serves it until the benchmark ends.
func (s *suite) start(b *testing.B) *arbor {
	b.Helper()
	data, token := s.newData(b)
	return s.serve(b, data, token)
}

// serve returns when the server has said that it answers.
func (s *suite) serve(b *testing.B, data, token string, flags ...string) *arbor {
	b.Helper()
	log, err := os.Create(data + ".log")
	testkit.NoError(b, err)
	defer log.Close()
	a := &arbor{suite: s, data: data, token: token}
	a.cmd = exec.Command(s.binary, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", data,
		"--text-rate", "0"},
		flags...)...)
	a.cmd.Stderr, a.cmd.Env = log, append(os.Environ(), noSettings)
	out, err := a.cmd.StdoutPipe()
	testkit.NoError(b, err)
	testkit.NoError(b, a.cmd.Start())
	b.Cleanup(func() { a.stop(b) })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		text, _ := os.ReadFile(log.Name())
		b.Fatalf("arbor serve: %v\n%s", err, text)
	}
	a.url = strings.TrimSpace(strings.TrimPrefix(line, "arbor listens on "))
	return a
}

// stop ends the server; again does nothing.
func (a *arbor) stop(b *testing.B) {
	if a.cmd.ProcessState != nil {
		return
	}
	a.cmd.Process.Signal(syscall.SIGTERM)
	if err := a.cmd.Wait(); err != nil {
		b.Errorf("arbor serve ended with %v", err)
	}
}

// create creates an empty repository of alice.
func (a *arbor) create(b *testing.B, name string) {
	b.Helper()
	if _, err := connect(b, a.url).must(request("POST", "/user/repos", a.token,
		fmt.Sprintf(`{"name":%q}`, name))); err != nil {
		b.Fatal(err)
	}
}

// remote is the address of a repository for git, with the token.
func (a *arbor) remote(name string) string {
	return strings.Replace(a.url, "://", "://alice:"+a.token+"@", 1) + "/alice/" + name + ".git"
}

// repository is the directory of the only repository in the data folder.
func (a *arbor) repository(b *testing.B) string {
	b.Helper()
	found, err := filepath.Glob(filepath.Join(a.data, "repositories", "*", "*.git"))
	if err == nil && len(found) == 0 {
		found, err = filepath.Glob(filepath.Join(a.data, "repositories", "*.git"))
	}
	if err != nil || len(found) != 1 {
		b.Fatalf("one repository expected, found %q, %v", found, err)
	}
	return found[0]
}

// memory reads a line of /proc/PID/status, such as VmRSS, in MiB.
func memory(b *testing.B, pid int, line string) float64 {
	b.Helper()
	kb, ok := statusKB(pid, line)
	if !ok {
		b.Skip("memory is measured where there is /proc")
	}
	return kb / 1024
}

func statusKB(pid int, line string) (float64, bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for l := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(l, line+":"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			return kb, err == nil
		}
	}
	return 0, false
}

// peak runs fn and returns the peak memory of the server, and that of all its git processes together
// without shared memory, in MiB.
func (a *arbor) peak(b *testing.B, fn func()) (server, children float64) {
	b.Helper()
	pid := a.cmd.Process.Pid
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		b.Skip("the peak of memory is measured where there is /proc: ", err)
	}
	done, sampled := make(chan struct{}), make(chan float64)
	go func() {
		most := 0.0
		for {
			most = max(most, childrenKB(pid))
			select {
			case <-done:
				sampled <- most / 1024
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	fn()
	close(done)
	return memory(b, pid, "VmHWM"), <-sampled
}

// childrenKB is what the children of a process have allocated.
func childrenKB(parent int) float64 {
	total := 0.0
	for _, pid := range children(parent) {
		kb, _ := statusKB(pid, "RssAnon")
		total += kb
	}
	return total
}

// settle waits until the background work is done, that is, until the server uses almost no processor time
// for a while. It returns the time used.
func (a *arbor) settle(b *testing.B) time.Duration {
	b.Helper()
	const tick = 10 * time.Millisecond // of the kernel's clock
	begun := processorTicks(b, a.cmd.Process.Pid)
	for last, quiet := begun, 0; quiet < 5; {
		time.Sleep(100 * time.Millisecond)
		now := processorTicks(b, a.cmd.Process.Pid)
		if quiet++; now > last+1 {
			quiet = 0
		}
		last = now
	}
	return time.Duration(processorTicks(b, a.cmd.Process.Pid)-begun) * tick
}

// processorTicks is the processor time of a process so far.
func processorTicks(b *testing.B, pid int) int {
	b.Helper()
	s, ok := statOf(pid)
	if !ok {
		b.Skip("what goes on beside requests is seen where there is /proc")
	}
	return s.own
}

// stat is what /proc/PID/stat says of a process: who started it, and the processor time, in ticks of 10 ms,
// that it has used and that those have which it started and which have ended.
type stat struct{ parent, own, ended int }

func statOf(pid int) (s stat, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false // it has ended
	}
	// PID (NAME) STATE PARENT: the name may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	return stat{number(1), number(11) + number(12), number(13) + number(14)}, true
}

// treeTicks is the processor time of a process and of all that it started, and that these started, also of
// those that have ended.
func treeTicks(pid int) int {
	s, _ := statOf(pid)
	total := s.own + s.ended
	for _, child := range children(pid) {
		total += treeTicks(child)
	}
	return total
}

// children lists the processes that parent has started and that still run.
func children(parent int) []int {
	var list []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if s, ok := statOf(pid); ok && s.parent == parent {
			list = append(list, pid)
		}
	}
	return list
}
