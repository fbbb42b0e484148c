// Package ratelimit counts the requests of each caller, and refuses those beyond a limit
// (decision 21).
//
//   - limiter.go: who is counted together, and counting
//   - share.go, store.go: nodes tell each other what they counted
package ratelimit

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Limiter counts the requests of each token, and of each address without one, in windows of
// an hour.
type Limiter struct {
	limit int64
	now   func() time.Time

	db     *db.DB
	log    *slog.Logger
	others func() int // other nodes that are live; nil: never any

	mu   sync.Mutex
	used map[string]count
	ends time.Time // of the window, the same for all
}

// count is what a caller used in this window.
type count struct {
	own    int64 // here
	sent   int64 // of that, what the other nodes can know
	others int64 // there, as far as this node knows
}

const window = time.Hour

// maxCounted bounds how many networks are counted apart, to some 8 MB.
const maxCounted = 50_000

// Options are what a Limiter is made of.
type Options struct {
	Limit  int64 // requests an hour; 0: none
	Now    func() time.Time
	DB     *db.DB
	Log    *slog.Logger
	Others func() int // how many other nodes serve the database; nil: there are never any
}

// New returns a limiter that has counted nothing.
func New(o Options) *Limiter {
	return &Limiter{limit: o.Limit, now: o.Now, db: o.DB, log: o.Log, others: o.Others,
		used: map[string]count{}}
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
	c := l.used[key]
	remaining = l.limit - c.own - c.others
	if n > 0 && remaining < n {
		return -1, l.ends
	}
	if n > 0 {
		c.own += n
		l.used[key] = c
	}
	return remaining - n, l.ends
}

// turn begins a new window when the last one has ended, or when the clock was set back so
// far that this would take longer than a window. The lock is held.
func (l *Limiter) turn() {
	if now := l.now(); !now.Before(l.ends) || l.ends.Sub(now) > window+db.MaxSkew {
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
