//go:build long && linux

package load

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"arbor/internal/admission"
	"arbor/internal/test/testkit"
)

// usage is memory in bytes. What processes share counts once among them.
type usage struct{ total, server, children int64 }

// watchMemory samples until ctx is done; peak then returns the sample with the largest total.
func (w *world) watchMemory(ctx context.Context) (peak func() usage) {
	done := make(chan usage, 1)
	pid := w.server.Process.Pid
	go func() {
		var most usage
		for ctx.Err() == nil {
			now := usage{server: proportional(pid)}
			for _, child := range descendants(pid) {
				now.children += proportional(child)
			}
			now.total = now.server + now.children
			if now.total > most.total {
				most = now
			}
			pause(ctx, 100*time.Millisecond)
		}
		done <- most
	}()
	return func() usage { return <-done }
}

// proportional is the memory of a process, each shared page divided by the number of processes that share it,
// without pages of files that are only read: the kernel drops those when it needs memory.
func proportional(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	var total int64
	for line := range strings.Lines(string(text)) {
		for _, name := range []string{"Pss_Anon:", "Pss_Shmem:"} {
			if value, ok := strings.CutPrefix(line, name); ok {
				kb, _ := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
				total += kb << 10
			}
		}
	}
	return total
}

// descendants are the processes below parent.
func descendants(parent int) []int {
	below := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		// PID (NAME) STATE PARENT: the name may hold anything.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 1 {
			above, _ := strconv.Atoi(fields[1])
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			below[above] = append(below[above], pid)
		}
	}
	var list []int
	for next := []int{parent}; len(next) > 0; next = next[1:] {
		list = append(list, below[next[0]]...)
		next = append(next, below[next[0]]...)
	}
	return list
}

// metrics are the server's, by name with labels.
func (w *world) metrics() map[string]float64 {
	m := map[string]float64{}
	res, err := http.Get("http://" + w.admin + "/metrics")
	if err != nil {
		return m
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		at := strings.LastIndexByte(lines.Text(), ' ')
		if n, err := strconv.ParseFloat(lines.Text()[at+1:], 64); err == nil {
			m[lines.Text()[:at]] = n
		}
	}
	return m
}

const connections = "arbor_admission_connections"

// letsGo waits until the server holds nothing for anybody; without connections it has closed all of them,
// too.
func (w *world) letsGo(t testing.TB, when string, withoutConnections bool) {
	t.Helper()
	var held []string
	testkit.Eventually(t, func() bool {
		m := w.metrics()
		held = nil
		for name, value := range m {
			counts := strings.HasPrefix(name, "arbor_admission_held") ||
				strings.HasPrefix(name, "arbor_admission_waiting") || name == connections && withoutConnections
			if counts && value != 0 {
				held = append(held, fmt.Sprint(name, " ", value))
			}
		}
		return len(m) > 0 && held == nil
	}, "the server lets go of everything "+when, func() string { return strings.Join(held, "\n") })
}

// checkShare demands that one network has no more connections than its share.
func (w *world) checkShare(t testing.TB, attack string) {
	t.Helper()
	most := admission.MaxConns(memoryBound) / 2
	if open := w.metrics()[connections]; open > float64(most)+50 { // honest callers have some
		t.Errorf("%s: %.0f connections are open, want at most %d of one network", attack, open, most)
	}
}

// closed reports that the server has closed or reset a connection, without reading from it.
func closed(conn *net.TCPConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return true
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		gone = err != nil || info.State != 1 // TCP_ESTABLISHED
	})
	return err != nil || gone
}
