//go:build unix && !solaris && !aix

package seed

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// storeLock marks a store that a process fills: a lock on a file next to the
// repositories, which ends with the process, even with a killed one.
type storeLock struct{ file *os.File }

// lockStore fails with ErrFilling when another process has the lock.
func lockStore(dir string) (*storeLock, error) {
	f, err := os.OpenFile(filepath.Join(dir, "seeding"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrFilling
		}
		return nil, errors.Join(err, f.Close())
	}
	return &storeLock{f}, nil
}

// release releases the lock. Its file goes when all is done: the process that gets the
// lock on a file that is gone finds the store filled.
func (l *storeLock) release(done bool) error {
	var err error
	if done {
		err = os.Remove(l.file.Name())
	}
	return errors.Join(err, l.file.Close())
}
