//go:build long

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// failWrite is a program beside the tests: failwrite PID N ERRNO DIR makes each N-th write(2)
// of a process, and of those that it starts, fail with an error, if it is to a file below a
// folder. Nothing is written then. (strace cannot tell such a write from one to a socket.)
func failWrite() {
	pid, err := strconv.Atoi(os.Args[1])
	each, err2 := strconv.Atoi(os.Args[2])
	code, err3 := strconv.Atoi(os.Args[3])
	dir, err4 := filepath.EvalSymlinks(os.Args[4])
	if err := errors.Join(err, err2, err3, err4); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	f := &writeFailer{dir: dir + "/", each: each, code: uint64(code), failing: map[int]bool{}}
	t := &tracer{pid: pid, call: f.see, options: unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK}
	if err := t.run(); err != nil {
		fmt.Println("cannot trace:", err)
		os.Exit(1)
	}
	fmt.Println(f.failed, "writes failed")
}

type writeFailer struct {
	dir     string
	each    int
	code    uint64
	count   int
	failed  int
	failing map[int]bool // threads that are in a call that fails
}

func (f *writeFailer) see(tid int, call *callInfo) {
	switch {
	case call.op == unix.PTRACE_SYSCALL_INFO_EXIT && f.failing[tid]:
		delete(f.failing, tid)
		change(tid, func(r *unix.PtraceRegs) { r.Rax = -f.code })
	case call.op != unix.PTRACE_SYSCALL_INFO_ENTRY || call.number != unix.SYS_WRITE:
	case strings.HasPrefix(descriptor(tid, call.args[0]), f.dir):
		f.count++
		if f.count%f.each == 0 {
			f.failed++
			f.failing[tid] = true
			change(tid, func(r *unix.PtraceRegs) { r.Orig_rax = ^uint64(0) }) // no call has this number
		}
	}
}

// change sets registers of a thread that has stopped; one that is gone needs none.
func change(tid int, set func(*unix.PtraceRegs)) {
	var r unix.PtraceRegs
	if unix.PtraceGetRegs(tid, &r) == nil {
		set(&r)
		_ = unix.PtraceSetRegs(tid, &r)
	}
}
