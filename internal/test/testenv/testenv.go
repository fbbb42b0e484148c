// Package testenv decides two things of test processes, before their tests begin.
//
// Their temporary folders are in memory, where there is room: each test makes and removes hundreds of files,
// and waits for each that it syncs. TMPDIR decides where it is set. Of a suite that is interrupted nothing
// stays there.
//
// More tests run at a time than a small machine has processors, since they wait for databases, git and limits
// on time for a third of their time. The flag -parallel decides where it is given. Under the race detector
// go's number stays: there they take the processors all the time, and several times the memory.
//
// Benchmarks keep the disk that they measure, and go's own number. Only packages for tests import it.
package testenv

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
)

// atLeast is how many tests of a package run at a time on a machine with fewer processors.
const atLeast = 8

func init() {
	if measures(os.Args) {
		return
	}
	if dir := Memory(); dir != "" && os.Getenv("TMPDIR") == "" && isTest(os.Args) {
		if dir, err := ownFolder(dir); err == nil {
			os.Setenv("TMPDIR", dir)
		}
	}
	if !Race {
		os.Args = withParallel(os.Args, max(atLeast, runtime.GOMAXPROCS(0)))
	}
}

// ownFolder creates a folder for the temporary files of this process. A shell removes it when the process has
// ended, however it ended: it reads from a pipe of the process, in a process group of its own.
func ownFolder(parent string) (string, error) {
	dir, err := os.MkdirTemp(parent, "arbor")
	if err == nil {
		err = os.Chmod(dir, 0o711) // PostgreSQL, which may be another user, has folders below
	}
	if err != nil {
		return "", err
	}
	remover := exec.Command("/bin/sh", "-c", `read -r _; rm -rf "$1"`, "remover", dir)
	remover.SysProcAttr = ownGroup()
	if lease, err = remover.StdinPipe(); err == nil {
		err = remover.Start()
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

// lease is the pipe to the shell of ownFolder.
//
//lint:ignore U1000 it must stay reachable: a collected pipe is closed
var lease io.Closer

// isTest reports whether a command line is that of a test program, not of a program that it plays.
func isTest(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-test.") })
}

// withParallel returns a test's command line with so many tests at a time, unless it says itself how many.
func withParallel(args []string, n int) []string {
	says := slices.ContainsFunc(args, func(arg string) bool { // under -fuzz the number is that of processes
		return strings.HasPrefix(arg, "-test.parallel") || strings.HasPrefix(arg, "-test.fuzz")
	})
	if !isTest(args) || says {
		return args
	}
	return slices.Insert(slices.Clone(args), 1, fmt.Sprint("-test.parallel=", n))
}

// measures reports from a test's command line whether benchmarks run.
func measures(args []string) bool {
	for _, arg := range args {
		pattern, is := strings.CutPrefix(arg, "-test.bench=")
		if is && pattern != "" {
			return true
		}
	}
	return false
}

// room is more than the tests of some packages take together, in bytes.
const room = 4 << 30
