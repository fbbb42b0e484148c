// Package testenv decides two things of test processes, before their tests begin.
//
// Their temporary folders are in memory, where there is room: each test makes and removes hundreds of files,
// and waits for each that it syncs. TMPDIR decides where it is set.
//
// More tests run at a time than a small machine has processors, since they wait for databases, git and limits
// on time for a third of their time. The flag -parallel decides where it is given. Under the race detector
// go's number stays: there they take the processors all the time, and several times the memory.
//
// Benchmarks keep the disk that they measure, and go's own number. Only packages for tests import it.
package testenv

import (
	"fmt"
	"os"
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
	if dir := Memory(); dir != "" && os.Getenv("TMPDIR") == "" {
		os.Setenv("TMPDIR", dir)
	}
	if !Race {
		os.Args = withParallel(os.Args, max(atLeast, runtime.GOMAXPROCS(0)))
	}
}

// withParallel gives a test's command line with so many tests at a time, unless it says itself how many.
// Command lines without flags of tests are those of programs that a test binary plays.
func withParallel(args []string, n int) []string {
	isTest := slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-test.") })
	says := slices.ContainsFunc(args, func(arg string) bool { // under -fuzz the number is that of processes
		return strings.HasPrefix(arg, "-test.parallel") || strings.HasPrefix(arg, "-test.fuzz")
	})
	if !isTest || says {
		return args
	}
	return slices.Insert(slices.Clone(args), 1, fmt.Sprint("-test.parallel=", n))
}

// measures tells from a test's command line whether benchmarks run.
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
