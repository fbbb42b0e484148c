//go:build long && (!linux || !amd64)

package main

import "fmt"

// failWrite changes the registers of Linux on amd64.
func failWrite() { fmt.Println("cannot make writes fail: this is not Linux on amd64") }
