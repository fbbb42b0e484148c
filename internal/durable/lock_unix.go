//go:build unix && !solaris && !aix

package durable

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// LockFolder locks a folder until the lock is closed, however the process ends: alone, or together with
// others that do not lock it alone. Error: ErrLocked at once while that cannot be.
func LockFolder(dir string, alone bool) (io.Closer, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, errors.Join(err, f.Close())
	}
	return folderLock{f}, nil
}

// folderLock is a locked folder. Closing alone would leave it locked while a process that is just being
// started still has the file.
type folderLock struct{ *os.File }

// Close unlocks the folder.
func (l folderLock) Close() error {
	return errors.Join(syscall.Flock(int(l.Fd()), syscall.LOCK_UN), l.File.Close())
}
