// Package testdir puts the temporary folders of a test process in memory, where there is
// room: each test makes and removes hundreds of files, and waits for each that it syncs.
//
// TMPDIR decides where it is set, and benchmarks keep the disk that they measure. Only
// packages for tests import it.
package testdir

import (
	"os"
	"strings"
)

func init() {
	if dir := Memory(); dir != "" && os.Getenv("TMPDIR") == "" && !measures(os.Args) {
		os.Setenv("TMPDIR", dir)
	}
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
