//go:build unix

package main

import "syscall"

// closeUmask lets this process and its children make files and folders for their
// owner alone, and returns the umask that was set before.
func closeUmask() int { return syscall.Umask(0o077) }
