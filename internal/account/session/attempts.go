package session

import (
	"fmt"
	"maps"
	"net/netip"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Wrong passwords are counted by place: by account and network, by account from everywhere, and by network
// for all accounts. After some that cost nothing, each makes the next attempt wait longer, up to a limit:
// so no stranger closes the door to an account, and nobody guesses many.
//
// A place from which somebody signed in to the account before has a count of its own, and the two others do
// not hold for it: a browser with the cookie of [Service.KnownBrowser], a network with a session of the
// account, and a session. Strangers cannot make such a place wait.
//
// Strangers have paceOfAll at one account, however many networks they have: 50 guesses, then one each 20
// seconds. With 10,000 networks that is 4,370 guesses on the first day and 4,320 on each day after it. A
// known place has paceOfPlace, about 110 guesses a day.
//
// Codes of second factors have six digits, and three count at a time. They are counted apart and strictly, with
// paceOfPlace for all strangers at an account: about 110 guesses a day by who knows the password.
//
// Each process counts for itself: with N nodes there are N times as many guesses.

// pace is how long the next attempt waits.
type pace struct {
	free        int // wrong passwords without a delay
	first, most time.Duration
}

var (
	paceOfPlace = pace{free: 10, first: 15 * time.Second, most: 15 * time.Minute}
	paceOfAll   = pace{free: 50, first: time.Second, most: 20 * time.Second}
)

// wait is how long an attempt waits after so many failed. It doubles with each.
func (p pace) wait(failed int) time.Duration {
	wait := p.first
	for range failed - p.free {
		if wait *= 2; wait >= p.most {
			return p.most
		}
	}
	if failed < p.free {
		return 0
	}
	return wait
}

const (
	// attemptsKept is how long a count is kept after the last attempt. It is longer than any wait.
	attemptsKept = 24 * time.Hour
	// maxAttemptKeys bounds each map of counts.
	maxAttemptKeys = 16384
)

// attempts counts password attempts. Kinds of keys are counted separately, so that a flood of one kind does
// not evict the others.
type attempts struct {
	mu     sync.Mutex
	count  [3]map[attemptKey]tally // in the order of keysOf
	strict bool                    // strangers have the pace of one place at an account
}

// attemptKey is an account at a place, an account, or a network.
type attemptKey struct{ login, place string }

// tally is what failed, and when the last attempt began.
type tally struct {
	failed int
	last   db.Time
}

// age is how long ago the last attempt began.
func age(t tally, now db.Time) time.Duration { return time.Duration(now-t.last) * time.Microsecond }

// source is the source of a sign-in attempt.
type source struct {
	network netip.Prefix
	known   string // a browser or a session; empty: the network alone says where it is
	trusted bool   // the account has signed in from there before
}

// keysOf are the keys that hold for an attempt.
func keysOf(login string, at source) []attemptKey {
	login, network := account.Fold(login), fmt.Sprint(at.network)
	switch {
	case at.known != "":
		return []attemptKey{{login, at.known}}
	case at.trusted:
		return []attemptKey{{login, network}}
	}
	return []attemptKey{{login, network}, {login, ""}, {"", network}}
}

// take counts an attempt before its password is checked. Error: 429 for one that comes too soon.
func (a *attempts) take(login string, at source, now db.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys := keysOf(login, at)
	var longest time.Duration
	for n, k := range keys {
		longest = max(longest, a.wait(n, k, now))
	}
	if longest > 0 {
		return errs.Newf(errs.TooManyRequests,
			"There were too many attempts to sign in. Try again in %s, or sign in with a token.", inWords(longest))
	}
	for n, k := range keys {
		if a.count[n] == nil {
			a.count[n] = map[attemptKey]tally{}
		}
		if len(a.count[n]) >= maxAttemptKeys {
			forgetFew(a.count[n], now)
		}
		a.count[n][k] = tally{a.count[n][k].failed + 1, now}
	}
	return nil
}

// wait is how long an attempt has still to wait for a key of a kind. Counts that are old are forgotten.
func (a *attempts) wait(kind int, k attemptKey, now db.Time) time.Duration {
	t := a.count[kind][k]
	since := max(0, age(t, now)) // a clock may be set back
	if since > attemptsKept {
		delete(a.count[kind], k)
		return 0
	}
	p := paceOfAll
	if kind == 0 || kind == 1 && a.strict {
		p = paceOfPlace
	}
	return p.wait(t.failed) - since
}

// inWords rounds a wait up for people.
func inWords(d time.Duration) string {
	if d > time.Minute {
		return fmt.Sprintf("%d minutes", (d+time.Minute-1)/time.Minute)
	}
	if d <= time.Second {
		return "a second"
	}
	return fmt.Sprintf("%d seconds", (d+time.Second-1)/time.Second)
}

// forgetFew frees space in a full map: it removes old entries, then those with the smallest counts,
// such as names tried once.
func forgetFew(count map[attemptKey]tally, now db.Time) {
	maps.DeleteFunc(count, func(_ attemptKey, t tally) bool { return age(t, now) > attemptsKept })
	for few := 1; len(count) > maxAttemptKeys/2; few++ {
		maps.DeleteFunc(count, func(_ attemptKey, t tally) bool { return t.failed <= few })
	}
}

// forget takes an attempt back that succeeded, and with it those at the same account from the same place.
func (a *attempts) forget(login string, at source) {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys := keysOf(login, at)
	failed := a.count[0][keys[0]].failed
	for n, k := range keys {
		if t := a.count[n][k]; t.failed > failed {
			a.count[n][k] = tally{t.failed - failed, t.last}
		} else {
			delete(a.count[n], k)
		}
	}
}

// placeOf returns the place of an attempt.
func placeOf(from Origin) source { return source{network: admission.NetworkOf(from.Address)} }
