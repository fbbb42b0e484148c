//go:build unix && !solaris && !aix

package backup

import (
	"errors"
	"os"
	"syscall"
)

// lockFolder locks a backup's folder until the file is closed, however the process ends:
// for one that writes, or for several that read.
func lockFolder(dir string, write bool) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_SH
	if write {
		how = syscall.LOCK_EX
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errors.New("another process works on the backup in " + dir)
		}
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
