//go:build unix && !solaris && !aix

package ephemeral

import (
	"os"
	"path/filepath"
	"syscall"
)

// folderLock is a lock that ends with its process, however that ends.
type folderLock struct{ file *os.File }

// lockFolder locks a folder, or fails at once when somebody has it.
func lockFolder(dir string) (*folderLock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return &folderLock{f}, nil
}

// here reports whether the locked file is still the folder's.
func (l *folderLock) here(dir string) bool {
	mine, err := l.file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(filepath.Join(dir, lockFile))
	return err == nil && os.SameFile(mine, there)
}

func (l *folderLock) release() error { return l.file.Close() }
