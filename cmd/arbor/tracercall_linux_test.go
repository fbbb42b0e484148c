//go:build long

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// tracers returns the programs that follow a server, by their names. Each prints "ready" once it does.
//
//	killat PID N                     kills it as it is about to make its N-th call that others can see
//	failcall PID CALLS EACH ERRNO DIR  has each EACH-th of some calls on files below a folder fail
//	record PID FILE                  writes all such calls into a file, as JSON
func tracers() map[string]func() {
	return map[string]func(){"killat": killAt, "failcall": failCall, "record": record}
}

// trace runs a tracer of the process that the first argument names, and prints what it says last.
func trace(options int, see func(pid, tid int, i *callInfo), last func() string) {
	pid, err := strconv.Atoi(os.Args[1])
	if err == nil {
		err = (&tracer{pid: pid, options: options, see: func(tid int, i *callInfo) { see(pid, tid, i) }}).run()
	}
	if err != nil {
		fmt.Println("cannot trace:", err)
		os.Exit(1)
	}
	fmt.Println(last())
}

// killAt counts the calls of all threads together, since Go makes them on any. The N-th is not made any more.
func killAt() {
	at, _ := strconv.Atoi(os.Args[2])
	count, last, locked := 0, "", false
	trace(0, func(pid, _ int, i *callInfo) {
		c := visible(pid, i)
		if c == nil {
			return
		}
		// Of locks that are taken and let go one after the other the first counts.
		again := locked && c.Name == "fcntl"
		if locked = c.Name == "fcntl"; again {
			return
		}
		if count++; count > at {
			return
		}
		last = c.Name + " " + filepath.Join(filepath.Base(filepath.Dir(c.Path)), filepath.Base(c.Path))
		if count == at {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}, func() string { return fmt.Sprint(count, " ", last) })
}

// failCall follows the processes that the server starts, too. Nothing is done by a call that fails.
func failCall() {
	each, err := strconv.Atoi(os.Args[3])
	code, err2 := strconv.Atoi(os.Args[4])
	dir, err3 := filepath.EvalSymlinks(os.Args[5])
	if err = errors.Join(err, err2, err3); err != nil || !canFail {
		fmt.Println("cannot make calls fail here: ", err)
		os.Exit(1)
	}
	count, failures, failing := 0, 0, map[int]bool{}
	trace(unix.PTRACE_O_TRACEFORK|unix.PTRACE_O_TRACEVFORK, func(_, tid int, i *callInfo) {
		if !i.entry() {
			if failing[tid] {
				delete(failing, tid)
				failed(tid, syscall.Errno(code))
			}
			return
		}
		c := visible(tid, i)
		if c == nil || !strings.Contains(os.Args[2]+",", c.Name+",") ||
			filepath.IsAbs(c.Path) && !strings.HasPrefix(c.Path, dir+"/") || strings.HasPrefix(c.Path, "socket:") {
			return
		}
		if count++; count%each == 0 {
			failures++
			failing[tid] = true
			fail(tid)
		}
	}, func() string { return fmt.Sprint(failures, " calls failed") })
}

// record writes calls that succeeded, in the order of their ends.
func record() {
	out, err := os.Create(os.Args[2])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	moment, running, to := int64(0), map[int]*call{}, json.NewEncoder(out)
	trace(0, func(pid, tid int, i *callInfo) {
		moment++
		if i.entry() {
			if c := visible(pid, i); c != nil {
				c.Began = moment
				if c.Name == "write" || c.Name == "pwrite64" {
					c.Text = memory(pid, i.args[1], min(i.args[2], 5000))
				}
				running[tid] = c
			}
			return
		}
		c := running[tid]
		delete(running, tid)
		if c == nil || int64(i.number) < 0 { //nolint:gosec // a result
			return
		}
		c.Ended = moment
		err = errors.Join(err, to.Encode(c))
	}, func() string { return fmt.Sprint(moment/2, " calls, ", err, out.Close()) })
}

// onFile are the calls whose first argument is a descriptor, onPath those with a
// path at the given argument, and perhaps a second.
var (
	onFile = map[uint64]string{
		unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "pwrite64", unix.SYS_WRITEV: "writev",
		unix.SYS_PWRITEV: "pwritev",
		unix.SYS_FSYNC:   "fsync", unix.SYS_FDATASYNC: "fdatasync", unix.SYS_SYNC_FILE_RANGE: "sync_file_range",
		unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_FALLOCATE: "fallocate", unix.SYS_FCHMOD: "fchmod",
		unix.SYS_SENDTO: "sendto", unix.SYS_SENDMSG: "sendmsg", unix.SYS_SENDFILE: "sendfile",
		unix.SYS_COPY_FILE_RANGE: "copy_file_range",
	}
	onPath = map[uint64]pathCall{
		unix.SYS_RENAMEAT: {"rename", 1, 3}, unix.SYS_RENAMEAT2: {"rename", 1, 3},
		unix.SYS_LINKAT: {"link", 1, 3}, unix.SYS_UNLINKAT: {"unlink", 1, 0},
		unix.SYS_MKDIRAT: {"mkdir", 1, 0}, unix.SYS_FCHMODAT: {"chmod", 1, 0},
	}
	// older are calls of amd64 that newer machines do not have.
	older = map[uint64]pathCall{82: {"rename", 0, 1}, 83: {"mkdir", 0, 0}, 84: {"rmdir", 0, 0},
		86: {"link", 0, 1}, 87: {"unlink", 0, 0}, 90: {"chmod", 0, 0}}
)

type pathCall struct {
	name     string
	path, to int // to is 0 if there is no second path
}

// visible describes a call that a process enters if others can see what it does: it writes to a file or a
// socket, syncs, locks, or changes a directory. Else it returns nil.
func visible(pid int, i *callInfo) *call {
	if !i.entry() {
		return nil
	}
	path := func(n int) string {
		text, _, _ := strings.Cut(memory(pid, i.args[n], 512), "\x00")
		return text
	}
	if name, ok := onFile[i.number]; ok {
		target := descriptor(pid, i.args[0])
		// Pipes lead to its own children and to the test, the others into itself.
		if strings.HasPrefix(target, "pipe:") || strings.HasPrefix(target, "anon_inode:") {
			return nil
		}
		return &call{Name: name, Path: target}
	}
	p, ok := onPath[i.number]
	if !ok && runtime.GOARCH == "amd64" {
		p, ok = older[i.number]
	}
	switch {
	case ok && p.to > 0:
		return &call{Name: p.name, Path: path(p.path), To: path(p.to)}
	case ok:
		return &call{Name: p.name, Path: path(p.path)}
	case i.number == unix.SYS_OPENAT && i.args[2]&unix.O_CREAT != 0:
		return &call{Name: "create", Path: path(1)}
	case i.number == 2 && runtime.GOARCH == "amd64" && i.args[1]&unix.O_CREAT != 0:
		return &call{Name: "create", Path: path(0)}
	case i.number == unix.SYS_FCNTL && (i.args[1] == unix.F_SETLK || i.args[1] == unix.F_SETLKW):
		return &call{Name: "fcntl", Path: descriptor(pid, i.args[0])}
	}
	return nil
}
