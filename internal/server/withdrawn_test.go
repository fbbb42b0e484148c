package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/graphql"
	"arbor/internal/route"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// A request may be long under way: its body trickles, its merge takes a while.
// A caller who loses the right meanwhile must not write any more. Every unsafe route
// is asked for by a caller who may, and the right is withdrawn between its check and the
// write.
func TestRightsAreAskedAgainWhereTheyAreUsed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.URL(t, engine)
		s := apitest.Start(t, engine, func(o *server.Options) { o.DB = dbtest.OpenURL(t, address) })
		// Another process's handle, as it were. The transaction that holds others up must not run twice.
		holder, err := db.Open(t.Context(), db.Options{URL: address})
		if err != nil {
			t.Fatal(err)
		}
		defer holder.Close()
		w := newWalker(t, s)
		w.Build(t, "guild", "nightshade", true)
		for _, r := range fixture.Walked(s.Server.Routes()) {
			if r.Right == route.App || r.Right == route.Installation || r.Nobody {
				continue // packages app and page/settings test what becomes of these
			}
			if r.Method == http.MethodGet || readsOnly(&r) || r.Group == route.Git && r.Right != route.Push {
				continue
			}
			if !onRepo(&r) {
				w.endedGlobally(t, &r)
				continue
			}
			for _, h := range w.Homes {
				if h.Owner == "guild" {
					w.withdrawn(t, &r, h, holder)
				}
			}
		}
	})
}

// readsOnly reports a POST that changes nothing. GraphQL changes things by other routes.
func readsOnly(r *route.Route) bool {
	return strings.HasPrefix(r.Pattern, "/markdown") || graphql.IsRoute(r.Pattern)
}

// writing is how many transactions that write are under way in the server.
func (w *walker) writing() int64 { return w.DB.Transactions()[1].UnderWay }

// awaitWrite returns when the server writes more than it did, and had time to come to wait for others. Should
// it not, the request is refused all the sooner.
func (w *walker) awaitWrite(since int64) {
	for end := time.Now().Add(300 * time.Millisecond); w.writing() <= since && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
}

// withdrawn tries one route in one repository.
func (w *walker) withdrawn(t *testing.T, r *route.Route, h *fixture.Home, holder *db.DB) {
	t.Helper()
	if r.Group == route.Git {
		return // pushes have tests of their own, see repo's TestPushAfter...
	}
	q := w.Request(t, r, h)
	if q.ByInspector() {
		return // it is no account that could be suspended
	}
	c, who, name := q.Case, q.Who, q.Repo

	before := w.digest(t)
	w.ended(t, who, c)
	if !h.Private {
		w.unchanged(t, c, before)
		return
	}
	if w.waits(c) {
		w.demotedWhileWaiting(t, who, name, c, holder)
	}
	if c.Send != "" {
		w.demotedWhileSending(t, who, name, c)
	}
	w.unchanged(t, c, before)
	if a := w.ask(t, who, c); a.Status >= 300 {
		t.Errorf("%s by %s, whose right it is: %d %s", c.Do, who, a.Status, a.Body)
	}
}

// waits reports requests that wait for the holder of the writer, or on PostgreSQL of the
// repository's row. In the others only the body can come between the check and the write.
func (w *walker) waits(c apitest.Case) bool {
	never := []string{"/git/trees", "/git/blobs", "/git/commits", "/git/tags", "/generate-notes"}
	if w.Engine == db.PostgreSQL {
		never = append(never, "/statuses/", "/reactions", "/subscription", "/notifications", "/user/starred")
	}
	return !slices.ContainsFunc(never, func(part string) bool { return strings.Contains(c.Do, part) })
}

func (w *walker) unchanged(t *testing.T, c apitest.Case, before []string) {
	t.Helper()
	for i, after := range w.digest(t) {
		if after != before[i] {
			t.Errorf("%s changed something after the right was withdrawn: %s\nbefore %s\nafter  %s", c.Do,
				holdings[i], before[i], after)
		}
	}
}

// endings are how a caller's use of the server ends, and begins again.
var endings = []struct {
	what, end, begin string
	status           int
}{
	{"whose token was revoked", `UPDATE tokens SET revoked_at = 1
		WHERE account_id = (SELECT id FROM accounts WHERE login = $1)`, `UPDATE tokens SET revoked_at = NULL
		WHERE account_id = (SELECT id FROM accounts WHERE login = $1)`, http.StatusUnauthorized},
	{"who was suspended", `UPDATE accounts SET suspended_at = 1 WHERE login = $1`,
		`UPDATE accounts SET suspended_at = NULL WHERE login = $1`, http.StatusForbidden},
}

// ended asks with a token that ended in the store without a new generation, so the
// server's cache still has it: as if it ended while the request is under way.
func (w *walker) ended(t *testing.T, who string, c apitest.Case) {
	t.Helper()
	for _, e := range endings {
		w.OK(t, who, "GET /user", "")
		w.sql(t, e.end, who)
		if a := w.ask(t, who, c); a.Status != e.status {
			t.Errorf("%s by %s, %s meanwhile: %d %s", c.Do, who, e.what, a.Status, a.Body)
		}
		w.sql(t, e.begin, who)
	}
}

// demoted asks as a site administrator who is none any more.
func (w *walker) demoted(t *testing.T, who string, c apitest.Case) {
	t.Helper()
	w.OK(t, who, "GET /user", "")
	w.sql(t, `UPDATE accounts SET site_admin = FALSE WHERE login = $1`, who)
	defer w.sql(t, `UPDATE accounts SET site_admin = TRUE WHERE login = $1`, who)
	if a := w.ask(t, who, c); a.Status != http.StatusForbidden {
		t.Errorf("%s by %s, who was demoted meanwhile: %d %s", c.Do, who, a.Status, a.Body)
	}
}

// endedGlobally is ended for a route of no repository.
func (w *walker) endedGlobally(t *testing.T, r *route.Route) {
	t.Helper()
	q := w.Request(t, r, w.Homes[0])
	before := w.digest(t)
	w.ended(t, q.Who, q.Case)
	if r.Right == route.SiteAdmin {
		w.demoted(t, q.Who, q.Case)
	}
	w.unchanged(t, q.Case, before)
}

// theRepository is the organization's repository of a name, $1.
const theRepository = `(SELECT r.id FROM repos r JOIN accounts o ON o.id = r.owner_id
	WHERE r.name = $1 AND o.login = 'guild')`

const (
	granted = `INSERT INTO collaborators (repo_id, user_id, role, created_at)
		SELECT ` + theRepository + `, a.id, CAST($3 AS SMALLINT), 1 FROM accounts a WHERE a.login = $2`
	taken = `DELETE FROM collaborators WHERE repo_id = ` + theRepository + `
		AND user_id = (SELECT id FROM accounts WHERE login = $2)`
)

// The same for an owner of the organization, who needs no role.
const (
	joined = `INSERT INTO members (org_id, user_id, owner, created_at)
		SELECT o.id, a.id, TRUE, 1 FROM accounts o, accounts a WHERE o.login = 'guild' AND a.login = $2
			AND CAST($1 AS TEXT) <> ''`
	left = `DELETE FROM members WHERE org_id = (SELECT id FROM accounts WHERE login = 'guild')
		AND user_id = (SELECT id FROM accounts WHERE login = $2) AND CAST($1 AS TEXT) <> ''`
)

// takenFrom is the statement that takes away what somebody has: name $1, login $2.
func takenFrom(who string) string {
	if who == "owner" {
		return left
	}
	return taken
}

// regrant gives it back.
func (w *walker) regrant(t *testing.T, name, who string) {
	t.Helper()
	if who == "owner" {
		w.sql(t, joined, name, who)
		return
	}
	w.sql(t, granted, name, who, map[string]int{"reader": 1, "writer": 2, "keeper": 3}[who])
}

// demotedWhileWaiting holds all writers up until the request waits among them,
// and takes the role away before it comes to its turn.
func (w *walker) demotedWhileWaiting(t *testing.T, who, name string, c apitest.Case, holder *db.DB) {
	t.Helper()
	answered := make(chan *apitest.Answer, 1)
	var once sync.Once
	err := holder.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE repos SET owner_id = owner_id WHERE id = `+theRepository, name)
		if err != nil {
			return err
		}
		once.Do(func() {
			since := w.writing()
			go func() { answered <- w.ask(t, who, c) }()
			w.awaitWrite(since)
		})
		_, err = tx.Exec(takenFrom(who), name, who)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	a := <-answered
	w.regrant(t, name, who)
	if a.Status != http.StatusNotFound {
		t.Errorf("%s by %s, who lost the role while the request waited: %d %s", c.Do, who, a.Status, a.Body)
	}
}

// demotedWhileSending sends half of the body once the server asks for it, and the rest when the role is gone.
func (w *walker) demotedWhileSending(t *testing.T, who, name string, c apitest.Case) {
	t.Helper()
	conn, err := net.Dial("tcp", w.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(testkit.Patience))
	method, path, _ := strings.Cut(c.Do, " ")
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, w.Address)
	fmt.Fprintf(&head, "Authorization: Bearer %s\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n",
		w.Tokens[who])
	for key, value := range c.Headers {
		fmt.Fprintf(&head, "%s: %s\r\n", key, value)
	}
	head.WriteString("\r\n")
	half := len(c.Send) / 2
	chunk := func(text string) string {
		return strconv.FormatInt(int64(len(text)), 16) + "\r\n" + text + "\r\n"
	}
	send := func(text string) {
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
	}
	answers := bufio.NewReader(conn)
	next := func() *http.Response {
		a, err := http.ReadResponse(answers, &http.Request{Method: method})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	send(head.String())
	a := next()
	if a.StatusCode == http.StatusContinue { // the body is being read: all that is checked before it was
		send(chunk(c.Send[:half]))
		w.sql(t, takenFrom(who), name, who)
		send(chunk(c.Send[half:]) + "0\r\n\r\n")
		a = next()
		w.regrant(t, name, who)
	}
	body, _ := io.ReadAll(a.Body)
	// A route that reads no body was done before the role went.
	ignores := slices.ContainsFunc([]string{"/git-", "/user/starred"}, func(part string) bool {
		return strings.Contains(path, part)
	})
	if a.StatusCode != http.StatusNotFound && !ignores {
		t.Errorf("%s by %s, who lost the role while the body came: %d %s", c.Do, who, a.StatusCode, body)
	}
}

// sql runs a statement beside the server.
func (w *walker) sql(t *testing.T, statement string, args ...any) {
	t.Helper()
	err := w.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(statement, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// holdings are what requests change, one text a row.
var holdings = []string{
	`SELECT CAST(repo_id AS TEXT) || name || sha FROM refs WHERE name NOT LIKE 'refs/pull/%'`,
	`SELECT CAST(id AS TEXT) || CAST(owner_id AS TEXT) || '/' || name || COALESCE(description, '') FROM repos`,
	`SELECT CAST(id AS TEXT) || title || COALESCE(body, '') || CAST(state AS TEXT) || labels || assignees
		|| CAST(locked AS TEXT) FROM issues`,
	`SELECT CAST(id AS TEXT) || body FROM issue_comments`,
	`SELECT CAST(id AS TEXT) || name || color FROM labels`,
	`SELECT CAST(id AS TEXT) || title || COALESCE(description, '') FROM milestones`,
	`SELECT CAST(id AS TEXT) || body || CAST(state AS TEXT) FROM reviews`,
	`SELECT CAST(id AS TEXT) || body FROM review_comments`,
	`SELECT CAST(issue_id AS TEXT) || '/' || CAST(user_id AS TEXT) FROM requested_reviewers`,
	`SELECT CAST(id AS TEXT) FROM statuses`,
	`SELECT CAST(id AS TEXT) || tag || COALESCE(body, '') || CAST(draft AS TEXT) FROM releases`,
	`SELECT CAST(id AS TEXT) || name || COALESCE(label, '') FROM release_assets`,
	`SELECT CAST(id AS TEXT) || name FROM attachments`,
	`SELECT CAST(id AS TEXT) FROM reactions`,
	`SELECT CAST(user_id AS TEXT) || '/' || CAST(repo_id AS TEXT) FROM stars`,
	`SELECT CAST(user_id AS TEXT) || '/' || CAST(repo_id AS TEXT) FROM watches`,
	`SELECT CAST(issue_id AS TEXT) || '/' || CAST(user_id AS TEXT) FROM issue_subscriptions`,
	`SELECT CAST(user_id AS TEXT) || '/' || CAST(target_id AS TEXT) FROM followers`,
	`SELECT CAST(user_id AS TEXT) || '/' || CAST(repo_id AS TEXT) || CAST(role AS TEXT) FROM collaborators`,
	`SELECT CAST(org_id AS TEXT) || '/' || CAST(user_id AS TEXT) || CAST(owner AS TEXT)
		|| CAST(public AS TEXT) FROM members`,
	`SELECT login || COALESCE(bio, '') || CAST(site_admin AS TEXT) || COALESCE(CAST(suspended_at AS TEXT), '')
		FROM accounts`,
	`SELECT CAST(id AS TEXT) || name FROM plants`,
}

// digest reads the holdings.
func (w *walker) digest(t *testing.T) []string {
	t.Helper()
	w.settle(t)
	out := make([]string, len(holdings))
	err := w.DB.Read(t.Context(), func(tx *db.Tx) error {
		for i, query := range holdings {
			rows, err := tx.Query(query)
			if err != nil {
				return fmt.Errorf("%s: %w", query, err)
			}
			var list []string
			for rows.Next() {
				var text string
				if err := rows.Scan(&text); err != nil {
					rows.Close()
					return fmt.Errorf("%s: %w", query, err)
				}
				list = append(list, text)
			}
			if err := rows.Err(); err != nil {
				return err
			}
			slices.Sort(list)
			out[i] = strings.Join(list, "\n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
