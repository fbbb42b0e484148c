package account

import (
	"context"
	"strings"

	"arbor/internal/db"
)

// Directory lists people or organizations for site administrators, including suspended ones.
type Directory struct {
	Kind  Kind
	Text  string // part of the login or the name; empty: all
	After string // the login behind which the list begins; empty: at its beginning
	Limit int
}

// Directory reads a part of the list in the order of the logins. more reports whether it continues.
func (s *Service) Directory(ctx context.Context, d Directory) (list []*Account, more bool, err error) {
	list, err = db.Get(ctx, s.db, func(tx *db.Tx) ([]*Account, error) { return directory(tx, d) })
	if more = len(list) > d.Limit; more {
		list = list[:d.Limit]
	}
	return list, more, err
}

// directory reads one account more than the limit, if there is one.
func directory(tx *db.Tx, d Directory) ([]*Account, error) {
	pattern := "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(d.Text) + "%"
	return Query(tx, ` WHERE a.kind = $1 AND a.login_folded > $2
		AND (a.login_folded LIKE $3 ESCAPE '!'
		OR LOWER(COALESCE(a.name, '')) LIKE LOWER(CAST($4 AS TEXT)) ESCAPE '!')
		ORDER BY a.login_folded LIMIT $5`, int64(d.Kind), Fold(d.After), Fold(pattern), pattern, d.Limit+1)
}

// QuotaFor reads the quota and usage of a user or an organization. Error: 404.
func (s *Service) QuotaFor(ctx context.Context, id ID) (q Quota, u Usage, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if q, u.Repos, err = QuotaOf(tx, id); err != nil {
			return err
		}
		u.KB, u.TextKB, err = sizes(tx, id)
		return err
	})
	return q, u, err
}
