package admission

import (
	"os"
	"path/filepath"
	"testing"
)

// In a container the server must not plan with the memory of the whole machine:
// the kernel would kill it.
func TestMachineMemory(t *testing.T) {
	const info = "MemTotal:        8000000 kB\nMemFree:  1 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"machine": {map[string]string{"proc/meminfo": info}, 8000000 << 10},
		"version 2": {map[string]string{
			"proc/meminfo":                 info,
			"proc/self/cgroup":             "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n",
			"sys/fs/cgroup/a/memory.max":   "1073741824\n",
		}, 1 << 30},
		"container": {map[string]string{
			"proc/meminfo":             info,
			"proc/self/cgroup":         "0::/\n",
			"sys/fs/cgroup/memory.max": "536870912\n",
		}, 512 << 20},
		"version 1": {map[string]string{
			"proc/meminfo":     info,
			"proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   "9223372036854771712\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "268435456\n",
		}, 256 << 20},
		"not there": {map[string]string{
			"proc/meminfo":             info,
			"proc/self/cgroup":         "0::/host/path\n",
			"sys/fs/cgroup/memory.max": "max\n",
		}, 8000000 << 10},
		"unknown": {nil, 0},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := machineMemory(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
