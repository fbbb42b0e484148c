package admission

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
)

// MachineMemory is how many bytes of memory this process may use: those of its
// container or control group, else of the machine. 0 if that is unknown.
func MachineMemory() int64 { return machineMemory("/") }

// machineMemory reads below root, which tests choose.
func machineMemory(root string) int64 {
	total := meminfo(path.Join(root, "proc/meminfo"))
	groups, _ := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	for line := range strings.Lines(string(groups)) {
		// Version 2 has one line, "0::/path"; version 1 one of each controller.
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		dir, file := "sys/fs/cgroup", "memory.max"
		if fields[0] != "0" {
			dir, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
			if fields[1] != "memory" {
				continue
			}
		}
		total = lowest(total, path.Join(root, dir), fields[2], file)
	}
	return total
}

// lowest is the least limit of a control group and those around it. In a container the
// group's own path may be absent; the root of the hierarchy is there.
func lowest(total int64, dir, group, file string) int64 {
	for {
		text, _ := os.ReadFile(path.Join(dir, group, file))
		n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
		if err == nil && n > 0 && (total == 0 || n < total) {
			total = n
		}
		if group == "/" || group == "." || group == "" {
			return total
		}
		group = path.Dir(group)
	}
}

// meminfo is the memory of the machine; 0 if it is unknown.
func meminfo(file string) int64 {
	text, _ := os.ReadFile(file)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && fields[0] == "MemTotal:" {
			n, _ := strconv.ParseInt(fields[1], 10, 64)
			return n << 10
		}
	}
	return 0
}
