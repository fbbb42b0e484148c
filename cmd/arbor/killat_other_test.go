//go:build long && !linux

package main

import "fmt"

// killAt needs Linux's ptrace.
func killAt() { fmt.Println("cannot trace: this is not Linux") }

func traceable() {}
