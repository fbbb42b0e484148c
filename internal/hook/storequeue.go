package hook

import (
	"encoding/json"
	"errors"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
)

// jobs are hooks: a worker leases one to send what waits for it.
var jobs = db.Jobs{Table: "hooks", Key: "id"}

// candidate is a webhook with waiting deliveries and without a lease.
type candidate struct {
	id      int64
	owner   account.ID
	url     string
	failing bool // the last attempt failed
}

// perPage is how many hooks are looked at together.
const perPage = 200

// candidates finds hooks behind one of an id, in the order of their ids, for which something is due: of
// perPage hooks for which something waits those that are not leased, and do not rest. last is the last that
// was looked at; 0: the end.
func candidates(tx *db.Tx, after int64) (found []candidate, last int64, err error) {
	clock := tx.Engine().Clock()
	var n int64
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var c candidate
		var due bool
		if err := row.Scan(&c.id, &n, &c.owner, &c.url, &c.failing, &due); err != nil {
			return err
		}
		if last = c.id; due {
			found = append(found, c)
		}
		return nil
	}, `WITH RECURSIVE w (id, n) AS (
			SELECT (SELECT MIN(hook_id) FROM hook_deliveries WHERE state = 0 AND hook_id > $1), 1
			UNION ALL
			SELECT (SELECT MIN(hook_id) FROM hook_deliveries WHERE state = 0 AND hook_id > w.id), w.n + 1
			FROM w WHERE w.id IS NOT NULL AND w.n < $2)
		SELECT w.id, w.n, COALESCE(r.owner_id, h.org_id, p.owner_id, 0), h.url, h.failures > 0,
		h.due_at <= `+clock+` AND EXISTS (SELECT 1
				FROM hook_deliveries d WHERE d.hook_id = h.id AND d.state = 0 AND d.due_at <= `+clock+`)
		FROM w JOIN hooks h ON h.id = w.id LEFT JOIN repos r ON r.id = h.repo_id
			LEFT JOIN apps p ON p.id = h.app_id ORDER BY w.id`, after, perPage)
	if n < perPage {
		last = 0
	}
	return found, last, err
}

// take leases a webhook, or returns nil if it is leased or deleted.
func take(tx *db.Tx, id int64, length time.Duration) (*db.Lease, error) {
	return jobs.Take(tx, length, 1, `id = $3`, id)
}

// next finds a hook's next delivery; nil: nothing is due.
func next(tx *db.Tx, id int64) (h *Hook, d *Delivery, err error) {
	if h, err = scan(tx.QueryRow(`SELECT `+columns+` FROM hooks h WHERE h.id = $1`, id)); err != nil {
		return nil, nil, err
	}
	d = &Delivery{}
	var about string
	err = tx.QueryRow(`SELECT `+briefColumns+`, d.about, COALESCE(d.mark, 0), t.told, COALESCE(LENGTH(d.payload), 0)
		FROM hook_deliveries d LEFT JOIN hook_told t ON t.mark = d.mark
		WHERE d.hook_id = $1 AND d.state = 0 AND d.due_at <= `+tx.Engine().Clock()+` ORDER BY d.id LIMIT 1`, id).
		Scan(append(d.brief(), &about, &d.mark, &d.Told, &d.size)...)
	if errors.Is(err, db.ErrNoRows) {
		return h, nil, nil
	}
	if err == nil {
		d.broken = json.Unmarshal([]byte(about), &d.About)
	}
	return h, d, err
}

// readPayload reads what was rendered before.
func readPayload(tx *db.Tx, d *Delivery) error {
	return tx.QueryRow(`SELECT payload FROM hook_deliveries WHERE id = $1`, d.ID).Scan(&d.Payload)
}

// putOff records that a delivery could not be rendered. After some attempts it is deleted.
func putOff(tx *db.Tx, d *Delivery) error {
	if d.Tries+1 >= maxRenders {
		return drop(tx, d)
	}
	return tx.Run(`UPDATE hook_deliveries SET tries = tries + 1, due_at = `+tx.Engine().Clock()+` + $2
		WHERE id = $1 AND state = 0`, d.ID, pause(d.Tries+1).Microseconds())
}

// maxRenders is how often it is tried to render a delivery.
const maxRenders = 5

// drop deletes a delivery without a subject.
func drop(tx *db.Tx, d *Delivery) error {
	return tx.Run(`DELETE FROM hook_deliveries WHERE id = $1 AND state = 0`, d.ID)
}

// store writes what came of an attempt, in its row and its hook's. It returns for how long the hook rests.
// Error: db.ErrLeaseLost.
func store(
	tx *db.Tx, l *db.Lease, length time.Duration, h *Hook, d *Delivery,
) (_ *db.Lease, pauses time.Duration, err error) {
	if l, err = jobs.Extend(tx, l, length); err != nil {
		return nil, 0, err
	}
	now, err := tx.Clock()
	if err != nil {
		return nil, 0, err
	}
	d.State, d.DeliveredAt = Waiting, now
	ok := d.Code >= 200 && d.Code < 300
	switch age := now.Time().Sub(d.CreatedAt.Time()); {
	case ok:
		d.State = Succeeded
	case age >= giveUp, d.Origin != 0, d.Event == Ping:
		d.State = Failed // also a redelivery by hand, since its user sees that it failed
	}
	d.Tries++
	due := now + db.Time(pause(d.Tries).Microseconds())
	if err := tx.Run(`UPDATE hook_deliveries SET state = $2, due_at = $3, tries = $4, payload = $5,
		mark = NULL, delivered_at = $6,
			duration = $7, code = $8, status = $9, url = $10, sent = $11, received = $12, body = $13
			WHERE id = $1`,
		d.ID, int64(d.State), due, d.Tries, d.Payload, now, d.Duration, d.Code, d.Status, d.URL,
		d.Sent, d.Received,
		d.Body); err != nil {
		return nil, 0, err
	}
	if err := forgetTold(tx, d); err != nil {
		return nil, 0, err
	}
	return l, h.settle(d, ok, now), h.storeOutcome(tx, d)
}

// forgetTold removes the source of a payload, unless other hooks wait for it.
func forgetTold(tx *db.Tx, d *Delivery) error {
	if d.mark == 0 {
		return nil
	}
	return tx.Run(`DELETE FROM hook_told WHERE mark = $1
		AND NOT EXISTS (SELECT 1 FROM hook_deliveries d WHERE d.mark = $1)`, d.mark)
}

// settle records the outcome of an attempt in the webhook, and returns how long it rests.
func (h *Hook) settle(d *Delivery, ok bool, now db.Time) time.Duration {
	h.LastCode, h.LastMessage, h.LastStatus = &d.Code, &d.Status, "active"
	if ok {
		h.Failures, h.FailingSince = 0, 0
		return 0
	}
	h.LastStatus = lastStatus(d.Code, d.Status)
	if h.Failures++; h.FailingSince.IsZero() {
		h.FailingSince = now
	}
	if h.Active && h.Failures >= leastOff && now.Time().Sub(h.FailingSince.Time()) >= switchOff {
		h.Active = false
		message := "Switched off: the receiver has failed since " +
			h.FailingSince.Time().UTC().Format("2006-01-02 15:04") + " UTC. Last: " + d.Status
		h.LastStatus, h.LastMessage = "disabled", &message
	}
	return rest(h.Failures)
}

// lastStatus is the word for a failure in last_response.
func lastStatus(code int64, status string) string {
	switch {
	case status == "timed out":
		return "timeout"
	case code == 0:
		return "failed_to_connect"
	default:
		return "misconfigured"
	}
}

// storeOutcome writes what settle noted.
func (h *Hook) storeOutcome(tx *db.Tx, d *Delivery) error {
	if h.LastStatus == "disabled" {
		if err := dropWaiting(tx, h.ID); err != nil {
			return err
		}
	}
	return tx.Run(`UPDATE hooks SET last_code = $2, last_status = $3, last_message = $4, failures = $5,
			failing_since = $6, active = CASE WHEN $7 THEN active ELSE FALSE END WHERE id = $1`,
		h.ID, h.LastCode, h.LastStatus, h.LastMessage, h.Failures, h.FailingSince,
		h.LastStatus != "disabled")
}

// wake ends the rest of a webhook and its waiting deliveries. A lease, which is shorter than a rest, is
// kept.
func wake(tx *db.Tx, id int64) error {
	clock := tx.Engine().Clock()
	err := tx.Run(`UPDATE hooks SET due_at = 0 WHERE id = $1 AND due_at > `+clock+` + $2`, id,
		leaseTime.Microseconds())
	if err != nil {
		return err
	}
	tx.Ring(Topic)
	return tx.Run(`UPDATE hook_deliveries SET due_at = 0 WHERE hook_id = $1 AND state = 0 AND due_at > `+
		clock, id)
}

// release ends a lease; what rests is due later.
func release(tx *db.Tx, l *db.Lease, wait time.Duration) error {
	err := jobs.PutOff(tx, l, wait)
	if errors.Is(err, db.ErrLeaseLost) {
		return nil
	}
	return err
}
