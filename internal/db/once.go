//go:build !long

package db

// call calls a transaction's function. The long tests call it twice, see twice.go.
func (t *Tx) call(fn func(*Tx) error, _ bool) error { return fn(t) }
