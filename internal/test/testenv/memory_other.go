//go:build !linux

package testenv

// Memory is Linux's.
func Memory() string { return "" }
