//go:build !unix || solaris || aix

package db

import "os"

// Without flock, processes poll for SQLite's own lock and take their chance.

func tryLock(*os.File) error { return nil }

func unlock(*os.File) {}
