package server_test

import (
	"cmp"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testenv"
	"arbor/internal/test/testkit"
)

// states lists states in which a permitted caller's change must not succeed. Each is set in the store, so
// the server's caches do not know it, as if it began during the request. To add a state, add a line.
var states = []struct {
	name    string
	applies func(m *matrix, q *fixture.Request, h *fixture.Home) bool
	try     func(m *matrix, t *testing.T, q *fixture.Request)
}{
	{"the repository is archived", takesNoMore, (*matrix).archived},
	{"the token was revoked", ends, ended(http.StatusUnauthorized,
		`UPDATE tokens SET revoked_at = 1 WHERE account_id = (SELECT id FROM accounts WHERE login = $1)`,
		`UPDATE tokens SET revoked_at = NULL WHERE account_id = (SELECT id FROM accounts WHERE login = $1)`)},
	{"the caller was suspended", ends, ended(http.StatusForbidden,
		`UPDATE accounts SET suspended_at = 1 WHERE login = $1`,
		`UPDATE accounts SET suspended_at = NULL WHERE login = $1`)},
	{"the caller must have a second factor", ends, ended(http.StatusForbidden,
		`INSERT INTO factor_rules (org_id, begins_at, in_force) SELECT NULL, 1, TRUE FROM accounts WHERE login = $1`,
		`DELETE FROM factor_rules WHERE $1 <> ''`)},
	{"the caller was demoted", ofSiteAdmins, ended(http.StatusForbidden,
		`UPDATE accounts SET site_admin = FALSE WHERE login = $1`,
		`UPDATE accounts SET site_admin = TRUE WHERE login = $1`)},
	{"the role is lost while the request waits", waits, (*matrix).demotedWhileWaiting},
	{"the role is lost before the write", writes, (*matrix).demotedBeforeWriting},
	{"the role is lost while the body comes", sends, (*matrix).demotedWhileSending},
}

func takesNoMore(m *matrix, q *fixture.Request, h *fixture.Home) bool {
	return onRepo(q.Route) && (h == m.Homes[1] || testenv.Long) && !q.Route.Archived
}

// archived holds that an archived repository is read-only for everybody, also for administrators of the site.
func (m *matrix) archived(t *testing.T, q *fixture.Request) {
	t.Helper()
	m.sql(t, `UPDATE repos SET archived = TRUE WHERE name = $1`, q.Repo)
	for _, who := range []string{q.Who, "chief"} {
		if a := m.ask(t, who, q.Case); a.Status != http.StatusForbidden ||
			!strings.Contains(string(a.Body), "Repository was archived so is read-only.") {
			t.Errorf("%s by %s in an archived repository: %d %s", q.Do, who, a.Status, a.Body)
		}
	}
	m.sql(t, `UPDATE repos SET archived = FALSE WHERE name = $1`, q.Repo)
}

// ends applies to all changes by users. Packages app and page/settings test changes by Apps, pushes have
// their own tests, and inspectors are not accounts that can be suspended.
func ends(_ *matrix, q *fixture.Request, h *fixture.Home) bool {
	r := q.Route
	return r.Right != route.App && r.Right != route.Installation && !r.Nobody && !readsOnly(r) &&
		r.Group != route.Git && h.Owner == "guild" && !q.ByInspector()
}

func ofSiteAdmins(m *matrix, q *fixture.Request, h *fixture.Home) bool {
	return ends(m, q, h) && q.Route.Right == route.SiteAdmin
}

// ended asks as a caller whose use of the server ends.
func ended(status int, end, begin string) func(m *matrix, t *testing.T, q *fixture.Request) {
	return func(m *matrix, t *testing.T, q *fixture.Request) {
		t.Helper()
		m.OK(t, q.Who, "GET /user", "")
		m.sql(t, end, q.Who)
		if a := m.ask(t, q.Who, q.Case); a.Status != status {
			t.Errorf("%s by %s after %s: %d %s", q.Do, q.Who, end, a.Status, a.Body)
		}
		m.sql(t, begin, q.Who)
	}
}

// waits reports requests that wait for the holder of the writer, or on PostgreSQL of the
// repository's row. In the others only the body can come between the check and the write.
func waits(m *matrix, q *fixture.Request, h *fixture.Home) bool {
	never := []string{"/git/trees", "/git/blobs", "/git/commits", "/git/tags", "/generate-notes"}
	if m.Engine == db.PostgreSQL {
		never = append(never, "/statuses/", "/reactions", "/subscription", "/notifications", "/user/starred")
	}
	return ends(m, q, h) && onRepo(q.Route) && h.Private &&
		!slices.ContainsFunc(never, func(part string) bool { return strings.Contains(q.Do, part) })
}

func sends(m *matrix, q *fixture.Request, h *fixture.Home) bool {
	return ends(m, q, h) && onRepo(q.Route) && h.Private && q.Send != ""
}

// theRepository is the organization's repository of a name, $1.
const theRepository = `(SELECT r.id FROM repos r JOIN accounts o ON o.id = r.owner_id
	WHERE r.name = $1 AND o.login = 'guild')`

// Statements that take a role and give it back: name $1, login $2. An owner of the organization needs no role
// in a repository.
const (
	granted = `INSERT INTO collaborators (repo_id, user_id, role, created_at)
		SELECT ` + theRepository + `, a.id, CAST($3 AS SMALLINT), 1 FROM accounts a WHERE a.login = $2`
	taken = `DELETE FROM collaborators WHERE repo_id = ` + theRepository + `
		AND user_id = (SELECT id FROM accounts WHERE login = $2)`
	joined = `INSERT INTO members (org_id, user_id, owner, created_at)
		SELECT o.id, a.id, TRUE, 1 FROM accounts o, accounts a WHERE o.login = 'guild' AND a.login = $2
			AND CAST($1 AS TEXT) <> ''`
	left = `DELETE FROM members WHERE org_id = (SELECT id FROM accounts WHERE login = 'guild')
		AND user_id = (SELECT id FROM accounts WHERE login = $2) AND CAST($1 AS TEXT) <> ''`
)

// takenFrom is the statement that takes away what somebody has.
func takenFrom(who string) string {
	if who == "owner" {
		return left
	}
	return taken
}

// regrant restores the right.
func (m *matrix) regrant(t *testing.T, name, who string) {
	t.Helper()
	if who == "owner" {
		m.sql(t, joined, name, who)
		return
	}
	m.sql(t, granted, name, who, int64(fixture.Granted[who]))
}

// writing is how many transactions that write are under way in the server.
func (m *matrix) writing() int64 { return m.DB.Transactions()[1].UnderWay }

// awaitWrite returns when the server writes more than it did, and had time to come to wait for others. Should
// it not, the request is refused all the sooner.
func (m *matrix) awaitWrite(since int64) {
	for end := time.Now().Add(300 * time.Millisecond); m.writing() <= since && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
}

// demotedWhileWaiting holds all writers up until the request waits among them,
// and takes the role away before it comes to its turn.
func (m *matrix) demotedWhileWaiting(t *testing.T, q *fixture.Request) {
	t.Helper()
	answered := make(chan *apitest.Answer, 1)
	var once sync.Once
	err := m.holder.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE repos SET owner_id = owner_id WHERE id = `+theRepository, q.Repo)
		if err != nil {
			return err
		}
		once.Do(func() {
			since := m.writing()
			go func() { answered <- m.ask(t, q.Who, q.Case) }()
			m.awaitWrite(since)
		})
		_, err = tx.Exec(takenFrom(q.Who), q.Repo, q.Who)
		return err
	})
	testkit.NoError(t, err)
	a := <-answered
	m.regrant(t, q.Repo, q.Who)
	if a.Status != http.StatusNotFound {
		t.Errorf("%s by %s, who lost the role while the request waited: %d %s", q.Do, q.Who, a.Status, a.Body)
	}
}

// demotedWhileSending sends half of the body once the server asks for it, and the rest when the role is gone.
func (m *matrix) demotedWhileSending(t *testing.T, q *fixture.Request) {
	t.Helper()
	var begun atomic.Bool // the body is being read: all that is checked before it was
	half := len(q.Send) / 2
	body := io.MultiReader(strings.NewReader(q.Send[:half]), readerFunc(func([]byte) (int, error) {
		begun.Store(true)
		err := m.DB.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(takenFrom(q.Who), q.Repo, q.Who)
			return err
		})
		return 0, cmp.Or(err, io.EOF)
	}), strings.NewReader(q.Send[half:]))
	method, path, _ := strings.Cut(q.Do, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, m.URL+path, body)
	testkit.NoError(t, err)
	for name, value := range q.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Authorization", "Bearer "+m.TokenOf(t, q.Who))
	r.Header.Set("Expect", "100-continue")
	client := http.Transport{ExpectContinueTimeout: testkit.Patience, DisableKeepAlives: true}
	a, err := client.RoundTrip(r)
	testkit.NoError(t, err)
	text, _ := io.ReadAll(a.Body)
	a.Body.Close()
	if begun.Load() {
		m.regrant(t, q.Repo, q.Who)
	}
	// A route that reads no body was done before the role went.
	ignores := strings.Contains(path, "/git-") || strings.Contains(path, "/user/starred")
	if a.StatusCode != http.StatusNotFound && !ignores {
		t.Errorf("%s by %s, who lost the role while the body came: %d %s", q.Do, q.Who, a.StatusCode, text)
	}
}

// readerFunc is an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
