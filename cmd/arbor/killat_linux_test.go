//go:build long

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// killAt is a program beside the tests: killat PID N follows all threads of a
// process and kills it as it is about to make its N-th call that others can see:
// one that writes to a file or a socket, syncs, locks, or changes a directory.
// The call is not made any more. (strace counts the calls of each thread for
// itself, and Go makes them on any.)
//
// It prints "ready" when it counts, and at the end of the process the last call.
func killAt() {
	pid, err := strconv.Atoi(os.Args[1])
	at, err2 := strconv.Atoi(os.Args[2])
	if err := errors.Join(err, err2); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	k := &callKiller{pid: pid, at: at}
	if err := (&tracer{pid: pid, call: k.see}).run(); err != nil {
		fmt.Println("cannot trace:", err)
		os.Exit(1)
	}
	fmt.Println(k.count, k.last)
}

type callKiller struct {
	pid, at int
	locked  bool // the last call was about a lock
	count   int
	last    string
}

func (k *callKiller) see(_ int, call *callInfo) {
	if call.op != unix.PTRACE_SYSCALL_INFO_ENTRY {
		return
	}
	text, counts := k.visible(call)
	if !counts {
		return
	}
	// Of locks that are taken and let go one after the other the first counts.
	lock := strings.HasPrefix(text, "fcntl ")
	if lock && k.locked {
		return
	}
	k.locked = lock
	k.count++
	if k.count <= k.at {
		k.last = text
	}
	if k.count == k.at {
		_ = unix.Kill(k.pid, unix.SIGKILL)
	}
}

// onFile are the calls whose first argument is a descriptor, onPath those with a
// path at the given argument.
var (
	onFile = map[uint64]string{
		unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "pwrite64", unix.SYS_WRITEV: "writev",
		unix.SYS_PWRITEV: "pwritev",
		unix.SYS_FSYNC:   "fsync", unix.SYS_FDATASYNC: "fdatasync", unix.SYS_SYNC_FILE_RANGE: "sync_file_range",
		unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_FALLOCATE: "fallocate", unix.SYS_FCHMOD: "fchmod",
		unix.SYS_SENDTO: "sendto", unix.SYS_SENDMSG: "sendmsg", unix.SYS_SENDFILE: "sendfile",
	}
	onPath = map[uint64]struct {
		name string
		path int
	}{
		unix.SYS_RENAMEAT: {"renameat", 1}, unix.SYS_RENAMEAT2: {"renameat2", 1},
		unix.SYS_LINKAT:   {"linkat", 1},
		unix.SYS_UNLINKAT: {"unlinkat", 1}, unix.SYS_MKDIRAT: {"mkdirat", 1},
		unix.SYS_FCHMODAT: {"fchmodat", 1},
	}
)

// visible reports whether others can see what a call does, and describes it.
func (k *callKiller) visible(c *callInfo) (text string, counts bool) {
	file := func() string {
		target := descriptor(k.pid, c.args[0])
		if strings.HasPrefix(target, "socket:") {
			return "socket"
		}
		return short(target)
	}
	if name, ok := onFile[c.number]; ok {
		target := file()
		// Pipes lead to its own children and to the test, the others into itself.
		return name + " " + target, !strings.HasPrefix(target, "pipe:") &&
			!strings.HasPrefix(target, "anon_inode:")
	}
	if call, ok := onPath[c.number]; ok {
		return call.name + " " + k.text(c.args[call.path]), true
	}
	switch c.number {
	case unix.SYS_OPENAT:
		return "openat " + k.text(c.args[1]), c.args[2]&unix.O_CREAT != 0
	case unix.SYS_COPY_FILE_RANGE:
		return "copy_file_range", true
	case unix.SYS_FCNTL:
		return "fcntl " + file(), c.args[1] == unix.F_SETLK || c.args[1] == unix.F_SETLKW
	}
	return k.older(c)
}

// older is visible for the calls that only old machines have.
func (k *callKiller) older(c *callInfo) (text string, counts bool) {
	const open, rename, mkdir, rmdir, link, unlink, chmod = 2, 82, 83, 84, 86, 87, 90
	if runtime.GOARCH != "amd64" {
		return "", false
	}
	switch c.number {
	case open:
		return "open " + k.text(c.args[0]), c.args[1]&unix.O_CREAT != 0
	case rename, mkdir, rmdir, link, unlink, chmod:
		return fmt.Sprint("call ", c.number, " ", k.text(c.args[0])), true
	}
	return "", false
}

// text reads a path from the process's memory.
func (k *callKiller) text(address uint64) string {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", k.pid))
	if err != nil {
		return "?"
	}
	defer f.Close()
	buf := make([]byte, 512)
	n, _ := f.ReadAt(buf, int64(address)) //nolint:gosec // user space ends far below
	path, _, _ := bytes.Cut(buf[:n], []byte{0})
	return short(string(path))
}

// short is the end of a path.
func short(path string) string {
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}
