package cache

import (
	"crypto/sha256"
	"sync/atomic"
)

// State names what a part of the database held at some moment: what is read after
// a state was taken is still true when the state is taken again and is equal.
type State struct {
	sum     [sha256.Size]byte
	numbers [3]int64
	kind    kind
	renewed int64 // see Renew
}

type kind byte

const (
	unknown kind = iota
	whole
	named
	generations
	forever
)

// Unknown is the state of a database that cannot tell: nothing is kept under it.
var Unknown State

// Forever is the state of what never changes, such as Git's objects.
var Forever = State{kind: forever}

// Whole is the state of a whole database whose commits somebody counts.
func Whole(counter, commits int64) State {
	return State{numbers: [3]int64{counter, commits}, kind: whole}
}

// Named is the state of a whole database that is named by a text.
func Named(text string) State {
	return State{sum: sha256.Sum256([]byte(text)), kind: named}
}

var renewed atomic.Int64

// Renew makes all earlier Generations differ from later ones. It is called when the database may count generations
// again that it has lost.
func Renew() { renewed.Add(1) }

// Generations is the state of what is covered by up to three numbers that grow
// with each change of it. They stand in an order that belongs to the cache.
func Generations(numbers ...int64) State {
	s := State{kind: generations, renewed: renewed.Load()}
	if copy(s.numbers[:], numbers) < len(numbers) {
		panic("cache: too many generations")
	}
	return s
}
