//go:build long

package siege

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is memory in bytes. What processes share counts once among them.
type usage struct{ total, server, children int64 }

// watchMemory samples until ctx is done; peak gives the sample with the largest
// total, after ctx is done.
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

// proportional is the memory of a process, each shared page divided by those that
// share it, without pages of files that are mapped only to read them: the kernel
// drops those when it needs memory.
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
			continue // it ended meanwhile
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
