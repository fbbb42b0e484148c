package durable

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// flush begins to write the bytes of a file from begun to end to the disk, and waits for those from since to
// begun. It makes nothing durable. Its errors count: fsync does not tell of them again.
func flush(f *os.File, since, begun, end int64) error {
	err := unix.SyncFileRange(int(f.Fd()), begun, end-begun, unix.SYNC_FILE_RANGE_WRITE)
	if err == nil && since < begun {
		const wait = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
		err = unix.SyncFileRange(int(f.Fd()), since, begun-since, wait)
	}
	// some sandboxes have no such call
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return f.Sync()
	}
	return err
}
