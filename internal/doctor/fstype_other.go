//go:build !linux

package doctor

import "golang.org/x/sys/unix"

// fileSystem is the kind of the file system that a folder is on, and its bytes.
func fileSystem(dir string) (kind string, free, all uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "", 0, 0, err
	}
	return "file system", s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}
