package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/web"
)

// refusedEvery is how often the audit log tells at most that an account asked for what only site
// administrators may do: nobody can fill it by asking.
const refusedEvery = time.Minute

// refusals notes who asks for what only site administrators may do.
type refusals struct {
	mu   sync.Mutex
	told map[account.ID]time.Time // when the log told of an account, within the last minute
}

// due reports whether the log is to tell of the account, and takes it as told.
func (f *refusals) due(id account.ID, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, told := f.told[id]; told && now.Sub(at) < refusedEvery {
		return false
	}
	for other, at := range f.told { // at most one for each account a minute comes here
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

// noteRefused leaves a row in the audit log of a caller who asked for what only site administrators may do,
// or whose token is not for it. What the caller is answered does not depend on it.
func (s *Server) noteRefused(r *http.Request, caller *account.Caller, info *web.Info, to *route.Route) {
	if to.Right != route.SiteAdmin || !s.refusals.due(caller.ID, s.o.Now()) {
		return
	}
	ctx := audit.With(context.WithoutCancel(r.Context()), actorOf(caller, info, audit.NoRight))
	err := s.o.DB.Write(ctx, func(tx *db.Tx) error {
		return audit.Record(tx, audit.Entry{Action: audit.SiteAdminRefused,
			Changes: map[string]any{"route": to.Method + " " + to.Pattern}})
	})
	if err != nil {
		s.log.WarnContext(ctx, "the audit log lacks a refused request",
			"caller", caller.Login, "id", info.ID, "error", err)
	}
}

// actorOf is who makes the request, for the audit log.
func actorOf(c *account.Caller, info *web.Info, right route.Right) audit.Actor {
	a := audit.Actor{ID: int64(c.ID), Login: c.Login, TokenID: c.TokenID, Right: string(right),
		SiteAdmin: c.SiteAdmin, Request: info.ID}
	if info.From.IsValid() {
		a.Address = info.From.String()
	}
	return a
}
