//go:build !unix

package main

// closeUmask does nothing where there are no modes.
func closeUmask() int { return 0 }
