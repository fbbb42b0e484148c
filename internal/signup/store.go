package signup

import (
	"errors"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// readState reads the setting, and whether mail is sent.
func readState(tx *db.Tx) (*State, error) {
	var s State
	var domains string
	err := tx.QueryRow(`SELECT COALESCE((SELECT mode FROM signup_settings WHERE id = 1), $1),
		COALESCE((SELECT domains FROM signup_settings WHERE id = 1), ''), EXISTS (SELECT 1 FROM mail_sites)`,
		string(Closed)).Scan(&s.Mode, &domains, &s.Mail)
	s.Domains = strings.Fields(domains)
	return &s, err
}

func storeSettings(tx *db.Tx, s *Settings) error {
	return tx.Run(`INSERT INTO signup_settings (id, mode, domains) VALUES (1, $1, $2)
		ON CONFLICT (id) DO UPDATE SET mode = excluded.mode, domains = excluded.domains`,
		string(s.Mode), strings.Join(s.Domains, " "))
}

// selectLinks reads links l. The inviter of one may invite while it administrates the site.
const selectLinks = `SELECT l.id, l.address, l.asked, l.digest IS NOT NULL, COALESCE(i.login, ''), COALESCE(o.login, ''),
		COALESCE(t.slug, ''), l.created_at, l.expires_at, COALESCE(l.org_id, 0), COALESCE(l.team_id, 0),
		l.inviter_id IS NULL OR i.site_admin = TRUE AND i.suspended_at IS NULL
	FROM signup_links l LEFT JOIN accounts i ON i.id = l.inviter_id LEFT JOIN accounts o ON o.id = l.org_id
		LEFT JOIN teams t ON t.id = l.team_id `

func scanLink(row db.Scanner) (*Link, error) {
	var l Link
	err := row.Scan(&l.ID, &l.Address, &l.Asked, &l.Sent, &l.Inviter, &l.Org, &l.Team, &l.CreatedAt, &l.ExpiresAt,
		&l.orgID, &l.teamID, &l.may)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &l, err
}

// linkByDigest finds a link that has not expired. Error: 404.
func linkByDigest(tx *db.Tx, digest []byte) (*Link, error) {
	return scanLink(tx.QueryRow(selectLinks+`WHERE (l.digest = $1 OR l.digest_before = $1)
		AND l.expires_at > `+tx.Engine().Clock(), digest))
}

// linkByID finds a link that has not expired. Error: 404.
func linkByID(tx *db.Tx, id int64) (*Link, error) {
	return scanLink(tx.QueryRow(selectLinks+`WHERE l.id = $1 AND l.expires_at > `+tx.Engine().Clock(), id))
}

// invites lists the invitations of administrators that have not expired.
func invites(tx *db.Tx) ([]*Link, error) {
	return db.QueryList(tx, scanLink,
		selectLinks+`WHERE l.asked = FALSE AND l.expires_at > `+tx.Engine().Clock()+` ORDER BY l.id DESC`)
}

func countInvites(tx *db.Tx) (n int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM signup_links WHERE asked = FALSE AND expires_at > ` +
		tx.Engine().Clock()).Scan(&n)
	return n, err
}

// insertInvite stores an invitation, and removes links that have expired.
func insertInvite(tx *db.Tx, l *Link, digest []byte, lasts time.Duration) (id int64, err error) {
	if err := deleteExpired(tx); err != nil {
		return 0, err
	}
	var sum any
	if digest != nil {
		sum = digest
	}
	clock := tx.Engine().Clock()
	err = tx.QueryRow(`INSERT INTO signup_links (digest, address, asked, inviter_id, org_id, team_id, created_at, expires_at)
		VALUES ($1, $2, FALSE, $3, $4, $5, `+clock+`, `+clock+` + $6) RETURNING id`, sum, l.Address,
		db.OrNull(l.inviterID), db.OrNull(l.orgID), db.OrNull(l.teamID), lasts.Microseconds()).Scan(&id)
	return id, err
}

// insertAsked stores a link that somebody asked for, and removes those of the address beyond the newest few.
func insertAsked(tx *db.Tx, address string, digest []byte) error {
	if err := deleteExpired(tx); err != nil {
		return err
	}
	err := tx.Run(`DELETE FROM signup_links WHERE address = $1 AND asked = TRUE AND id <= (SELECT o.id FROM signup_links o
		WHERE o.address = $1 AND o.asked = TRUE ORDER BY o.id DESC LIMIT 1 OFFSET $2)`, address, mostAsked-1)
	if err != nil {
		return err
	}
	clock := tx.Engine().Clock()
	return tx.Run(`INSERT INTO signup_links (digest, address, asked, created_at, expires_at)
		VALUES ($1, $2, TRUE, `+clock+`, `+clock+` + $3)`, digest, address, AskedLasts.Microseconds())
}

// atOnce is how many old rows one transaction removes.
const atOnce = 100

func deleteExpired(tx *db.Tx) error {
	return tx.Run(`DELETE FROM signup_links WHERE id IN (SELECT id FROM signup_links
		WHERE expires_at <= `+tx.Engine().Clock()+` ORDER BY expires_at LIMIT $1)`, atOnce)
}

// setDigest gives a link the secret of a mail. The one before stays: the mail may have been sent twice.
func setDigest(tx *db.Tx, id int64, digest []byte) error {
	return tx.Run(`UPDATE signup_links SET digest_before = digest, digest = $2 WHERE id = $1`, id, digest)
}

// deleteLink ends a link. Error: 404 if there is none of this kind.
func deleteLink(tx *db.Tx, id int64, asked bool) error {
	n, err := tx.Exec(`DELETE FROM signup_links WHERE id = $1 AND asked = $2`, id, asked)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	return err
}

const requestColumns = `SELECT id, login, name, address, verified, reason, network, created_at, password
	FROM signup_requests `

func scanRequest(row db.Scanner) (*Request, error) {
	var q Request
	err := row.Scan(&q.ID, &q.Login, &q.Name, &q.Address, &q.Verified, &q.Reason, &q.Network, &q.CreatedAt, &q.password)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &q, err
}

// oldest is when the oldest request was made that still waits.
func oldest(tx *db.Tx) db.Time { return tx.Now - db.Time(RequestLasts.Microseconds()) }

// requests lists what waits. There are at most mostRequests.
func requests(tx *db.Tx) ([]*Request, error) {
	return db.QueryList(tx, scanRequest, requestColumns+`WHERE created_at > $1 ORDER BY id`, oldest(tx))
}

func requestByID(tx *db.Tx, id int64) (*Request, error) {
	return scanRequest(tx.QueryRow(requestColumns+`WHERE id = $1 AND created_at > $2`, id, oldest(tx)))
}

// isAsked reports whether a login is asked for.
func isAsked(tx *db.Tx, login string) (asked bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM signup_requests WHERE login_folded = $1 AND created_at > $2)`,
		account.Fold(login), oldest(tx)).Scan(&asked)
	return asked, err
}

// makeRoom removes requests that nobody answered in time, and returns the addresses from which the others were made.
func makeRoom(tx *db.Tx) (waiting []string, err error) {
	if err := tx.Run(`DELETE FROM signup_requests WHERE created_at <= $1`, oldest(tx)); err != nil {
		return nil, err
	}
	return db.QueryTexts(tx, `SELECT network FROM signup_requests`)
}

func insertRequest(tx *db.Tx, q *Request) (id int64, err error) {
	err = tx.QueryRow(`INSERT INTO signup_requests (login, login_folded, name, address, verified, reason, password,
		network, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id`, q.Login, account.Fold(q.Login),
		q.Name, q.Address, q.Verified, q.Reason, q.password, q.Network, tx.Now).Scan(&id)
	return id, err
}

// deleteRequest ends a request. Error: 404.
func deleteRequest(tx *db.Tx, id int64) error {
	n, err := tx.Exec(`DELETE FROM signup_requests WHERE id = $1`, id)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	return err
}

// administrators lists the site administrators who can act.
func administrators(tx *db.Tx) ([]account.ID, error) {
	return db.QueryIDs[account.ID](tx, `SELECT id FROM accounts WHERE site_admin = TRUE AND suspended_at IS NULL
		AND kind = $1 ORDER BY id`, int64(account.User))
}
