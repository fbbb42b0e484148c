package forge

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/invitation"
)

// InviteMember invites a user to an organization, if the server requires that of the caller.
func (f *Forge) InviteMember(
	tx *db.Tx, org, user *account.Account, owner bool, by *account.Caller,
) (asked bool, err error) {
	return f.Invitations.RequireMember(tx, org, user, owner, by)
}

// InvitedMember finds an open invitation to an organization. Error: 404.
func (f *Forge) InvitedMember(tx *db.Tx, org, user *account.Account) (*account.Membership, error) {
	return invitation.InvitedMember(tx, org, user)
}

// EndInvitation ends an open invitation to an organization. Error: 404.
func (f *Forge) EndInvitation(tx *db.Tx, org, user *account.Account, by *account.Caller) error {
	return invitation.EndMember(tx, org, user, by)
}
