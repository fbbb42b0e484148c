//go:build long

package testenv

// Long reports whether the long tests are compiled: the build tag long, as `make test-all` sets it.
const Long = true
