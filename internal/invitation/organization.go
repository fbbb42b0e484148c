package invitation

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/team"
	"arbor/internal/web"
)

// RequireMember invites a user to an organization that the transaction holds, if the server requires that of the
// caller; else asked is false. Errors: those of [Service.InviteMember].
func (s *Service) RequireMember(
	tx *db.Tx, org, user *account.Account, owner bool, by *account.Caller,
) (asked bool, err error) {
	if !s.Requires(by) {
		return false, nil
	}
	_, err = inviteMember(tx, org, user, owner, by)
	return true, err
}

// Person names whom to invite to an organization, by one of its fields.
type Person struct {
	ID    account.ID
	Login string
	Email string // verified by an account; to others the invitation is mailed
}

// InviteMember invites a user to an organization, as an owner or a member, for its owners, who joins the teams
// when accepting. An open invitation gets the role and, unless teams is nil, the teams. Errors: 404 for the
// organization, 403 for callers who do not own it; 422 for people who do not exist or cannot be invited, and for
// too many within a day.
func (s *Service) InviteMember(
	ctx context.Context, caller *account.Caller, orgLogin string, who Person, owner bool,
	teams []team.ID,
) (i *Invitation, err error) {
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		org, err := account.HoldOwnedOrg(tx, caller, orgLogin)
		if err != nil {
			return err
		}
		user, err := who.find(tx)
		switch {
		case err != nil:
			return err
		case user == nil && who.Email != "":
			i, err = inviteAddress(tx, org, account.Fold(who.Email), owner, caller)
		case user == nil:
			return errNobody()
		default:
			i, err = invitePerson(tx, org, user, owner, caller)
		}
		if err == nil && teams != nil {
			err = setTeams(tx, i, teams)
		}
		return err
	})
	return i, err
}

// invitePerson invites a user who is no member yet. Errors: 422.
func invitePerson(
	tx *db.Tx, org, user *account.Account, owner bool, by *account.Caller,
) (*Invitation, error) {
	member, _, err := account.OrgRole(tx, org.ID, user.ID)
	if err != nil {
		return nil, err
	}
	if member {
		return nil, wrongInvitee("is a member already")
	}
	return inviteMember(tx, org, user, owner, by)
}

func errNobody() error {
	return errs.Validation(errs.Field{Resource: OrgResource, Field: "invitee", Code: errs.Missing,
		Message: "No user has this id, login or verified address."})
}

// find finds the person; nil: there is none.
func (p Person) find(tx *db.Tx) (user *account.Account, err error) {
	switch {
	case p.Email != "":
		found, err := account.ByEmails(tx, []string{p.Email})
		if err != nil {
			return nil, err
		}
		user = found[account.Fold(p.Email)]
	case p.Login != "":
		user, err = account.UserByLogin(tx, p.Login)
	default:
		user, err = account.ByID(tx, p.ID)
	}
	if errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	if user != nil && user.Kind != account.User {
		return nil, errNobody()
	}
	return user, err
}

// inviteMember invites a user to an organization that the transaction holds.
func inviteMember(
	tx *db.Tx, org, user *account.Account, owner bool, by *account.Caller,
) (*Invitation, error) {
	if err := checkInvitee(user, by); err != nil {
		return nil, err
	}
	i, err := inviteOf(tx, org, user)
	if err == nil {
		return i, setRoleInOrg(tx, i, owner)
	}
	if !errs.Is(err, errs.NotFound) {
		return nil, err
	}
	i = &Invitation{orgID: org.ID, inviteeID: user.ID, inviterID: by.ID, Owner: owner}
	if err := add(tx, i); err != nil {
		return nil, err
	}
	if err := recordMember(tx, audit.OrgInvite, i, map[string]any{"role": orgRole(owner)}); err != nil {
		return nil, err
	}
	if err := tellInvited(tx, i, by); err != nil {
		return nil, err
	}
	return i, tell(tx, i)
}

// setRoleInOrg gives an open invitation another role.
func setRoleInOrg(tx *db.Tx, i *Invitation, owner bool) error {
	if i.Owner == owner {
		return nil
	}
	changes := map[string]any{"role": orgRole(owner), "old_role": orgRole(i.Owner)}
	i.Owner = owner
	if err := setOwner(tx, i.ID, owner); err != nil {
		return err
	}
	return recordMember(tx, audit.OrgInvite, i, changes)
}

func recordMember(tx *db.Tx, action audit.Action, i *Invitation, changes map[string]any) error {
	e := audit.Entry{Action: action, Org: i.Org.Audited(), Right: audit.OrgOwner, Changes: changes}
	if i.Invitee != nil {
		e.User = i.Invitee.Audited()
	} else { // the log has no addresses
		e.Changes = map[string]any{"invitation_id": i.ID, "by_mail": true}
		maps.Copy(e.Changes, changes)
	}
	if action == audit.OrgInviteReject {
		e.Right = audit.Self
	}
	return audit.Record(tx, e)
}

// tellInvited records the webhook event of an invitation.
func tellInvited(tx *db.Tx, i *Invitation, by *account.Caller) error {
	info, err := hook.ListeningOwner(tx, i.orgID, "organization")
	if err != nil || info == nil {
		return err
	}
	e := hook.Event{Name: "organization", Action: "member_invited", Actor: by.ID,
		About: hook.About{User: i.inviteeID, Parts: map[string]json.RawMessage{}}}
	if e.About.Parts["invitation"], err = web.Marshal(newOrgPayload(i, info)); err != nil {
		return err
	}
	if i.Invitee == nil {
		return hook.RecordForOwner(tx, i.orgID, 0, e)
	}
	if e.About.Parts["user"], err = web.Marshal(account.NewSimple(i.Invitee, info)); err != nil {
		return err
	}
	return hook.RecordForOwner(tx, i.orgID, 0, e)
}

// OrgFilter chooses among the invitations to an organization.
type OrgFilter struct {
	Failed bool   // those that expired, not those that are open
	Role   string // admin, direct_member, or all; others have none
	Users  bool   // those to accounts alone
}

// OfOrg lists invitations to an organization, for its owners. Errors: 403, 404.
func (s *Service) OfOrg(
	ctx context.Context, caller *account.Caller, orgLogin string, f OrgFilter, p web.Page,
) (list []*Invitation, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		org, err := account.OwnedOrg(tx, caller, orgLogin)
		if err != nil {
			return err
		}
		rest := ` WHERE i.org_id = $1`
		if f.Users {
			rest += ` AND ia.invitation_id IS NULL`
		}
		switch f.Role {
		case "all":
		case "admin":
			rest += ` AND i.owner = TRUE`
		case "direct_member":
			rest += ` AND i.owner = FALSE`
		default:
			return nil
		}
		chosen := open(tx, rest, org.ID)
		if f.Failed {
			chosen = expired(tx, rest, org.ID)
		}
		list, total, err = chosen.page(tx, p)
		return err
	})
	return list, total, err
}

// CancelMember ends an open invitation to an organization, for its owners. Errors: 403, 404.
func (s *Service) CancelMember(ctx context.Context, caller *account.Caller, orgLogin string, id ID) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		org, err := account.HoldOwnedOrg(tx, caller, orgLogin)
		if err != nil {
			return err
		}
		i, err := open(tx, ` WHERE i.org_id = $1 AND i.id = $2`, org.ID, id).one(tx)
		if err != nil {
			return err
		}
		return endMember(tx, i, audit.OrgInviteCancel)
	})
}

func endMember(tx *db.Tx, i *Invitation, action audit.Action) error {
	if err := endInOrg(tx, `id = $1`, i.ID); err != nil {
		return err
	}
	return recordMember(tx, action, i, nil)
}

// InvitedMember finds the open invitation of a user to an organization as the membership that it will be. Error: 404.
func InvitedMember(tx *db.Tx, org, user *account.Account) (*account.Membership, error) {
	i, err := inviteOf(tx, org, user)
	if err != nil {
		return nil, err
	}
	return i.membership(), nil
}

func inviteOf(tx *db.Tx, org, user *account.Account) (*Invitation, error) {
	return open(tx, ` WHERE i.org_id = $1 AND i.invitee_id = $2`, org.ID, user.ID).one(tx)
}

func (i *Invitation) membership() *account.Membership {
	return &account.Membership{Org: i.Org, User: i.Invitee, Owner: i.Owner, Pending: true}
}

// EndMember ends the open invitation of a user to an organization that the transaction holds: the user declines
// it, or an owner cancels it. Error: 404.
func EndMember(tx *db.Tx, org, user *account.Account, by *account.Caller) error {
	i, err := inviteOf(tx, org, user)
	if err != nil {
		return err
	}
	if user.ID == by.ID {
		return endMember(tx, i, audit.OrgInviteReject)
	}
	return endMember(tx, i, audit.OrgInviteCancel)
}

func orgRole(owner bool) string {
	if owner {
		return "admin"
	}
	return "member"
}

// InvitedToEach lists the accounts with open invitations to each of several organizations that the caller owns, the
// oldest invitation first, with a fixed number of statements.
func (s *Service) InvitedToEach(
	ctx context.Context, caller *account.Caller, orgs []account.ID, p web.Page,
) (out map[account.ID]*web.List[*account.Simple], err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		may, err := account.AccessTo(tx, caller, orgs)
		if err != nil {
			return err
		}
		owned := slices.DeleteFunc(slices.Clone(orgs), func(id account.ID) bool { return !may[id].Owner })
		found, err := invitedToEach(tx, owned, p)
		if err != nil {
			return err
		}
		people, err := account.ByIDs(tx, db.ListedIDs(found))
		out = web.ListOfEach(p, found, func(r db.ListRow[account.ID]) (*account.Simple, bool) {
			return account.NewSimple(people[r.ID], web.From(ctx)), people[r.ID] != nil
		})
		return err
	})
	return out, err
}
