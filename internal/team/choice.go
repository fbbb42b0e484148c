package team

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// Choice chooses among teams by more than REST's lists choose by. The zero value is all of them.
type Choice struct {
	Top    bool          // without a parent
	Secret web.Opt[bool] // not set: either
	Text   string        // a part of the slug
	Users  []string      // logins: one of them is in the team
	Role   Role          // the caller's own in the team; Outside: any
	Desc   bool          // the last slug first
}

// Choose is List for a choice.
func (s *Service) Choose(
	ctx context.Context, caller *account.Caller, org string, c Choice, page web.Page,
) (list []*Team, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		of, may, err := members(tx, caller, org)
		if err != nil {
			return err
		}
		list, total, err = chosen(tx, `t.org_id = $1 AND `+Seen("t", may.Owner, "$2"), c, page, of.ID, account.IDOf(caller))
		return err
	})
	return list, total, err
}

// ChooseBelow is Children for a choice.
func (s *Service) ChooseBelow(
	ctx context.Context, caller *account.Caller, ref Ref, c Choice, page web.Page,
) (list []*Team, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := find(tx, caller, ref)
		if err != nil {
			return err
		}
		list, total, err = chosen(tx, `t.parent_id = $1`, c, page, a.ID)
		return err
	})
	return list, total, err
}

// MemberChoice chooses among the people of a team by more than REST's list chooses by.
type MemberChoice struct {
	Wanted string // all, member or maintainer
	Direct bool   // in the team itself
	Below  bool   // in teams below alone
	Text   string // a part of the login
}

// ChooseMembers is Members for a choice.
func (s *Service) ChooseMembers(
	ctx context.Context, caller *account.Caller, ref Ref, c MemberChoice, page web.Page,
) (list []Person, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := find(tx, caller, ref)
		if err != nil {
			return err
		}
		list, total, err = listMembers(tx, a.Team, c, page)
		return err
	})
	return list, total, err
}

// ChooseRepos is Repos for repositories whose names have a part.
func (s *Service) ChooseRepos(
	ctx context.Context, caller *account.Caller, ref Ref, text string, page web.Page,
) (list []Repo, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := find(tx, caller, ref)
		if err != nil {
			return err
		}
		list, total, err = listRepos(tx, a, text, page)
		return err
	})
	return list, total, err
}
