package testkit

import (
	"os"
	"syscall"
	"testing"
)

// Program writes a shell script that can be run at once. A process that another goroutine starts while the
// file is open for writing holds it open until its own exec, and the kernel refuses to run a file that
// somebody may write (ETXTBSY): no process starts while a script is written.
func Program(t testing.TB, path, script string) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755)
	syscall.ForkLock.RUnlock()
	NoError(t, err)
}
