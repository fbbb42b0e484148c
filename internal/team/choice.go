package team

import (
	"context"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// Choice chooses among teams by more than REST's lists choose by. The zero value is all of them.
type Choice struct {
	Top    bool          // without a parent
	None   bool          // no team at all
	Secret web.Opt[bool] // not set: either
	Quiet  web.Opt[bool] // not set: either
	Text   string        // a part of the slug
	Users  []string      // logins: one of them is in the team
	Role   Role          // the caller's own in the team; Outside: any
	Desc   bool          // the last slug first
	Below  bool          // of those below a team: also those below them
}

// ChooseEach reads a page of the teams of each of several organizations that the caller may see, with a fixed number
// of statements. An organization of which the caller is not a member has none.
func (s *Service) ChooseEach(
	ctx context.Context, caller *account.Caller, orgs []account.ID, c Choice, page web.Page,
) (found map[account.ID]*web.List[*Team], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		may, err := account.AccessTo(tx, caller, orgs)
		if err != nil {
			return err
		}
		inside := slices.DeleteFunc(slices.Clone(orgs), func(id account.ID) bool { return !may[id].Member })
		found, err = ofOrgs(tx, caller, inside, may, c, page)
		return err
	})
	return found, err
}

// ChooseBelowEach reads a page of the teams below each of several teams that the caller sees, with a fixed number of
// statements.
func (s *Service) ChooseBelowEach(
	ctx context.Context, caller *account.Caller, of []ID, c Choice, page web.Page,
) (found map[ID]*web.List[*Team], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		seen, err := byIDs(tx, caller, of)
		if err == nil {
			found, err = childrenOf(tx, caller, slices.Collect(maps.Keys(seen)), c, page)
		}
		return err
	})
	return found, err
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

// ChooseMembersEach reads a page of the people of each of several teams that the caller sees, with a fixed number of
// statements.
func (s *Service) ChooseMembersEach(
	ctx context.Context, caller *account.Caller, of []ID, c MemberChoice, page web.Page,
) (found map[ID]*web.List[Person], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		seen, err := byIDs(tx, caller, of)
		if err == nil {
			found, err = listMembers(tx, slices.Collect(maps.Keys(seen)), c, page)
		}
		return err
	})
	return found, err
}

// RepoChoice chooses among the repositories of a team, and sorts them, by more than REST's list does.
type RepoChoice struct {
	Text string // a part of the name
	By   string // created, updated, pushed, stars, name or role; empty: by their ids
	Desc bool
}

// ChooseReposEach reads a page of the repositories of each of several teams that the caller sees, with a fixed number
// of statements.
func (s *Service) ChooseReposEach(
	ctx context.Context, caller *account.Caller, of []ID, c RepoChoice, page web.Page,
) (found map[ID]*web.List[Repo], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		seen, err := byIDs(tx, caller, of)
		if err == nil {
			found, err = listRepos(tx, caller, slices.Collect(maps.Keys(seen)), c, page)
		}
		return err
	})
	return found, err
}
