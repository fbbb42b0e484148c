package mirror

import (
	"errors"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// Topic is the bell that rings when a mirror is due.
const Topic = "mirrors"

// jobs are the runs of mirrors.
var jobs = db.Jobs{Table: "mirrors", Key: "id"}

const columns = `SELECT m.id, m.repo_id, m.push, m.url, m.username, m.secret, m.every, m.follow_head, m.was_private,
	COALESCE(m.created_by, 0), m.by_operator, m.created_at, m.version, m.wanted, m.active, m.due_at, m.failures,
	m.failing_since, m.ended_at, m.succeeded_at, m.problem,
	m.push = FALSE AND EXISTS (SELECT 1 FROM mirror_imports i WHERE i.repo_id = m.repo_id),
	m.push = FALSE AND EXISTS (SELECT 1 FROM mirror_secrets s WHERE s.repo_id = m.repo_id),
	EXISTS (SELECT 1 FROM mirror_searches q WHERE q.mirror_id = m.id),
	EXISTS (SELECT 1 FROM mirror_objects o WHERE o.mirror_id = m.id),
	COALESCE(k.public_key, ''), COALESCE(k.secret, ''), COALESCE(k.host_key, ''), COALESCE(k.host_kind, ''),
	COALESCE(k.offered_key, '') FROM mirrors m LEFT JOIN mirror_ssh k ON k.mirror_id = m.id `

func scan(row db.Scanner) (*Mirror, error) {
	m, keys := &Mirror{}, SSH{}
	var every int64
	err := row.Scan(&m.ID, &m.RepoID, &m.Push, &m.URL, &m.Username, &m.secret, &every, &m.FollowHead, &m.wasPrivate,
		&m.CreatedBy, &m.byOperator, &m.CreatedAt, &m.version, &m.wanted, &m.Active, &m.DueAt, &m.Failures,
		&m.failingSince, &m.EndedAt, &m.Succeeded, &m.Problem, &m.Once, &m.HasSecret,
		&m.searched, &m.lacks, &keys.PublicKey, &keys.secret, &keys.HostKey, &keys.hostKind, &keys.Offered)
	if keys.PublicKey != "" {
		m.SSH = &keys
	}
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	m.Every = time.Duration(every) * time.Microsecond
	return m, err
}

// of reads the push mirrors of a repository, or its pull mirror, of which there is at most one.
func of(tx *db.Tx, id repo.ID, push bool) ([]*Mirror, error) {
	return db.QueryList(tx, scan, columns+`WHERE m.repo_id = $1 AND m.push = $2 ORDER BY m.id`, id, push)
}

// get reads a push mirror of a repository. Error: 404.
func get(tx *db.Tx, repoID repo.ID, id int64) (*Mirror, error) {
	return scan(tx.QueryRow(columns+`WHERE m.repo_id = $1 AND m.id = $2 AND m.push = TRUE`, repoID, id))
}

// byID reads a mirror for its run. Error: 404.
func byID(tx *db.Tx, id int64) (*Mirror, error) {
	return scan(tx.QueryRow(columns+`WHERE m.id = $1`, id))
}

// insert inserts a mirror, and sets its id.
func insert(tx *db.Tx, m *Mirror) error {
	err := tx.QueryRow(`INSERT INTO mirrors (repo_id, push, url, username, secret, every, follow_head, was_private,
			created_by, by_operator, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING id`,
		m.RepoID, m.Push, m.URL, m.Username, m.secret, m.Every.Microseconds(), m.FollowHead, m.wasPrivate,
		db.OrNull(m.CreatedBy), m.byOperator, tx.Now).Scan(&m.ID)
	if err == nil && !m.Push {
		err = setOnce(tx, m)
	}
	if err == nil {
		err = insertSSH(tx, m)
	}
	return err
}

// setOnce stores whether a pull mirror ends with its first success.
func setOnce(tx *db.Tx, m *Mirror) error {
	if !m.Once {
		return tx.Run(`DELETE FROM mirror_imports WHERE repo_id = $1`, m.RepoID)
	}
	return tx.Run(`INSERT INTO mirror_imports (repo_id) VALUES ($1) ON CONFLICT (repo_id) DO NOTHING`, m.RepoID)
}

// update stores the settings of a pull mirror, which is due at once.
func update(tx *db.Tx, m *Mirror) error {
	err := tx.Run(`UPDATE mirrors SET url = $2, username = $3, secret = $4, every = $5, follow_head = $6,
		was_private = $7, created_by = $8, by_operator = $9, version = version + 1, wanted = wanted + 1,
		active = TRUE, due_at = 0, failures = 0, failing_since = NULL, problem = '' WHERE id = $1`,
		m.ID, m.URL, m.Username, m.secret, m.Every.Microseconds(), m.FollowHead, m.wasPrivate,
		db.OrNull(m.CreatedBy), m.byOperator)
	if err == nil {
		err = setOnce(tx, m)
	}
	if err == nil {
		err = forgetObjects(tx, m.ID)
	}
	if err == nil {
		err = insertSSH(tx, m)
	}
	return err
}

func remove(tx *db.Tx, m *Mirror) error {
	err := tx.Run(`DELETE FROM mirrors WHERE id = $1`, m.ID)
	if err == nil {
		err = forget(tx, m)
	}
	return err
}

// forget removes what is stored of a mirror beside its row.
func forget(tx *db.Tx, m *Mirror) error {
	if err := forgetObjects(tx, m.ID); err != nil {
		return err
	}
	if err := forgetSSH(tx, m.ID); err != nil || m.Push {
		return err
	}
	if err := tx.Run(`DELETE FROM mirror_imports WHERE repo_id = $1`, m.RepoID); err != nil {
		return err
	}
	return setSecret(tx, m.RepoID, "")
}

// setSecret stores the encrypted secret of a webhook; an empty one is removed.
func setSecret(tx *db.Tx, id repo.ID, sealed string) error {
	if sealed == "" {
		return tx.Run(`DELETE FROM mirror_secrets WHERE repo_id = $1`, id)
	}
	return tx.Run(`INSERT INTO mirror_secrets (repo_id, secret, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (repo_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at`, id, sealed, tx.Now)
}

// secretOf reads the encrypted secret of the webhook of a pull mirror. Error: 404.
func secretOf(tx *db.Tx, id repo.ID) (sealed string, err error) {
	err = tx.QueryRow(`SELECT s.secret FROM mirror_secrets s WHERE s.repo_id = $1
		AND EXISTS (SELECT 1 FROM mirrors m WHERE m.repo_id = s.repo_id AND m.push = FALSE)`, id).Scan(&sealed)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return sealed, err
}

// ask lets the mirrors of a repository in one direction run soon, those that are not running now. Each waits for some
// time after its last run. It returns how many there are that can run.
func ask(tx *db.Tx, id repo.ID, push bool, wait time.Duration) (int64, error) {
	n, err := tx.Exec(`UPDATE mirrors SET wanted = wanted + 1, due_at = CASE
			WHEN due_at > `+tx.Engine().Clock()+` + $3 THEN COALESCE(ended_at, 0) + $4 ELSE due_at END
		WHERE repo_id = $1 AND push = $2 AND active = TRUE`, id, push, leased.Microseconds(), wait.Microseconds())
	if err == nil && n > 0 {
		tx.Ring(Topic)
	}
	return n, err
}

// NotePush makes the push mirrors of a repository due in the transaction that moves refs. One that fails waits for
// its next attempt.
func NotePush(tx *db.Tx, id repo.ID) error {
	return tx.SendRing(Topic, `UPDATE mirrors SET wanted = wanted + 1, due_at = CASE
			WHEN failures = 0 AND due_at > `+tx.Engine().Clock()+` + $2 THEN 0 ELSE due_at END
		WHERE repo_id = $1 AND push = TRUE AND active = TRUE`, id, leased.Microseconds())
}

// candidate is a mirror that is due.
type candidate struct {
	id    int64
	owner account.ID
}

// maxLooked is how many mirrors are looked at together.
const maxLooked = 200

// due reads mirrors that are due, the longest due first.
func due(tx *db.Tx) ([]candidate, error) {
	return db.QueryList(tx, func(row db.Scanner) (c candidate, err error) {
		return c, row.Scan(&c.id, &c.owner)
	}, `SELECT m.id, r.owner_id FROM mirrors m JOIN repos r ON r.id = m.repo_id
		WHERE m.active = TRUE AND m.due_at <= `+tx.Engine().Clock()+` ORDER BY m.due_at, m.id LIMIT $1`, maxLooked)
}

// isSuspended reports whether an account is suspended.
func isSuspended(tx *db.Tx, id account.ID) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM accounts WHERE id = $1 AND suspended_at IS NOT NULL)`, id).Scan(&is)
	return is, err
}

// holds reports whether a mirror is still as it was when its run began.
func holds(tx *db.Tx, m *Mirror) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM mirrors WHERE id = $1 AND version = $2 AND active = TRUE)`,
		m.ID, m.version).Scan(&is)
	return is, err
}

// finish stores the outcome of a run, unless the settings have changed since it began, and reads what was wanted
// meanwhile.
func finish(tx *db.Tx, m *Mirror) (stored bool, wanted int64, err error) {
	n, err := tx.Exec(`UPDATE mirrors SET active = $3, failures = $4, failing_since = $5, ended_at = $6,
		succeeded_at = $7, problem = $8 WHERE id = $1 AND version = $2`, m.ID, m.version, m.Active, m.Failures,
		m.failingSince, m.EndedAt, m.Succeeded, m.Problem)
	if err != nil {
		return false, 0, err
	}
	err = tx.QueryRow(`SELECT wanted FROM mirrors WHERE id = $1`, m.ID).Scan(&wanted)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return n > 0, wanted, err
}

// Counts are the numbers of mirrors of a store.
type Counts struct{ All, Stopped, Failing int64 }

// Count counts the mirrors.
func Count(tx *db.Tx) (c Counts, err error) {
	err = tx.QueryRow(`SELECT COUNT(*), COUNT(CASE WHEN active = FALSE THEN 1 END),
		COUNT(CASE WHEN active = TRUE AND failures > 0 THEN 1 END) FROM mirrors`).Scan(&c.All, &c.Stopped, &c.Failing)
	return c, err
}
