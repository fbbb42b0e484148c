package ratelimit

import (
	"cmp"
	"context"
	"slices"
	"time"

	"arbor/internal/db"
)

// While several nodes serve one database, each sends the others once a second what its
// callers used, and learns what they used elsewhere. So a caller gets at most what the other
// nodes give within a second more than the limit; after a node has started, within the ten
// seconds that the others take to notice.
const interval = time.Second

// maxSent bounds what is sent at a time. Those who used most go first.
const maxSent = 1000

// use is what a caller used here since the last exchange with the other nodes.
type use struct {
	key string
	n   int64
}

// Run shares what is counted, until ctx is done.
func (l *Limiter) Run(ctx context.Context) error {
	if l.limit <= 0 || l.others == nil {
		return nil
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if l.others() == 0 {
			continue
		}
		err := l.Share(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			l.log.WarnContext(ctx, "rate limits are not shared with the other nodes", "error", err)
		}
		failing = err != nil
	}
}

// Share does once what Run does all the time.
func (l *Limiter) Share(ctx context.Context) error {
	ends, unsent := l.unsent()
	if len(unsent) == 0 {
		return nil
	}
	agreed, totals, err := share(ctx, l.db, ends, db.FromTime(l.now()), unsent)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case db.FromTime(l.ends) != ends: // the window has ended since
	case agreed != ends:
		l.join(agreed.Time())
	default:
		for _, u := range unsent {
			c := l.used[u.key]
			c.sent += u.n
			c.others = max(0, totals[u.key]-c.sent)
			l.used[u.key] = c
		}
	}
	return nil
}

// unsent is what the other nodes do not know, by key, so that nodes lock rows in one order.
func (l *Limiter) unsent() (ends db.Time, list []use) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn()
	for key, c := range l.used {
		if c.own > c.sent {
			list = append(list, use{key, c.own - c.sent})
		}
	}
	if len(list) > maxSent {
		slices.SortFunc(list, func(a, b use) int { return cmp.Compare(b.n, a.n) })
		list = list[:maxSent]
	}
	slices.SortFunc(list, func(a, b use) int { return cmp.Compare(a.key, b.key) })
	return db.FromTime(l.ends), list
}

// join takes over the window of the other nodes, which know nothing of this one's callers in
// it yet. The lock is held.
func (l *Limiter) join(ends time.Time) {
	l.ends = ends
	for key, c := range l.used {
		l.used[key] = count{own: c.own}
	}
}
