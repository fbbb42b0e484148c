package session

import "arbor/internal/errs"

// hashingAtOnce is how many passwords are held against hashes at one time for each of strangers and known
// places; more wait. A hash keeps a processor busy for a while, so strangers with many networks would else
// keep those out whom the account knows. So many wait, for a few seconds at most, that a few dozen strangers have
// nobody else refused.
const (
	hashingAtOnce  = 2
	waitingForHash = 128
)

// hashing is the places for one kind of callers. The zero value is not usable: see newHashing.
type hashing struct{ waiting, running chan struct{} }

func newHashing() hashing {
	return hashing{make(chan struct{}, hashingAtOnce+waitingForHash), make(chan struct{}, hashingAtOnce)}
}

// enter takes a place. Errors: 503 if too many wait; those of ctx.
func (h hashing) enter(done <-chan struct{}) (leave func(), err error) {
	select {
	case h.waiting <- struct{}{}:
	default:
		return nil, errs.New(errs.Unavailable, "Many people sign in at this moment. Try again in a few seconds.")
	}
	select {
	case h.running <- struct{}{}:
		return func() { <-h.running; <-h.waiting }, nil
	case <-done:
		<-h.waiting
		return nil, errs.New(errs.Canceled, "canceled")
	}
}
