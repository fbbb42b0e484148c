//go:build !long || !linux || !amd64

package main

const canBend = false

func bendClock() error { return nil }
