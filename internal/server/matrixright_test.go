package server_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// rights are those by which requests wrote since the last look.
type rights struct {
	mu     sync.Mutex
	list   []db.Right
	before func() // called once, before the next write; may be nil
}

// note notes the right of a write, before it begins.
func (r *rights) note(ctx context.Context, right db.Right) {
	if i := web.From(ctx); i.ID == "" || i.ForHook {
		return // a worker's
	}
	r.mu.Lock()
	r.list = append(r.list, right)
	before := r.before
	r.before = nil
	r.mu.Unlock()
	if before != nil {
		before()
	}
}

// take returns the rights since the last look.
func (r *rights) take() []db.Right {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list, r.before = nil, nil
	return list
}

// needsNoWrite reports an unsafe request that changes nothing in the database, so no write asks for its right.
func needsNoWrite(r *route.Route) bool {
	return readsOnly(r) || r.Group == route.Git || strings.HasSuffix(r.Pattern, "/generate-notes")
}

// byRight checks the rights by which a request wrote: on a repository's route the access to a repository, else the
// caller. [db.Server] may be among them, for what the server notes itself, but not alone.
func (m *matrix) byRight(t *testing.T, q *fixture.Request, list []db.Right) {
	t.Helper()
	asked := false
	for _, right := range list {
		switch right := right.(type) {
		case *repo.Access:
			asked = true
		case *account.Caller:
			asked = true
			// A star of a public repository is one statement, which finds the repository.
			if onRepo(q.Route) && !strings.HasPrefix(q.Route.Pattern, "/user/starred/") {
				t.Errorf("%s wrote by the right of the caller, not by that to the repository", q.Do)
			}
			if right == nil {
				t.Errorf("%s wrote without a caller", q.Do)
			}
		}
	}
	if !asked && !q.Route.Nobody && !needsNoWrite(q.Route) {
		t.Errorf("%s wrote by no right of the caller: %v", q.Do, list)
	}
}

func writes(m *matrix, q *fixture.Request, h *fixture.Home) bool {
	return ends(m, q, h) && onRepo(q.Route) && h.Private && !needsNoWrite(q.Route)
}

// demotedBeforeWriting takes the role away when the request is about to write: all that is checked before was.
func (m *matrix) demotedBeforeWriting(t *testing.T, q *fixture.Request) {
	t.Helper()
	demoted := false
	m.rights.take()
	m.rights.before = func() {
		demoted = true
		m.sql(t, takenFrom(q.Who), q.Repo, q.Who)
	}
	a := m.ask(t, q.Who, q.Case)
	m.rights.take()
	if demoted {
		m.regrant(t, q.Repo, q.Who)
	}
	if !demoted || a.Status != http.StatusNotFound {
		t.Errorf("%s by %s, who lost the role before it wrote (%v): %d %s", q.Do, q.Who, demoted, a.Status, a.Body)
	}
}

// An operation that forgets whose right it uses does not write within a request, and does for a command.
func TestForgottenRight(t *testing.T) {
	t.Parallel()
	var c *account.Caller
	d := dbtest.Open(t, db.SQLite)
	for _, forgotten := range []db.Right{nil, c, &repo.Access{Repo: &repo.Repo{}, Role: account.Admin}} {
		err := d.WriteAs(db.WithRightRequired(t.Context()), forgotten, func(*db.Tx) error { return nil })
		if err == nil || err.Error() != db.ErrNoRight.Error() {
			t.Errorf("%T: %v", forgotten, err)
		}
		testkit.NoError(t, d.WriteAs(t.Context(), forgotten, func(*db.Tx) error { return nil }))
	}
}
