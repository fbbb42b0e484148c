package team

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// OfOrg returns those of the teams that belong to an organization, by slug.
func OfOrg(tx *db.Tx, orgID account.ID, ids []ID) ([]*Team, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return query(tx, `t.org_id = $1 AND t.id IN `+db.ValuesFrom(2, 1, len(ids))+` ORDER BY t.slug`,
		db.Args(ids, orgID)...)
}

// Join adds the caller, who has just become a member of the organization that the transaction holds, to teams.
func (s *Service) Join(tx *db.Tx, caller *account.Caller, user *account.Account, teams []*Team) error {
	for _, t := range teams {
		if err := s.put(tx, &Access{Team: t, Caller: caller}, user, web.Opt[Role]{}); err != nil {
			return err
		}
	}
	return nil
}

// Find finds the team of an address that the caller may see. Error: 404.
func (s *Service) Find(ctx context.Context, r *http.Request) (a *Access, err error) {
	ref, err := refOf(r)
	if err != nil {
		return nil, err
	}
	return s.Get(ctx, account.CallerFrom(ctx), ref)
}
