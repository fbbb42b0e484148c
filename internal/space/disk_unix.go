//go:build unix

package space

import "golang.org/x/sys/unix"

// Of gives the bytes that are free to this user, and all, where a folder is.
func Of(dir string) (free, all uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}
