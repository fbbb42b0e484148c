package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeBytes is the size asked for pipes that carry packs and listings.
const pipeBytes = 1 << 20

// GrowPipe enlarges a pipe where the system allows: fewer switches between
// git and us. It is only about speed.
func GrowPipe(pipe any) {
	f, ok := pipe.(*os.File)
	if !ok {
		return
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeBytes)
	})
}
