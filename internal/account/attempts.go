package account

import (
	"fmt"
	"maps"
	"net/netip"
	"sync"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// How often somebody may try to sign in with a wrong password within attemptsWithin: as one account from one
// network, as one account from everywhere, and from one network as anybody.
const (
	attemptsTogether  = 10
	attemptsOfAccount = 50
	attemptsOfNetwork = 50
	attemptsWithin    = 15 * 60 * 1_000_000 // microseconds
	maxAttemptKeys    = 16384
)

// attempts counts passwords that were tried. Each process counts for itself. Accounts, networks and both
// together are counted apart, so that a flood of one kind of keys makes no other forgotten.
type attempts struct {
	mu    sync.Mutex
	since db.Time
	count [3]map[attemptKey]int // as keysOf gives them
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
	if now-a.since > attemptsWithin || a.count[0] == nil {
		a.count, a.since = [3]map[attemptKey]int{{}, {}, {}}, now
	}
	keys := keysOf(login, from)
	for n, most := range [...]int{attemptsTogether, attemptsOfAccount, attemptsOfNetwork} {
		if a.count[n][keys[n]] >= most {
			return errs.New(errs.TooManyRequests,
				"There were too many attempts to sign in. Try again in a quarter of an hour, or sign in with a token.")
		}
	}
	for n, k := range keys {
		if len(a.count[n]) >= maxAttemptKeys {
			forgetFew(a.count[n])
		}
		a.count[n][k]++
	}
	return nil
}

// forgetFew makes room in a full map: the smallest counts go, those of what was tried once first.
func forgetFew(count map[attemptKey]int) {
	for few := 1; len(count) > maxAttemptKeys/2; few++ {
		maps.DeleteFunc(count, func(_ attemptKey, n int) bool { return n <= few })
	}
}

// forget takes an attempt back that succeeded, and with it those of the same account from the same network.
func (a *attempts) forget(login string, from netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys := keysOf(login, from)
	failed := a.count[0][keys[0]]
	for n, k := range keys {
		if a.count[n][k] > failed {
			a.count[n][k] -= failed
		} else {
			delete(a.count[n], k)
		}
	}
}
