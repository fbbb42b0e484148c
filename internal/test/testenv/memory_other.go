//go:build !linux

package testenv

import "syscall"

// Memory is Linux's.
func Memory() string { return "" }

func ownGroup() *syscall.SysProcAttr { return nil }
