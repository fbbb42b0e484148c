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
	Below  bool          // of those below a team: also those below them
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
		where := `t.parent_id = $1`
		if c.Below {
			where = isBelow
		}
		list, total, err = chosen(tx, where, c, page, a.ID)
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
	By     MemberSort
	Desc   bool
}

// MemberSort is by what the people of a team are sorted.
type MemberSort uint8

// The sorts; the first is the default.
const (
	ByAccount MemberSort = iota // by their ids
	ByLogin
	ByJoining
)

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

// RepoChoice chooses among the repositories of a team, and sorts them, by more than REST's list does.
type RepoChoice struct {
	Text string // a part of the name
	By   string // created, updated, pushed, stars, name or role; empty: by their ids
	Desc bool
}

// ChooseRepos is Repos for a choice.
func (s *Service) ChooseRepos(
	ctx context.Context, caller *account.Caller, ref Ref, c RepoChoice, page web.Page,
) (list []Repo, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err := find(tx, caller, ref)
		if err != nil {
			return err
		}
		list, total, err = listRepos(tx, a, c, page)
		return err
	})
	return list, total, err
}
