package server

import (
	"context"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/web"
)

// refusedEvery limits audit rows for denied requests to one per account and interval, so that nobody can
// fill the log.
const refusedEvery = time.Minute

// refusals remembers which accounts were recently denied a request for site administrators.
type refusals struct {
	mu   sync.Mutex
	told map[account.ID]time.Time // time of the last audit row, if within refusedEvery
}

// due reports whether the account's denial must be recorded, and marks it as recorded.
func (f *refusals) due(id account.ID, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, told := f.told[id]; told && now.Sub(at) < refusedEvery {
		return false
	}
	for other, at := range f.told { // runs at most once per account and minute
		if now.Sub(at) >= refusedEvery {
			delete(f.told, other)
		}
	}
	if f.told == nil {
		f.told = map[account.ID]time.Time{}
	}
	f.told[id] = now
	return true
}

// noteRefused records in the audit log that a caller requested something only for site administrators, or
// with a token that does not allow it. Its errors do not affect the response.
func (s *Server) noteRefused(ctx context.Context, caller *account.Caller, to *route.Route) {
	if to.Right != route.SiteAdmin || !s.refusals.due(caller.ID, s.o.Now()) {
		return
	}
	info := web.From(ctx)
	ctx = audit.With(context.WithoutCancel(ctx), actorOf(caller, info, audit.NoRight))
	err := s.o.DB.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		return audit.Record(tx, audit.Entry{Action: audit.SiteAdminRefused,
			Changes: map[string]any{"route": to.Method + " " + to.Pattern}})
	})
	if err != nil {
		s.log.WarnContext(ctx, "the audit log lacks a refused request",
			"caller", caller.Login, "id", info.ID, "error", err)
	}
}

// actorOf returns the caller and request for the audit log.
func actorOf(c *account.Caller, info *web.Info, right route.Right) audit.Actor {
	a := audit.Actor{ID: int64(c.ID), Login: c.Login, TokenID: c.TokenID, Right: string(right),
		SiteAdmin: c.SiteAdmin, Request: info.ID}
	if info.From.IsValid() {
		a.Address = info.From.String()
	}
	return a
}
