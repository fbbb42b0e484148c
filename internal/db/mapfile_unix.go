//go:build unix && !solaris && !aix

package db

import "syscall"

// mapFile maps the beginning of a file for reading, until the process ends.
func mapFile(path string, size int) []byte {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	memory, err := syscall.Mmap(fd, 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return memory
}
