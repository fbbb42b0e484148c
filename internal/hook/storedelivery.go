package hook

import (
	"encoding/json"
	"errors"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// State is the state of a delivery.
type State int64

// The states, as they are stored.
const (
	Waiting State = iota
	Succeeded
	Failed // for good
)

// Delivery is a row of the table hook_deliveries.
type Delivery struct {
	ID     int64
	HookID int64
	RepoID repo.ID    // 0: it is about an organization
	Actor  account.ID // 0: the operator
	// Installation is the App installation through which the App's hook gets the event; else 0.
	Installation account.InstallationID
	Event        string
	Action       string
	About        About
	Origin       int64 // of a redelivery: the first delivery; else 0
	CreatedAt    db.Time
	State        State
	Tries        int64
	Told         []byte // what the payload needs of the database, as of the event; nil: it is read yet
	Payload      []byte // nil: not rendered, or not read, yet
	mark         int64  // key of Told; 0: none
	size         int64  // of the stored payload in bytes; 0: there is none
	broken       error  // of About, which cannot be read; nil: it can
	DeliveredAt  db.Time
	Duration     int64 // microseconds
	Code         int64
	Status       string
	URL          string
	Sent         string // JSON
	Received     string
	Body         []byte
}

// first is the delivery whose GUID it has.
func (d *Delivery) first() int64 {
	if d.Origin != 0 {
		return d.Origin
	}
	return d.ID
}

const briefColumns = `d.id, d.hook_id, COALESCE(d.repo_id, 0), COALESCE(d.actor_id, 0), d.event, d.action,
	COALESCE(d.origin, 0), d.created_at, d.state, d.tries, d.delivered_at, d.duration, d.code, d.status, d.url,
	COALESCE(d.installation_id, 0)`

func (d *Delivery) brief() []any {
	return []any{&d.ID, &d.HookID, &d.RepoID, &d.Actor, &d.Event, &d.Action, &d.Origin,
		&d.CreatedAt, &d.State, &d.Tries, &d.DeliveredAt, &d.Duration, &d.Code, &d.Status, &d.URL,
		&d.Installation}
}

const wholeColumns = briefColumns + `, d.about, d.payload, d.sent, d.received, d.body`

func scanWhole(row *db.Row) (*Delivery, error) {
	var d Delivery
	var about string
	err := row.Scan(append(d.brief(), &about, &d.Payload, &d.Sent, &d.Received, &d.Body)...)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	if err == nil {
		err = json.Unmarshal([]byte(about), &d.About)
	}
	return &d, err
}

// deliveryByID finds a delivery of a hook that was tried. Error: 404.
func deliveryByID(tx *db.Tx, hook, id int64) (*Delivery, error) {
	return scanWhole(tx.QueryRow(`SELECT `+wholeColumns+` FROM hook_deliveries d
		WHERE d.hook_id = $1 AND d.id = $2 AND d.delivered_at IS NOT NULL`, hook, id))
}

// Outcomes by which a list may be filtered.
const (
	anyOutcome = ""
	success    = "success"
	failure    = "failure"
)

// tried lists deliveries of a hook that were tried, the newest first, before one of an id.
func tried(tx *db.Tx, hook, before int64, outcome string, most int64) ([]*Delivery, error) {
	where := map[string]string{anyOutcome: ``, success: ` AND d.code BETWEEN 200 AND 299`,
		failure: ` AND NOT d.code BETWEEN 200 AND 299`}[outcome]
	return db.QueryList(tx, func(row db.Scanner) (*Delivery, error) {
		d := &Delivery{}
		return d, row.Scan(d.brief()...)
	}, `SELECT `+briefColumns+` FROM hook_deliveries d WHERE d.hook_id = $1 AND d.id < $2
		AND d.delivered_at IS NOT NULL`+where+` ORDER BY d.id DESC LIMIT $3`, hook, before, most)
}

// again adds another attempt at a delivery, with the payload that it has. Error: 409 if too many deliveries wait.
func again(tx *db.Tx, d *Delivery) error {
	var waiting int64
	err := tx.QueryRow(`SELECT COUNT(*) FROM (SELECT 1 FROM hook_deliveries WHERE hook_id = $1 AND state = 0
		LIMIT 1000) w`, d.HookID).Scan(&waiting)
	if err == nil && waiting >= maxAsked {
		return tooMany()
	}
	if err != nil {
		return err
	}
	return tx.SendRing(Topic, `INSERT INTO hook_deliveries
			(hook_id, repo_id, actor_id, event, action, about, origin, created_at, payload,
			installation_id)
		SELECT hook_id, repo_id, actor_id, event, action, about, COALESCE(origin, id),
		`+tx.Engine().Clock()+`, payload, installation_id
		FROM hook_deliveries WHERE id = $1`, d.ID)
}

// maxAsked is how many deliveries of a hook may wait before no more are made by hand.
const maxAsked = 100

func tooMany() error {
	return errs.New(errs.Conflict, fmt.Sprintf("This hook has more than %d pending deliveries. Try again later.",
		maxAsked))
}

// addOne adds a delivery for one hook, whether it is active or not. Error: 409 if too many deliveries wait.
func addOne(tx *db.Tx, h *Hook, e Event) error {
	var waiting int64
	err := tx.QueryRow(`SELECT COUNT(*) FROM (SELECT 1 FROM hook_deliveries WHERE hook_id = $1 AND state = 0
		LIMIT 1000) w`, h.ID).Scan(&waiting)
	if err == nil && waiting >= maxAsked {
		return tooMany()
	}
	if err != nil {
		return err
	}
	about, err := web.Marshal(e.About)
	if err != nil {
		return err
	}
	r := newRows([]Event{e}, Telling{RepoID: h.RepoID, Owner: h.OrgID, Hook: h})
	return r.insert(tx, `INSERT INTO hook_deliveries (hook_id, repo_id, actor_id, event, action, about, mark,
		created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, `+tx.Engine().Clock()+`)`,
		h.ID, db.OrNull(int64(h.RepoID)), db.OrNull(int64(e.Actor)), e.Name, e.Action, string(about), r.mark)
}

// dropWaiting ends what waits for a hook that is switched off.
func dropWaiting(tx *db.Tx, hook int64) error {
	return tx.Run(`DELETE FROM hook_deliveries WHERE hook_id = $1 AND state = 0`, hook)
}
