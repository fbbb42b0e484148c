package account

import (
	"fmt"
	"net/netip"
	"sync"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// How often somebody may try to sign in with a wrong password within attemptsWithin: as one account from one network,
// as one account from everywhere, and from one network as anybody.
const (
	attemptsTogether  = 10
	attemptsOfAccount = 50
	attemptsOfNetwork = 50
	attemptsWithin    = 15 * 60 * 1_000_000 // microseconds
	maxAttemptKeys    = 16384
)

// attempts counts passwords that were tried. Each process counts for itself.
type attempts struct {
	mu    sync.Mutex
	since db.Time
	count map[attemptKey]int
}

// attemptKey is an account, a network, or both.
type attemptKey struct{ login, network string }

func keysOf(login string, from netip.Addr) [3]attemptKey {
	login, network := Fold(login), fmt.Sprint(admission.NetworkOf(from))
	return [3]attemptKey{{login, network}, {login, ""}, {"", network}}
}

// take counts an attempt before its password is looked at. Error: 429 when there were too many.
func (a *attempts) take(login string, from netip.Addr, now db.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now-a.since > attemptsWithin || len(a.count) > maxAttemptKeys || a.count == nil {
		a.count, a.since = map[attemptKey]int{}, now
	}
	keys := keysOf(login, from)
	for n, most := range [...]int{attemptsTogether, attemptsOfAccount, attemptsOfNetwork} {
		if a.count[keys[n]] >= most {
			return errs.New(errs.TooManyRequests,
				"There were too many attempts to sign in. Try again in a quarter of an hour, or sign in with a token.")
		}
	}
	for _, k := range keys {
		a.count[k]++
	}
	return nil
}

// forget takes an attempt back that succeeded, and with it those of the same account from the same network.
func (a *attempts) forget(login string, from netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys := keysOf(login, from)
	failed := a.count[keys[0]]
	for _, k := range keys {
		if a.count[k] -= failed; a.count[k] <= 0 {
			delete(a.count, k)
		}
	}
}
