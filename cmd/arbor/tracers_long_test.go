//go:build long

package main

// tracers returns the programs that stop a server at one of its system calls, by their names.
func tracers() map[string]func() { return map[string]func(){"killat": killAt, "failwrite": failWrite} }
