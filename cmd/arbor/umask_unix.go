//go:build unix

package main

import "syscall"

// closeUmask restricts files and folders that this process and its children create to their
// owner alone, and returns the umask that was set before.
func closeUmask() int { return syscall.Umask(0o077) }
