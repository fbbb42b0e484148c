package ephemeral

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// prefix begins the name of every folder, and lockFile is in each of them, locked
// as long as its process lives.
const (
	prefix   = "arbor-ephemeral-"
	lockFile = "lock"
)

// newFolder creates a folder that is this process's until it ends.
func newFolder(parent string) (dir string, held *folderLock, err error) {
	for range 10 {
		if dir, err = os.MkdirTemp(parent, prefix); err != nil {
			return "", nil, err
		}
		if held, err = lockFolder(dir); err != nil {
			continue // somebody is about to sweep it away
		}
		if held.here(dir) {
			return dir, held, nil
		}
		err = held.release() // somebody has
	}
	return "", nil, fmt.Errorf("no folder can be had below %s: %w", parent, err)
}

// sweep removes what processes left that were killed. What cannot be removed is
// somebody else's.
func sweep(parent string, log *slog.Logger) {
	left, err := filepath.Glob(filepath.Join(parent, prefix+"*", lockFile))
	if err != nil {
		return
	}
	for _, file := range left {
		dir := filepath.Dir(file)
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		held, err := lockFolder(dir)
		if err != nil {
			continue // its process lives, or it is another user's
		}
		if err := os.RemoveAll(dir); err == nil {
			log.Info("removed what a killed process left", "folder", dir)
		}
		held.release()
	}
}
