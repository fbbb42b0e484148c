package account

import (
	"context"
	"strconv"

	"arbor/internal/audit"
	"arbor/internal/db"
)

// Unbounded is a quota without a bound.
const Unbounded int64 = -1

// Quota is what an account may own. A nil bound is what the server says for all.
type Quota struct {
	Repos *int64 // how many repositories, or Unbounded
	KB    *int64 // their sizes together in KiB, or Unbounded
	Text  *int64 // its other texts in KiB, or Unbounded; see [Texts]
}

// Or returns the bounds, with those of another quota where this one has none.
func (q Quota) Or(other Quota) Quota {
	if q.Repos == nil {
		q.Repos = other.Repos
	}
	if q.KB == nil {
		q.KB = other.KB
	}
	if q.Text == nil {
		q.Text = other.Text
	}
	return q
}

// Usage is what an account owns, and has written.
type Usage struct{ Repos, KB, TextKB int64 }

// EditQuota calls change on the quota of a user or an organization, and returns it with the usage. Usage
// beyond a new limit is kept. Errors: 404; 422 for ghost.
func (s *Service) EditQuota(
	ctx context.Context, by *Caller, kind Kind, login string, change func(*Quota),
) (a *Account, q Quota, u Usage, err error) {
	err = s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		if a, err = held(tx, kind, login); err != nil {
			return err
		}
		if q, u.Repos, err = QuotaOf(tx, a.ID); err != nil {
			return err
		}
		change(&q)
		if err := setQuota(tx, a.ID, q); err != nil {
			return err
		}
		action := audit.UserUpdate
		if kind == Organization {
			action = audit.OrgUpdate
		}
		if err := Record(tx, action, a, "", map[string]any{"fields": []string{"quota"}}); err != nil {
			return err
		}
		u.KB, u.TextKB, err = sizes(tx, a.ID)
		return err
	})
	return a, q, u, err
}

// Kibibytes writes a size for people.
func Kibibytes(kb int64) string {
	for _, unit := range []string{"KiB", "MiB", "GiB"} {
		if kb < 1024 || kb%1024 != 0 {
			return strconv.FormatInt(kb, 10) + " " + unit
		}
		kb /= 1024
	}
	return strconv.FormatInt(kb, 10) + " TiB"
}
