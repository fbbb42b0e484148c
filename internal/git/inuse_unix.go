//go:build unix && !solaris && !aix

package git

import (
	"errors"
	"os"
	"syscall"
)

// tryUnused locks the file that users of a folder hold, unless somebody does: false then.
// Where the file system has no such locks, nobody is known to use it.
func tryUnused(f *os.File) (unused bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return !errors.Is(err, syscall.EWOULDBLOCK), nil
}

// shareUse locks the file as one of many. It does not wait: only a purge that is about to
// remove the folder has it alone, and then it is false.
func shareUse(f *os.File) bool {
	return !errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
