package hook

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// Telling describes an event and its receivers, in its transaction.
type Telling struct {
	Event
	RepoID repo.ID    // 0: the event is an organization's
	Owner  account.ID // the account that the event is about, if not a repository; else 0
	Hook   *Hook      // the only receiver; nil: any
	Told   []byte     // what the payload needs of the database; nil: its subject was deleted
}

type tellerKey struct{}

// Attach sets the renderer of payloads for all transactions of the database. Without it, payloads are
// rendered when they are sent.
func Attach(d *db.DB, r Renderer) { d.Attach(tellerKey{}, r) }

// rows are deliveries that a transaction added, for which it renders what their payloads need.
type rows struct {
	mark int64 // the first's; each event has the next one
	list []*Telling
}

// newRows returns rows for events, not yet rendered.
func newRows(list []Event, as Telling) *rows {
	r := &rows{mark: rand.Int64N(1 << 62), list: make([]*Telling, len(list))}
	for n, e := range list {
		one := as
		one.Event = e
		r.list[n] = &one
	}
	return r
}

// insert runs the statement that adds the rows. What they need is rendered at the transaction's end.
func (r *rows) insert(tx *db.Tx, query string, args ...any) error {
	teller, _ := tx.Attached(tellerKey{}).(Renderer)
	if teller == nil {
		return tx.SendRing(Topic, query, args...)
	}
	return tx.SendThen(Topic, query, func(tx *db.Tx) error { return r.render(tx, teller) }, args...)
}

// render renders what the payloads need. Failures are left to the sender, which reports them, so that they
// do not prevent closing an issue.
func (r *rows) render(tx *db.Tx, teller Renderer) error {
	list, err := r.wanted(tx)
	if err != nil || safely(func() error { return teller.Tell(tx, list) }) != nil {
		return err
	}
	room := maxTold
	for n, one := range r.list {
		if one.Told == nil || room <= 0 {
			continue
		}
		room -= len(one.Told)
		err := tx.Run(`INSERT INTO hook_told (mark, told) VALUES ($1, $2)`, r.mark+int64(n), one.Told)
		if err != nil {
			return err
		}
	}
	return nil
}

// maxTold is how many bytes the events of one statement store of what payloads need: a request that labels an
// issue causes an event for each label, with the whole issue. Beyond it, payloads show the
// state when they are sent.
const maxTold = 1 << 20

// wanted are the events that some hook wants to know of.
func (r *rows) wanted(tx *db.Tx) ([]*Telling, error) {
	if len(r.list) == 1 {
		return r.list, nil
	}
	marks, err := db.QueryIDs[int64](tx, `SELECT DISTINCT mark FROM hook_deliveries
		WHERE mark BETWEEN $1 AND $2 ORDER BY mark`, r.mark, r.mark+int64(len(r.list))-1)
	var list []*Telling
	for _, mark := range marks {
		list = append(list, r.list[mark-r.mark])
	}
	return list, err
}

// safely calls fn. A panic is an error.
func safely(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("hook: rendering panics: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}

// Watched returns the condition that a repository r or its owner has webhooks, or its owner has an App
// installed: events may have recipients.
func Watched(r string) string {
	return `(EXISTS (SELECT 1 FROM hooks h WHERE h.repo_id = ` + r + `.id)
		OR EXISTS (SELECT 1 FROM hooks h WHERE h.org_id = ` + r + `.owner_id)
		OR EXISTS (SELECT 1 FROM installations i WHERE i.account_id = ` + r + `.owner_id))`
}

// watched queries whether a repository is watched.
var watched = `SELECT COUNT(*) FROM repos r WHERE r.id = $1 AND ` + Watched("r")

type watchedKey struct{ repo repo.ID }

// Watch determines whether events of a repository may have recipients. If not, the transaction does not
// record any.
func Watch(tx *db.Tx, repoID repo.ID) error {
	var n int64
	err := tx.QueryRow(watched, repoID).Scan(&n)
	tx.Attach(watchedKey{repoID}, n > 0)
	return err
}

// unwatched reports whether Watch found no recipients.
func unwatched(tx *db.Tx, repoID repo.ID) bool {
	is, known := tx.Attached(watchedKey{repoID}).(bool)
	return known && !is
}

// TellStar renders what triggers recorded of a star (14_hooks.sql of the schema), in the transaction that
// added it or took it off.
func TellStar(tx *db.Tx, repoID repo.ID, by account.ID, events ...Event) error {
	for n := range events {
		events[n].Actor = by
	}
	r := newRows(events, Telling{RepoID: repoID})
	for n, e := range events {
		one := &rows{r.mark + int64(n), r.list[n : n+1]}
		err := one.insert(tx, `UPDATE hook_deliveries SET mark = $1 WHERE state = 0
			AND payload IS NULL AND mark IS NULL AND repo_id = $2 AND actor_id = $3 AND event = $4
			AND action = $5 AND hook_id IN (SELECT h.id FROM hooks h WHERE h.repo_id = $2
				OR h.org_id = (SELECT owner_id FROM repos WHERE id = $2)
				OR h.app_id IN (SELECT i.app_id FROM installations i
					WHERE i.account_id = (SELECT owner_id FROM repos WHERE id = $2)))`,
			one.mark, repoID, by, e.Name, e.Action)
		if err != nil {
			return err
		}
	}
	return nil
}
