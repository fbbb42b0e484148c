package server

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

// limiter counts the requests of each token, and of each address without one,
// in windows of an hour (decision 21). A limit of zero is none.
type limiter struct {
	limit int64
	now   func() time.Time
	mu    sync.Mutex
	used  map[string]int64
	ends  time.Time // of the window, the same for all
}

const window = time.Hour

// maxCounted bounds how many networks are counted apart, to some 6 MB.
const maxCounted = 50_000

func newLimiter(limit int64, now func() time.Time) *limiter {
	return &limiter{limit: limit, now: now, used: map[string]int64{}}
}

// key names who is counted together.
func (l *limiter) key(r *http.Request, caller *account.Caller) string {
	if caller != nil {
		return "t" + strconv.FormatInt(caller.TokenID, 36)
	}
	return l.network(web.Network(web.From(r.Context()).From))
}

// network is who an address is counted with: its own network, or when too many
// are known and this one is not, its neighbours', so that no crowd fills the
// memory. A socket in the file system is one client.
func (l *limiter) network(n netip.Prefix) string {
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

// state tells how much is left, after taking n.
func (l *limiter) state(key string, n int64) (remaining int64, reset time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); !now.Before(l.ends) {
		clear(l.used)
		l.ends = now.Truncate(time.Second).Add(window)
	}
	remaining = l.limit - l.used[key]
	if n > 0 && remaining >= n {
		l.used[key] += n
		return remaining - n, l.ends
	}
	if n > 0 {
		return -1, l.ends
	}
	return remaining, l.ends
}

// take counts a request and sets the rate headers. It is called before anything
// is rendered, so that what costs the server is counted also when its client
// learns nothing new; only asking how much is left is free. Error: 403, as at
// GitHub.
func (l *limiter) take(w *web.Writer, r *http.Request, caller *account.Caller, pattern string) error {
	if l.limit <= 0 {
		return nil
	}
	cost := int64(1)
	if pattern == rateLimitPath {
		cost = 0
	}
	key, h := l.key(r, caller), w.Header()
	remaining, reset := l.state(key, cost)
	h.Set("X-RateLimit-Limit", strconv.FormatInt(l.limit, 10))
	h.Set("X-RateLimit-Remaining", strconv.FormatInt(max(0, remaining), 10))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	if remaining < 0 {
		h.Set("Retry-After", strconv.FormatInt(max(1, int64(reset.Sub(l.now()).Seconds())), 10))
		return errs.New(errs.RateLimited, "API rate limit exceeded")
	}
	return nil
}
