package external

import (
	"context"
	"errors"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/team"
)

// known reads accounts with an identity of a source, with what they have here, in three statements. nil: all of them.
func (s *Service) known(ctx context.Context, of *Source, ids []account.ID) (list []*known, err error) {
	if ids != nil && len(ids) == 0 {
		return nil, nil
	}
	byID := map[account.ID]*known{}
	args := []any{of.Issuer}
	among := accountsIn(ids, &args)
	err = s.o.DB.ReadLong(ctx, func(tx *db.Tx) error {
		clear(byID)
		list, err = db.QueryList(tx, func(row db.Scanner) (*known, error) {
			k := &known{orgs: map[string]string{}, teams: map[string]bool{}}
			err := row.Scan(&k.identity, &k.id, &k.login, &k.subject, &k.admin, &k.suspendedAt, &k.suspendedBy)
			byID[k.id] = k
			return k, err
		}, `SELECT i.id, a.id, a.login, i.subject, a.site_admin, a.suspended_at, i.suspended_at
			FROM identities i JOIN accounts a ON a.id = i.account_id WHERE i.issuer = $1`+among+` ORDER BY i.id`, args...)
		if err != nil {
			return err
		}
		err = db.QueryEach(tx, func(row db.Scanner) error {
			var user account.ID
			var org string
			var owns bool
			if err := row.Scan(&user, &org, &owns); err != nil {
				return err
			}
			if byID[user].orgs[org] = member; owns {
				byID[user].orgs[org] = owner
			}
			return nil
		}, `SELECT i.account_id, o.login_folded, m.owner FROM identities i JOIN members m ON m.user_id = i.account_id
			JOIN accounts o ON o.id = m.org_id WHERE i.issuer = $1`+among, args...)
		if err != nil {
			return err
		}
		return db.QueryEach(tx, func(row db.Scanner) error {
			var user account.ID
			var org, slug string
			if err := row.Scan(&user, &org, &slug); err != nil {
				return err
			}
			byID[user].teams[org+"/"+account.Fold(slug)] = true
			return nil
		}, `SELECT i.account_id, o.login_folded, t.slug FROM identities i
			JOIN team_members m ON m.user_id = i.account_id AND m.role >= `+strconv.Itoa(int(team.Member))+`
			JOIN teams t ON t.id = m.team_id JOIN accounts o ON o.id = t.org_id WHERE i.issuer = $1`+among, args...)
	})
	return list, err
}

// isLinked reports whether an identity is still that of the account.
func isLinked(tx *db.Tx, k *known) (is bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM identities WHERE id = $1 AND account_id = $2 AND subject = $3)`,
		k.identity, k.id, k.subject).Scan(&is)
	return is, err
}

// noteSuspended notes since when an account is suspended because its source has it no longer; zero: it is not.
func noteSuspended(tx *db.Tx, identity int64, since db.Time) error {
	return tx.Run(`UPDATE identities SET suspended_at = $2 WHERE id = $1`, identity, since)
}

// SubjectOf returns the subject of an account at a source; empty: it has no identity there.
func SubjectOf(tx *db.Tx, of account.ID, source *Source) (subject string, err error) {
	err = tx.QueryRow(`SELECT subject FROM identities WHERE account_id = $1 AND issuer = $2`, of, source.Issuer).
		Scan(&subject)
	if errors.Is(err, db.ErrNoRows) {
		return "", nil
	}
	return subject, err
}

// comparisons are the jobs of comparing.
var comparisons = db.Jobs{Table: "comparisons", Key: "id"}

// Compared is the last comparison of a source.
type Compared struct {
	EndedAt db.Time // zero: there was none
	DueAt   db.Time // the next one
	Report
}

// compared reads the last comparison of a source.
func compared(tx *db.Tx, source string) (c Compared, err error) {
	err = tx.QueryRow(`SELECT ended_at, due_at, people, linked, missing, suspended, lifted, followed, problem
		FROM comparisons WHERE source = $1`, source).Scan(&c.EndedAt, &c.DueAt, &c.People, &c.Linked, &c.Missing,
		&c.Suspended, &c.Lifted, &c.Followed, &c.Problem)
	if errors.Is(err, db.ErrNoRows) {
		return Compared{}, nil
	}
	return c, err
}

// hasComparison reports whether a source has a row.
func hasComparison(tx *db.Tx, source string) (has bool, err error) {
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM comparisons WHERE source = $1)`, source).Scan(&has)
	return has, err
}

// planComparison makes the row of a source, unless there is one.
func planComparison(tx *db.Tx, source string, due db.Time) error {
	return tx.Run(`INSERT INTO comparisons (source, due_at) VALUES ($1, $2) ON CONFLICT (source) DO NOTHING`, source, due)
}

// storeReport stores what a comparison found.
func storeReport(tx *db.Tx, source string, r Report) error {
	return tx.Run(`UPDATE comparisons SET ended_at = $2, people = $3, linked = $4, missing = $5, suspended = $6,
		lifted = $7, followed = $8, problem = $9 WHERE source = $1`, source, tx.Now, r.People, r.Linked, r.Missing,
		r.Suspended, r.Lifted, r.Followed, r.Problem)
}
