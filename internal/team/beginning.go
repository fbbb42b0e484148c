package team

import (
	"context"
	"unicode/utf8"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Beginning returns teams of the repository's organization whose slugs begin with a text, by slug, at most limit of
// them: those that the caller sees, so none to callers who are not members.
func (s *Service) Beginning(ctx context.Context, a *repo.Access, begin string, limit int64) (list []*Team, err error) {
	if a.Owner.Kind != account.Organization || a.Caller == nil {
		return nil, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		_, may, err := account.OrgFor(tx, a.Caller, a.Owner.Login)
		if err != nil || !may.Member {
			return err
		}
		list, _, err = pageOf(tx, `t.org_id = $1 AND substr(t.slug, 1, CAST($3 AS INTEGER)) = $4 AND `+
			Seen("t", may.Owner, "$2"), "t.slug", web.Page{Number: 1, Size: limit}, a.Owner.ID, account.IDOf(a.Caller),
			int64(utf8.RuneCountInString(begin)), begin)
		return err
	})
	return list, err
}
