//go:build long

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tracer follows all threads of a process, call by call.
type tracer struct {
	pid     int
	options int                           // PTRACE_O_*, in addition to those that every tracer needs
	see     func(tid int, call *callInfo) // at the entry and at the exit of each call
	fresh   map[int]bool                  // threads that have not stopped yet
	ready   bool
}

// run prints "ready" once it follows the process, and returns when that has ended.
func (r *tracer) run() error {
	runtime.LockOSThread() // a process is traced by a thread
	r.fresh = map[int]bool{}
	if err := r.attach(); err != nil {
		return err
	}
	for r.step() {
	}
	return nil
}

// attach seizes all threads; those that they start follow by themselves.
func (r *tracer) attach() error {
	options := uintptr(unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | r.options)
	known := map[int]bool{}
	for more := true; more; {
		more = false
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", r.pid))
		if err != nil {
			return err
		}
		for _, task := range tasks {
			tid, err := strconv.Atoi(task.Name())
			if err != nil || known[tid] {
				continue
			}
			known[tid], more = true, true
			_, _, problem := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(tid), 0,
				options, 0, 0)
			switch {
			// gone, or it follows already
			case problem == unix.ESRCH, problem == unix.EPERM && len(r.fresh) > 0:
				continue
			case problem != 0:
				return problem
			}
			r.fresh[tid] = true
			if err := unix.PtraceInterrupt(tid); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return nil
}

// step waits for one thread to stop, and lets it go on.
func (r *tracer) step() bool {
	var status unix.WaitStatus
	tid, err := unix.Wait4(-1, &status, unix.WALL, nil)
	if errors.Is(err, unix.EINTR) {
		return true
	}
	if err != nil {
		return false
	}
	delete(r.fresh, tid)
	if !r.ready && len(r.fresh) == 0 {
		r.ready = true
		fmt.Println("ready")
	}
	if !status.Stopped() {
		return true
	}
	pass := 0
	switch sig := status.StopSignal(); {
	case sig == unix.SIGTRAP|0x80:
		var info callInfo
		_, _, problem := syscall.RawSyscall6(syscall.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid),
			unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
		if problem == 0 && r.ready {
			r.see(tid, &info)
		}
	case int(status)>>16 == 0: // a signal for the process
		pass = int(sig)
	}
	_ = unix.PtraceSyscall(tid, pass) // it may be gone
	return true
}

// callInfo is the kernel's struct ptrace_syscall_info. At a call's exit, number is the result,
// and args mean nothing.
type callInfo struct {
	op     uint8
	_      [3]uint8
	_      uint32
	_, _   uint64
	number uint64
	args   [6]uint64
	_      [2]uint64
}

func (i *callInfo) entry() bool { return i.op == unix.PTRACE_SYSCALL_INFO_ENTRY }

// descriptor returns what a descriptor of a thread leads to: a path, or "socket:..." and the like.
func descriptor(tid int, fd uint64) string {
	target, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, int32(fd)))
	return target
}

// memory reads at most so many bytes of a process.
func memory(pid int, address, most uint64) string {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, most)
	n, _ := f.ReadAt(buf, int64(address)) //nolint:gosec // user space ends far below
	return string(buf[:n])
}

// canFail reports whether fail and failed work: they know the registers of amd64.
const canFail = runtime.GOARCH == "amd64"

// fail has the call that a thread enters do nothing.
func fail(tid int) { poke(tid, 15, ^uint64(0)) } // orig_rax: no call has this number

// failed has the call that a thread leaves return an error.
func failed(tid int, code syscall.Errno) { poke(tid, 10, -uint64(code)) } // rax

// poke sets a register of a thread that has stopped; one that is gone needs none.
func poke(tid int, register uintptr, value uint64) {
	data := *(*[8]byte)(unsafe.Pointer(&value))
	_, _ = unix.PtracePokeUser(tid, register*8, data[:])
}

// traceable lets any process of the same user trace this one.
func traceable() { _ = unix.Prctl(unix.PR_SET_PTRACER, unix.PR_SET_PTRACER_ANY, 0, 0, 0) }
