//go:build unix && !solaris && !aix

package backup

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lockFolder locks a backup's folder until the file is closed, however the process ends:
// for one that writes, or for several that read.
func lockFolder(dir string, write bool) (io.Closer, error) {
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
	return folderLock{f}, nil
}

// folderLock is a locked folder. Closing alone would leave it locked while a process that is just being
// started still has the file.
type folderLock struct{ *os.File }

// Close unlocks the folder.
func (l folderLock) Close() error {
	return errors.Join(syscall.Flock(int(l.Fd()), syscall.LOCK_UN), l.File.Close())
}
