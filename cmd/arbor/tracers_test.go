//go:build !long

package main

// tracers returns no programs: the tests that stop a server at one of its system calls are long.
func tracers() map[string]func() { return map[string]func(){} }

func traceable() {}
