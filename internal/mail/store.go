package mail

import (
	"encoding/json"
	"errors"
	"time"

	"arbor/internal/db"
)

var jobs = db.Jobs{Table: "mails", Key: "id"}

func insert(tx *db.Tx, m *Mail, about string) error {
	waiting, most := `w.account_id = $2`, mostWaiting
	switch {
	case m.Account == 0:
		waiting, most = `w.account_id IS NULL`, mostOfNobody
	case m.Must:
		most = mostThatMust
	}
	return tx.SendRing(Topic, `INSERT INTO mails (kind, account_id, address, about, created_at)
		SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT), `+tx.Engine().Clock()+`
		FROM mail_sites WHERE ($3 <> '' OR EXISTS (SELECT 1 FROM emails e
				WHERE e.account_id = $2 AND e.verified = TRUE))
			AND (SELECT COUNT(*) FROM mails w WHERE `+waiting+`) < $5`,
		string(m.Kind), db.OrNull(m.Account), m.Address, about, most)
}

// take leases the mail that has been due for longest; nil: there is none. putOff asks for those first that were put
// off and are not about notifications (package notification): no index finds them, so that is asked now and then
// alone.
func take(tx *db.Tx, putOff bool) (l *db.Lease, m *Mail, err error) {
	if putOff {
		l, err = jobs.Take(tx, leaseTime, 1, `tries > 0 AND kind <> 'told' AND kind <> 'digest'`)
	}
	if err == nil && l == nil {
		l, err = jobs.Take(tx, leaseTime, 1, `TRUE`)
	}
	if err != nil || l == nil {
		return nil, nil, err
	}
	m = &Mail{ID: l.IDs[0]}
	var account *int64
	var about string
	err = tx.QueryRow(`SELECT kind, account_id, address, about, created_at FROM mails WHERE id = $1`, m.ID).
		Scan(&m.Kind, &account, &m.Address, &about, &m.CreatedAt)
	if account != nil {
		m.Account = *account
	}
	m.About = json.RawMessage(about)
	return l, m, err
}

// AddressOf returns the address for mail to an account: that of its profile if it is verified, else the first verified
// one; empty: it has none, is suspended or does not exist.
func AddressOf(tx *db.Tx, account int64) (address string, err error) {
	err = tx.QueryRow(`SELECT e.address FROM emails e JOIN accounts a ON a.id = e.account_id
		WHERE e.account_id = $1 AND e.verified = TRUE AND a.suspended_at IS NULL
		ORDER BY CASE WHEN e.address = LOWER(a.email) THEN 0 ELSE 1 END, e.created_at, e.address LIMIT 1`, account).
		Scan(&address)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return address, err
}

// openSite notes that mail is sent. replace says whether the address of another server's start is replaced.
func openSite(tx *db.Tx, base string, replace bool) error {
	then := `NOTHING`
	if replace {
		then = `UPDATE SET base_url = excluded.base_url`
	}
	return tx.Run(`INSERT INTO mail_sites (id, base_url) VALUES (1, $1) ON CONFLICT (id) DO `+then, base)
}

// closeSite notes that no mail is sent.
func closeSite(tx *db.Tx) error { return tx.Run(`DELETE FROM mail_sites`) }

// site returns the address in links; empty: no mail is sent.
func site(tx *db.Tx) (base string, err error) {
	err = tx.QueryRow(`SELECT base_url FROM mail_sites`).Scan(&base)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return base, err
}

// IsOn reports whether a server of this database sends mail.
func IsOn(tx *db.Tx) (bool, error) {
	base, err := site(tx)
	return base != "", err
}

// insertLink stores a link, and removes those of the same kind beyond the newest few.
func insertLink(tx *db.Tx, l *Link, digest []byte, lasts time.Duration) error {
	clock := tx.Engine().Clock()
	err := tx.Run(`DELETE FROM mail_links WHERE account_id = $1 AND kind = $2 AND address = $3 AND created_at <= (
			SELECT o.created_at FROM mail_links o WHERE o.account_id = $1 AND o.kind = $2 AND o.address = $3
			ORDER BY o.created_at DESC LIMIT 1 OFFSET $4)`, l.Account, string(l.Kind), l.Address, mostLinks-2)
	if err != nil {
		return err
	}
	return tx.Run(`INSERT INTO mail_links (digest, kind, account_id, address, created_at, expires_at)
		VALUES ($1, $2, $3, $4, `+clock+`, `+clock+` + $5)`, digest, string(l.Kind), l.Account, l.Address,
		lasts.Microseconds())
}

// findLink reads a link that has not expired. Error: db.ErrNoRows.
func findLink(tx *db.Tx, kind Kind, digest []byte) (*Link, error) {
	l := &Link{Kind: kind}
	return l, tx.QueryRow(`SELECT account_id, address FROM mail_links WHERE digest = $1 AND kind = $2
		AND expires_at > `+tx.Engine().Clock(), digest, string(kind)).Scan(&l.Account, &l.Address)
}

// count counts once more, and returns how often within the time.
func count(tx *db.Tx, name string, within time.Duration) (n int64, err error) {
	clock := tx.Engine().Clock()
	err = tx.QueryRow(`INSERT INTO mail_counts AS c (name, n, ends_at) VALUES ($1, 1, `+clock+` + $2)
		ON CONFLICT (name) DO UPDATE SET n = CASE WHEN c.ends_at <= `+clock+` THEN 1 ELSE c.n + 1 END,
			ends_at = CASE WHEN c.ends_at <= `+clock+` THEN excluded.ends_at ELSE c.ends_at END
		RETURNING n`, name, within.Microseconds()).Scan(&n)
	return n, err
}

// perPrune is how many rows of a table one transaction removes.
const perPrune = 1000

// prune removes links and counts that have ended. It reports whether there may be more.
func prune(tx *db.Tx) (more bool, err error) {
	for _, query := range [...]string{
		`DELETE FROM mail_links WHERE digest IN (SELECT digest FROM mail_links WHERE expires_at <= $1
			ORDER BY expires_at LIMIT $2)`,
		`DELETE FROM mail_counts WHERE name IN (SELECT name FROM mail_counts WHERE ends_at <= $1
			ORDER BY ends_at LIMIT $2)`,
	} {
		now, err := tx.Clock()
		if err != nil {
			return false, err
		}
		n, err := tx.Exec(query, now, perPrune)
		if err != nil {
			return false, err
		}
		more = more || n == perPrune
	}
	return more, nil
}

// signingKey returns the key of signed addresses; nil: there is none yet.
func signingKey(tx *db.Tx) (key []byte, err error) {
	err = tx.QueryRow(`SELECT secret FROM mail_keys WHERE id = 1`).Scan(&key)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return key, err
}

// putSigningKey stores the key unless there is one.
func putSigningKey(tx *db.Tx, key []byte) error {
	return tx.Run(`INSERT INTO mail_keys (id, secret) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`, key)
}
