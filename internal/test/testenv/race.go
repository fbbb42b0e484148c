//go:build race

package testenv

// Race reports whether the race detector runs.
const Race = true
