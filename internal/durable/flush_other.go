//go:build !linux

package durable

import "os"

// flush writes what is in a file to the disk.
func flush(f *os.File, _, _, _ int64) error { return f.Sync() }
