//go:build unix && !solaris && !aix

package db

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapFile maps the beginning of a file for reading. release closes the file and
// puts empty memory in its place, so that late readers still find some.
func mapFile(path string, size int) (memory []byte, release func()) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil
	}
	at, err := unix.MmapPtr(fd, 0, nil, uintptr(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil
	}
	return unsafe.Slice((*byte)(at), size), func() {
		_, _ = unix.MmapPtr(-1, 0, at, uintptr(size), unix.PROT_READ,
			unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED)
		_ = unix.Close(fd)
	}
}
