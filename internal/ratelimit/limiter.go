// Package ratelimit counts the requests of each caller, and refuses those beyond a limit (decision 21). Each
// node counts by itself: with several, a caller may use the limit on each.
package ratelimit

import (
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Limiter counts the requests of each token, and of each address without one, in windows of
// an hour.
type Limiter struct {
	limit int64
	now   func() time.Time

	mu   sync.Mutex
	used map[string]int64 // in this window
	ends time.Time        // of the window, the same for all
}

const window = time.Hour

// maxCounted bounds how many networks are counted apart, to some 8 MB.
const maxCounted = 50_000

// New returns a limiter of so many requests an hour that has counted nothing; 0: unlimited.
func New(limit int64, now func() time.Time) *Limiter {
	return &Limiter{limit: limit, now: now, used: map[string]int64{}}
}

// Limit is how many requests an hour a caller has; 0: unlimited.
func (l *Limiter) Limit() int64 { return l.limit }

// key names who is counted together.
func (l *Limiter) key(r *http.Request, caller *account.Caller) string {
	if caller != nil && caller.SignedApp != 0 {
		return "a" + strconv.FormatInt(int64(caller.SignedApp), 36)
	}
	if caller != nil {
		return "t" + strconv.FormatInt(caller.TokenID, 36)
	}
	return l.network(web.Network(web.From(r.Context()).From))
}

// network is who an address is counted with: its own network, or when too many
// are known and this one is not, its neighbours', so that no crowd fills the
// memory. A socket in the file system is one client.
func (l *Limiter) network(n netip.Prefix) string {
	wide := 8
	if n.Addr().Is6() {
		wide = 16
	}
	key := "a" + n.String()
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.used[key]; !known && len(l.used) >= maxCounted {
		return "a" + netip.PrefixFrom(n.Addr(), wide).Masked().String()
	}
	return key
}

// Left returns how many requests the caller has left, and when the window ends.
func (l *Limiter) Left(r *http.Request, caller *account.Caller) (remaining int64, reset time.Time) {
	return l.state(l.key(r, caller), 0)
}

// state returns how much is left after n more. It is negative, and nothing is counted, if
// less is left.
func (l *Limiter) state(key string, n int64) (remaining int64, reset time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn()
	remaining = l.limit - l.used[key]
	if n > 0 && remaining < n {
		return -1, l.ends
	}
	if n > 0 {
		l.used[key] += n
	}
	return remaining - n, l.ends
}

// turn begins a new window when the last one has ended, or when the clock was set back so
// far that this would take longer than a window. The lock is held.
func (l *Limiter) turn() {
	if now := l.now(); !now.Before(l.ends) || l.ends.Sub(now) > window {
		clear(l.used)
		l.ends = now.Truncate(time.Second).Add(window)
	}
}

// TakeKey counts a request over SSH for its key. Error: 403.
func (l *Limiter) TakeKey(caller *account.Caller) error {
	if l.limit <= 0 {
		return nil
	}
	if remaining, _ := l.state("k"+strconv.FormatInt(caller.KeyID, 36), 1); remaining < 0 {
		return errs.New(errs.RateLimited, "API rate limit exceeded")
	}
	return nil
}

// Take counts a request at its cost, 0 or 1, and sets the rate headers. It is called before
// anything is rendered, so that what costs the server is counted also when its client
// learns nothing new. Error: 403, as at GitHub.
func (l *Limiter) Take(w *web.Writer, r *http.Request, caller *account.Caller, cost int64) error {
	if l.limit <= 0 {
		return nil
	}
	key, h := l.key(r, caller), w.Header()
	remaining, reset := l.state(key, cost)
	h.Set("X-RateLimit-Limit", strconv.FormatInt(l.limit, 10))
	h.Set("X-RateLimit-Remaining", strconv.FormatInt(max(0, remaining), 10))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	h.Set("X-RateLimit-Used", strconv.FormatInt(l.limit-max(0, remaining), 10))
	h.Set("X-RateLimit-Resource", "core") // one limit is for all
	if remaining < 0 {
		h.Set("Retry-After", strconv.FormatInt(max(1, int64(reset.Sub(l.now()).Seconds())), 10))
		return errs.New(errs.RateLimited, "API rate limit exceeded")
	}
	return nil
}
