//go:build !linux

package testdir

// Memory is Linux's.
func Memory() string { return "" }
