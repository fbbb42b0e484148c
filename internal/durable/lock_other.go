//go:build !unix || solaris || aix

package durable

import (
	"io"
	"os"
)

// LockFolder does not lock here: only one process may work on a folder.
func LockFolder(dir string, _ bool) (io.Closer, error) { return os.Open(dir) }
