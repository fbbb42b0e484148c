//go:build !unix

package main

// closeUmask does nothing on systems without file modes.
func closeUmask() int { return 0 }
