package hook

import (
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const columns = `h.id, COALESCE(h.repo_id, 0), COALESCE(h.org_id, 0), COALESCE(h.app_id, 0), h.url, h.form, h.secret, h.insecure, h.active,
	h.events, h.salt, h.site, h.prefix, h.last_code, h.last_status, h.last_message, h.failures, h.failing_since,
	h.created_at, h.updated_at`

// scan reads columns. Error: 404 if no row matches.
func scan(row db.Scanner) (*Hook, error) {
	var h Hook
	var events string
	err := row.Scan(&h.ID, &h.RepoID, &h.OrgID, &h.AppID, &h.URL, &h.Form, &h.Secret, &h.Insecure, &h.Active,
		&events, &h.Salt,
		&h.Site, &h.Prefix, &h.LastCode, &h.LastStatus, &h.LastMessage, &h.Failures, &h.FailingSince,
		&h.CreatedAt, &h.UpdatedAt)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	h.Events = splitEvents(events)
	return &h, err
}

func joined(events []string) string { return "," + strings.Join(events, ",") + "," }

// splitEvents reads what joined wrote.
func splitEvents(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' })
}

// where is the condition for hooks of a place, whose id is $1.
func (p ownerKey) where() (string, any) {
	if p.repo != 0 {
		return `h.repo_id = $1`, p.repo
	}
	if p.app != 0 {
		return `h.app_id = $1`, p.app
	}
	return `h.org_id = $1`, p.org
}

// byID finds a hook of a place. Error: 404.
func byID(tx *db.Tx, p ownerKey, id int64) (*Hook, error) {
	where, of := p.where()
	return scan(tx.QueryRow(`SELECT `+columns+` FROM hooks h WHERE `+where+` AND h.id = $2`, of, id))
}

// list lists the hooks of a place, the oldest first.
func list(tx *db.Tx, p ownerKey) (found []*Hook, err error) {
	where, of := p.where()
	return db.QueryList(tx, scan, `SELECT `+columns+` FROM hooks h WHERE `+where+` ORDER BY h.id`, of)
}

// insert inserts a webhook and sets its id. Error: 404 if its owner was deleted.
func insert(tx *db.Tx, h *Hook) error {
	err := tx.QueryRow(`INSERT INTO hooks (repo_id, org_id, app_id, url, form, secret, insecure, active,
			events, salt, site, prefix, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13) RETURNING id`,
		db.OrNull(int64(h.RepoID)), db.OrNull(int64(h.OrgID)), db.OrNull(h.AppID), h.URL, h.Form,
		h.Secret, h.Insecure, h.Active,
		joined(h.Events), h.Salt, h.Site, h.Prefix, h.CreatedAt).Scan(&h.ID)
	if errors.Is(err, db.ErrForeignKey) {
		err = errs.Absent()
	}
	return err
}

// update writes what a request changes of a hook. A hook that is activated starts fresh.
func update(tx *db.Tx, h *Hook) error {
	return tx.Run(`UPDATE hooks SET url = $2, form = $3, secret = $4, insecure = $5, events = $6, site = $7,
			prefix = $8, updated_at = $9, active = $10, failures = CASE WHEN $10 THEN 0 ELSE failures END,
			failing_since = CASE WHEN $10 THEN NULL ELSE failing_since END,
			last_status = $11, last_message = $12
		WHERE id = $1`, h.ID, h.URL, h.Form, h.Secret, h.Insecure, joined(h.Events), h.Site, h.Prefix, h.UpdatedAt, h.Active,
		h.LastStatus, h.LastMessage)
}

// remove removes a hook with its deliveries.
func remove(tx *db.Tx, id int64) error { return tx.Run(`DELETE FROM hooks WHERE id = $1`, id) }

// Forget removes the hooks of a repository that is going, before all else that hangs on it.
func Forget(tx *db.Tx, repoID repo.ID) error {
	return tx.Run(`DELETE FROM hooks WHERE repo_id = $1`, repoID)
}

// Drop drops what waits for the hooks of a repository that is being deleted.
func Drop(tx *db.Tx, repoID repo.ID) error {
	return tx.Run(`DELETE FROM hook_deliveries WHERE state = 0
		AND hook_id IN (SELECT id FROM hooks WHERE repo_id = $1)`, repoID)
}

// ForgetActor removes what was rendered of what an account did, which is being deleted: that names it.
func ForgetActor(tx *db.Tx, by account.ID) error {
	return tx.Run(`DELETE FROM hook_told WHERE mark IN
		(SELECT mark FROM hook_deliveries WHERE actor_id = $1 AND mark IS NOT NULL)`, by)
}

// Leave drops undelivered events of an organization's webhooks about a repository that is transferred away.
func Leave(tx *db.Tx, repoID repo.ID, org account.ID) error {
	return tx.Run(`DELETE FROM hook_deliveries WHERE state = 0 AND repo_id = $1
		AND hook_id IN (SELECT id FROM hooks WHERE org_id = $2)`, repoID, org)
}

// Bequeath sends an organization's hooks their last event. It drops what else waits for them. Hooks that
// receive the event stay without an owner until [Pruner] finds that it was sent.
func Bequeath(tx *db.Tx, org account.ID, e Event) error {
	err := tx.Run(`DELETE FROM hook_deliveries WHERE hook_id IN (SELECT id FROM hooks WHERE org_id = $1)`,
		org)
	if err != nil {
		return err
	}
	if err := RecordForOwner(tx, org, 0, e); err != nil {
		return err
	}
	return tx.Run(`UPDATE hooks SET org_id = NULL WHERE org_id = $1
		AND id IN (SELECT hook_id FROM hook_deliveries WHERE state = 0)`, org)
}

// listeningApp finds how an App's hook reaches the server; nil: it is not active.
func listeningApp(tx *db.Tx, appID account.AppID) (*web.Info, error) {
	var site, prefix string
	err := tx.QueryRow(`SELECT site, prefix FROM hooks WHERE app_id = $1 AND active`,
		appID).Scan(&site, &prefix)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	return Info(site, prefix), err
}

// awake is the condition that an installation i, its account and the owner of its App are not suspended.
const awake = `i.suspended_at IS NULL AND NOT EXISTS (SELECT 1 FROM apps p JOIN accounts a ON a.id IN (p.owner_id, i.account_id)
	WHERE p.id = i.app_id AND a.suspended_at IS NOT NULL)`

// ForgetInstallation drops undelivered events of an App about an installation that is being deleted.
func ForgetInstallation(tx *db.Tx, appID account.AppID, id account.InstallationID) error {
	return tx.Run(`DELETE FROM hook_deliveries WHERE state = 0 AND installation_id = $2
		AND hook_id IN (SELECT id FROM hooks WHERE app_id = $1)`, appID, id)
}

// listening finds a hook that wants to know of an event.
func listening(tx *db.Tx, to audience, of any, event string) (*web.Info, error) {
	var site, prefix string
	err := tx.QueryRow(`SELECT h.site, h.prefix FROM hooks h WHERE h.active AND (`+to.hooks+`
			AND (h.events LIKE '%,' || $2 || ',%' OR h.events = ',*,')
			OR h.app_id IN (SELECT i.app_id FROM installations i
				WHERE i.events LIKE '%,' || $2 || ',%' AND `+awake+` AND `+to.installations+`))
		ORDER BY h.id LIMIT 1`, of, event).Scan(&site, &prefix)
	if errors.Is(err, db.ErrNoRows) {
		return nil, nil
	}
	return Info(site, prefix), err
}
