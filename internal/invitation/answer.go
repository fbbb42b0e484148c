package invitation

import (
	"cmp"
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/web"
)

// toOrgs selects the invitations of $1 to organizations, by account or verified address, except those of suspended
// people.
const toOrgs = notSuspended + `i.id IN (SELECT id FROM invitations WHERE invitee_id = $1
	UNION ALL SELECT x.invitation_id FROM invited_addresses x JOIN emails e ON e.address = x.address
		WHERE e.account_id = $1 AND e.verified = TRUE)`

const notSuspended = ` JOIN accounts w ON w.id = i.inviter_id AND w.suspended_at IS NULL
	JOIN accounts o ON o.id = i.org_id WHERE `

// MembershipsOf lists the caller's open invitations to organizations.
func (s *Service) MembershipsOf(
	ctx context.Context, caller *account.Caller, p web.Page,
) (list []*Invitation, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if list, total, err = open(tx, toOrgs+caller.AndOpen("o.id"), caller.ID).page(tx, p); err != nil {
			return err
		}
		return fillInvitee(tx, caller, list...)
	})
	return list, total, err
}

// fillInvitee makes the caller the invitee of invitations to an address.
func fillInvitee(tx *db.Tx, caller *account.Caller, list ...*Invitation) error {
	if !slices.ContainsFunc(list, func(i *Invitation) bool { return i.Invitee == nil }) {
		return nil
	}
	a, err := account.ByID(tx, caller.ID)
	for _, i := range list {
		if i.Invitee == nil {
			i.Invitee = a
		}
	}
	return err
}

// ToOrg finds the caller's open invitation to an organization, or that of the link in a mail, unless it is empty.
// Error: 404.
func (s *Service) ToOrg(
	ctx context.Context, caller *account.Caller, orgLogin, link string,
) (i *Invitation, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Invitation, error) { return own(tx, caller, orgLogin, link) })
}

// own finds the caller's open invitation to an organization, or that of a link. Error: 404.
func own(tx *db.Tx, caller *account.Caller, orgLogin, link string) (i *Invitation, err error) {
	if link == "" {
		i, err = open(tx, toOrgs+` AND o.login_folded = $2`+caller.AndOpen("o.id"), caller.ID,
			account.Fold(orgLogin)).one(tx)
	} else {
		i, err = open(tx, notSuspended+`(ia.digest = $1 OR ia.digest_before = $1) AND o.login_folded = $2`+
			caller.AndOpen("o.id"), digest(link), account.Fold(orgLogin)).one(tx)
	}
	if err != nil {
		return nil, err
	}
	return i, fillInvitee(tx, caller, i)
}

// takenMember finds what own does, and locks the organization. Error: 404.
func takenMember(tx *db.Tx, caller *account.Caller, orgLogin, link string) (*Invitation, error) {
	i, err := own(tx, caller, orgLogin, link)
	if err != nil {
		return nil, err
	}
	if err := account.Lock(tx, i.orgID); err != nil {
		return nil, err
	}
	return own(tx, caller, orgLogin, link) // again: another request may have ended it
}

// AcceptMember makes the caller a member of the organization; link is that of a mail, or empty. Errors: 403 if the
// inviter does not own it any more, 404; 422 for a member.
func (s *Service) AcceptMember(
	ctx context.Context, caller *account.Caller, orgLogin, link string,
) (m *account.Membership, err error) {
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		i, err := takenMember(tx, caller, orgLogin, link)
		if err != nil {
			return err
		}
		may, err := i.holds(tx)
		if err != nil {
			return err
		}
		if !may {
			return errOutdated(i)
		}
		if i.Address != "" {
			member, _, err := account.OrgRole(tx, i.orgID, caller.ID)
			if err != nil || member {
				return cmp.Or[error](err, wrongInvitee("is a member already"))
			}
			if err := endInOrg(tx, `id = $1`, i.ID); err != nil {
				return err
			}
		}
		teams, err := teamsOf(tx, i)
		if err != nil {
			return err
		}
		m, err = s.accounts.PutMember(tx, caller, i.Org, i.Invitee, orgRole(i.Owner)) // which ends it
		if err != nil {
			return err
		}
		return s.Teams.Join(tx, caller, i.Invitee, teams)
	})
	return m, err
}

// DeclineMember ends the caller's invitation to an organization; link is that of a mail, or empty. Error: 404.
func (s *Service) DeclineMember(ctx context.Context, caller *account.Caller, orgLogin, link string) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		i, err := takenMember(tx, caller, orgLogin, link)
		if err != nil {
			return err
		}
		return endMember(tx, i, audit.OrgInviteReject)
	})
}
