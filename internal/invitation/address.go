package invitation

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"time"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
	"arbor/internal/repo"
)

// Mail is the kind of mails that invite people, to their account or to an address.
const Mail mail.Kind = "invited"

// About is what such a mail is about.
type About struct {
	ID ID `json:"id"`
}

// mailsOfAddress is how many invitations are mailed within a day to an address that no account has.
const mailsOfAddress = 5

// inviteAddress invites whoever has an address that no account has verified. The transaction holds the organization.
// Errors: 422, 429.
func inviteAddress(
	tx *db.Tx, org *account.Account, address string, owner bool, by *account.Caller,
) (*Invitation, error) {
	on, err := mail.IsOn(tx)
	switch {
	case err != nil:
		return nil, err
	case !on:
		return nil, errNobody()
	case by.App != 0:
		return nil, errs.New(errs.Forbidden, "An App cannot invite people.")
	case !account.PlausibleEmail(address) || account.Reserved(address):
		return nil, errs.Validation(errs.Field{Resource: OrgResource, Field: "email", Code: errs.InvalidField})
	}
	i, err := open(tx, ` WHERE i.org_id = $1 AND ia.address = $2`, org.ID, address).one(tx)
	if err == nil {
		return i, setRoleInOrg(tx, i, owner)
	}
	if !errs.Is(err, errs.NotFound) {
		return nil, err
	}
	if err := mail.Limit(tx, mail.OfAddress("invited", address), mailsOfAddress, 24*time.Hour); err != nil {
		return nil, err
	}
	i = &Invitation{orgID: org.ID, inviterID: by.ID, Owner: owner, Address: address}
	if err := addAddress(tx, i); err != nil {
		return nil, err
	}
	if err := recordMember(tx, audit.OrgInvite, i, map[string]any{"role": orgRole(owner)}); err != nil {
		return nil, err
	}
	if err := tellInvited(tx, i, by); err != nil {
		return nil, err
	}
	return i, mail.Add(tx, mail.Mail{Kind: Mail, Address: address, About: About{i.ID}})
}

// tell writes the mail to a user who is invited.
func tell(tx *db.Tx, i *Invitation) error {
	return mail.Add(tx, mail.Mail{Kind: Mail, Account: int64(i.inviteeID), About: About{i.ID}})
}

// ForMail returns an open invitation for the mail that tells of it, with the secret of the link if it goes to an address.
// Error: 404 if it has ended, or the inviter may not invite any more.
func (s *Service) ForMail(ctx context.Context, id ID) (i *Invitation, secret string, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		secret = ""
		if i, err = open(tx, ` JOIN accounts w ON w.id = i.inviter_id AND w.suspended_at IS NULL WHERE i.id = $1`,
			id).one(tx); err != nil {
			return err
		}
		if i.Org == nil && i.Repo == nil {
			return errs.Absent()
		}
		may, err := i.holds(tx)
		if err == nil && !may {
			err = errs.Absent()
		}
		if err != nil || i.Address == "" {
			return err
		}
		secret = rand.Text()
		return setDigest(tx, id, digest(secret))
	})
	return i, secret, err
}

// holds reports whether the inviter may still invite.
func (i *Invitation) holds(tx *db.Tx) (bool, error) {
	if i.Org != nil {
		_, owner, err := account.OrgRole(tx, i.orgID, i.inviterID)
		return owner || i.Inviter.SiteAdmin, err
	}
	people, err := repo.PeopleByID(tx, i.Repo.Repo, []account.ID{i.inviterID})
	return people[i.inviterID].Role >= account.Admin, err
}

// maxSecret is longer than any secret.
const maxSecret = 64

func digest(secret string) []byte {
	if len(secret) > maxSecret {
		secret = "" // which is none
	}
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
