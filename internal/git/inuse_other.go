//go:build !unix || solaris || aix

package git

import "os"

func tryUnused(*os.File) (unused bool, err error) { return true, nil }

func shareUse(*os.File) bool { return true }
