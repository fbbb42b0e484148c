package audit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/db"
)

// Event is a row of the log.
type Event struct {
	ID        int64
	CreatedAt db.Time
	Action    Action
	Actor     Actor
	Org       Named
	User      Named
	Repo      Named
	Changes   json.RawMessage // an object
}

func insert(tx *db.Tx, e *Entry, by *Actor, allowed, changes string) (n int64, err error) {
	err = tx.QueryRow(`INSERT INTO audit (created_at, action, actor_id, actor, address, token_id, allowed,
			request, org_id, org, user_id, user_login, repo_id, repo, changes)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING id`,
		tx.Now, string(e.Action), id(by.ID), name(by.Login), name(by.Address), id(by.TokenID), allowed,
		name(by.Request),
		id(e.Org.ID), name(e.Org.Name), id(e.User.ID), name(e.User.Name), id(e.Repo.ID),
		name(e.Repo.Name), changes).Scan(&n)
	return n, err
}

// id is NULL for 0.
func id(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// name is NULL for an empty text.
func name(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Filter chooses among the events. What is zero does not matter.
type Filter struct {
	OrgID   int64
	Actions []Action // one of them
	Actor   string   // a login, in any case
	Repo    string   // OWNER/NAME, in any case
	From    db.Time
	Until   db.Time // exclusive

	Ascending bool // the oldest first
	After     Cursor
	Before    Cursor // the page that ends here; not with After
}

// mostActions bounds the parts of a query. All actions of one category are fewer.
const mostActions = 30

// List returns at most limit events, and whether more follow in the direction in which the
// cursor leads. Each index serves one filter with the order, so a page costs what it shows.
func List(tx *db.Tx, f Filter, limit int) (list []Event, more bool, err error) {
	text, args := compile(&f, limit+1)
	list, err = db.QueryList(tx, scan, text, args...)
	if more = len(list) > limit; more {
		list = list[:limit]
	}
	if f.backwards() {
		slices.Reverse(list)
	}
	return list, more, err
}

// compile builds the statement for the first limit events: it merges one index walk for each
// action.
func compile(f *Filter, limit int) (text string, args []any) {
	q := &query{filter: f}
	if len(f.Actions) == 0 {
		return q.part("", limit), q.args
	}
	var parts []string
	for i, a := range f.Actions[:min(len(f.Actions), mostActions)] {
		parts = append(parts, fmt.Sprintf(`SELECT * FROM (%s) x%d`, q.part(a, limit), i))
	}
	text = fmt.Sprintf(`SELECT * FROM (%s) x ORDER BY %s LIMIT %d`, strings.Join(parts, ` UNION ALL `),
		q.order(), limit)
	return text, q.args
}

// columns are what scan reads.
const columns = `id, created_at, action, actor_id, actor, address, token_id, allowed, request,
	org_id, org, user_id, user_login, repo_id, repo, changes`

func scan(row db.Scanner) (e Event, err error) {
	var actorID, tokenID, orgID, userID, repoID *int64
	var actor, address, request, org, user, repo *string
	var action, changes string
	err = row.Scan(&e.ID, &e.CreatedAt, &action, &actorID, &actor, &address, &tokenID,
		&e.Actor.Right, &request, &orgID, &org, &userID, &user, &repoID, &repo, &changes)
	e.Action, e.Changes = Action(action), json.RawMessage(changes)
	e.Actor.ID, e.Actor.Login, e.Actor.Address = value(actorID), value(actor), value(address)
	e.Actor.TokenID, e.Actor.Request = value(tokenID), value(request)
	e.Org, e.User = Named{value(orgID), value(org)}, Named{value(userID), value(user)}
	e.Repo = Named{value(repoID), value(repo)}
	return e, err
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// query returns the SQL of a list.
type query struct {
	filter *Filter
	args   []any
}

// backwards says that the page lies before its cursor: it is read from there.
func (f *Filter) backwards() bool { return f.Before != Cursor{} }

// descends says that the statement reads the newest first.
func (q *query) descends() bool { return q.filter.Ascending == q.filter.backwards() }

func (q *query) order() string {
	if q.descends() {
		return `created_at DESC, id DESC`
	}
	return `created_at, id`
}

func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return fmt.Sprintf(`$%d`, len(q.args))
}

// part selects the first limit events of an action; empty: of all actions.
func (q *query) part(a Action, limit int) string {
	f := q.filter
	where := q.where()
	if f.OrgID != 0 {
		where += ` AND org_id = ` + q.arg(f.OrgID)
	}
	if a != "" {
		where += ` AND action = ` + q.arg(string(a))
	}
	at, compare := f.After, `>`
	if f.backwards() {
		at = f.Before
	}
	if q.descends() {
		compare = `<`
	}
	if at != (Cursor{}) {
		where += ` AND (created_at, id) ` + compare + ` (` + q.arg(at.CreatedAt) + `, ` + q.arg(at.ID) + `)`
	}
	return `SELECT ` + columns + `
		FROM audit WHERE ` + where + ` ORDER BY ` + q.order() + fmt.Sprintf(` LIMIT %d`, limit)
}

// where returns the conditions of the filter about actors, repositories and times.
func (q *query) where() string {
	f, where := q.filter, `TRUE`
	if f.Actor != "" {
		where += ` AND lower(actor) = ` + q.arg(strings.ToLower(f.Actor))
	}
	if f.Repo != "" {
		where += ` AND lower(repo) = ` + q.arg(strings.ToLower(f.Repo))
	}
	if f.From != 0 {
		where += ` AND created_at >= ` + q.arg(f.From)
	}
	if f.Until != 0 {
		where += ` AND created_at < ` + q.arg(f.Until)
	}
	return where
}

// pruning is the one row that says which node removes old events.
var pruning = db.Jobs{Table: "audit_pruning", Key: "id"}

// takeTurn holds the row until the transaction ends; false if another node does.
func takeTurn(tx *db.Tx) (bool, error) {
	_, err := tx.Exec(`INSERT INTO audit_pruning (id, due_at) VALUES (1, 0) ON CONFLICT (id) DO NOTHING`)
	if err != nil {
		return false, err
	}
	l, err := pruning.Take(tx, 0, 1, `TRUE`)
	return l != nil, err
}

// anyBefore reports an event that is older.
func anyBefore(tx *db.Tx, before db.Time) (found bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM audit WHERE created_at < $1)`, before).Scan(&found)
	return found, err
}

// removeBefore removes at most so many events that are older.
func removeBefore(tx *db.Tx, before db.Time, most int) (removed int64, err error) {
	return tx.Exec(`DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE created_at < $1
		ORDER BY created_at, id LIMIT $2)`,
		before, most)
}

// mostOfEach is how many of the newest events of an organization PageOfEach finds, so that counting them costs
// little.
const mostOfEach = 1000

// PageOfEach reads a page of the events of each of several organizations, and how many there are, with a fixed
// number of statements. The filter's actions must be given; its organization and cursors do not count.
func PageOfEach[K ~int64](
	tx *db.Tx, orgs []K, f Filter, offset, size int64,
) (map[K]*db.ListPage[int64], map[int64]Event, error) {
	q := &query{filter: &f}
	f.After, f.Before = Cursor{}, Cursor{}
	actions := make([]string, len(f.Actions))
	for n, a := range f.Actions {
		actions[n] = q.arg(string(a))
	}
	where := q.where() + ` AND action IN (` + strings.Join(actions, ", ") + `)`
	pages, err := db.PageOfEach[K, int64](tx, orgs, db.Lists[K]{Columns: `id, 0`, Order: q.order(),
		From: func(_ K, param string) string {
			return fmt.Sprintf(` FROM (SELECT id, created_at FROM audit WHERE org_id = %s AND %s
				ORDER BY created_at DESC, id DESC LIMIT %d) a`, param, where, mostOfEach)
		}}, offset, size, q.args...)
	if err != nil {
		return nil, nil, err
	}
	found := map[int64]Event{}
	return pages, found, db.InParts(db.ListedIDs(pages), func(ids []int64) error {
		list, err := db.QueryList(tx, scan, `SELECT `+columns+` FROM audit WHERE id IN `+db.Values(1, len(ids)),
			db.Args(ids)...)
		for _, e := range list {
			found[e.ID] = e
		}
		return err
	})
}
