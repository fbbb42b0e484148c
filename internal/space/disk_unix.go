//go:build unix

package space

import "golang.org/x/sys/unix"

// Of returns the bytes that are free to this user, and the total, on dir's file system.
func Of(dir string) (free, all uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}

// sameDisk reports whether two folders are on one disk.
func sameDisk(a, b string) bool {
	var of [2]unix.Stat_t
	return a == b || unix.Stat(a, &of[0]) == nil && unix.Stat(b, &of[1]) == nil && of[0].Dev == of[1].Dev
}
