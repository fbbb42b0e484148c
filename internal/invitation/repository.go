package invitation

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Add gives a user a role on a repository and replaces a former one. Where the server requires invitations,
// people who are neither collaborators nor members of its organization are invited: then i is not nil. Errors:
// those of [repo.HoldForGrant] and of [Service.Invite].
func (s *Service) Add(
	ctx context.Context, a *repo.Access, login string, role account.Role,
) (i *Invitation, err error) {
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		i = nil
		to, user, err := repo.HoldForGrant(tx, a.ID, login)
		if err != nil {
			return err
		}
		if s.Requires(a.Caller) {
			known, err := repo.PeopleByID(tx, to.Repo, []account.ID{user.ID})
			if err != nil {
				return err
			}
			if p := known[user.ID]; !p.Member && !p.Collaborator {
				i, err = invite(tx, to, user, role, a.Caller)
				return err
			}
		}
		return s.repos.GrantIn(tx, to.Repo, user.ID, role, a.Caller.ID)
	})
	return i, err
}

// Invite invites a user to a repository, for its administrators. An open invitation gets the role. Errors: 404 for
// the user; 422 for people who cannot be invited, and for too many within a day.
func (s *Service) Invite(
	ctx context.Context, a *repo.Access, login string, role account.Role,
) (i *Invitation, err error) {
	if err := a.Require(account.Admin); err != nil {
		return nil, err
	}
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		to, user, err := repo.HoldForGrant(tx, a.ID, login)
		if err != nil {
			return err
		}
		known, err := repo.PeopleByID(tx, to.Repo, []account.ID{user.ID})
		if err != nil {
			return err
		}
		if known[user.ID].Collaborator {
			return wrongInvitee("is a collaborator already")
		}
		i, err = invite(tx, to, user, role, a.Caller)
		return err
	})
	return i, err
}

// invite invites a user to a repository that the transaction holds.
func invite(
	tx *db.Tx, to *repo.Access, user *account.Account, role account.Role, by *account.Caller,
) (*Invitation, error) {
	if err := checkInvitee(user, by); err != nil {
		return nil, err
	}
	now, err := open(tx, ` WHERE i.repo_id = $1 AND i.invitee_id = $2`, to.ID, user.ID).one(tx)
	if err == nil {
		return now, change(tx, to.Repo, now, role)
	}
	if !errs.Is(err, errs.NotFound) {
		return nil, err
	}
	i := &Invitation{repoID: to.ID, inviteeID: user.ID, inviterID: by.ID, Role: role}
	if err := add(tx, i); err != nil {
		return nil, err
	}
	if err := record(tx, audit.RepoInvite, to.Repo, i, map[string]any{"permission": role.String()}); err != nil {
		return nil, err
	}
	return i, tell(tx, i)
}

// checkInvitee refuses people who could not accept, and Apps: their rights do not outlast an installation.
func checkInvitee(user *account.Account, by *account.Caller) error {
	switch {
	case by.App != 0:
		return errs.New(errs.Forbidden, "An App cannot invite people.")
	case user.ID == by.ID:
		return wrongInvitee("is your own account")
	case !user.SuspendedAt.IsZero():
		return wrongInvitee("is suspended")
	}
	return nil
}

func wrongInvitee(why string) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: "invitee", Code: errs.Custom,
		Message: "This account cannot be invited: it " + why + "."})
}

// change gives an open invitation another role.
func change(tx *db.Tx, r *repo.Repo, i *Invitation, role account.Role) error {
	if i.Role == role {
		return nil
	}
	changes := map[string]any{"old_permission": i.Role.String(), "permission": role.String()}
	if err := record(tx, audit.RepoInviteUpdate, r, i, changes); err != nil {
		return err
	}
	i.Role = role
	return setRole(tx, i.ID, role)
}

func record(tx *db.Tx, action audit.Action, r *repo.Repo, i *Invitation, changes map[string]any) error {
	e := r.Audited(action, changes)
	e.User, e.Right = i.Invitee.Audited(), audit.RepoAdmin
	if action == audit.RepoInviteReject {
		e.Right = audit.Self
	}
	return audit.Record(tx, e)
}

// OfRepo lists the open invitations to a repository, for its administrators.
func (s *Service) OfRepo(
	ctx context.Context, a *repo.Access, p web.Page,
) (list []*Invitation, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, total, err = open(tx, ` WHERE i.repo_id = $1`, a.ID).page(tx, p)
		return err
	})
	return list, total, err
}

// held locks the repository and finds an open invitation to it. Error: 404.
func held(tx *db.Tx, a *repo.Access, id ID) (*Invitation, error) {
	if err := repo.Lock(tx, a.ID); err != nil {
		return nil, err
	}
	return open(tx, ` WHERE i.repo_id = $1 AND i.id = $2`, a.ID, id).one(tx)
}

// Update gives an open invitation another role. Error: 404.
func (s *Service) Update(
	ctx context.Context, a *repo.Access, id ID, role account.Role,
) (i *Invitation, err error) {
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if i, err = held(tx, a, id); err != nil {
			return err
		}
		return change(tx, a.Repo, i, role)
	})
	return i, err
}

// Cancel ends an open invitation. Error: 404.
func (s *Service) Cancel(ctx context.Context, a *repo.Access, id ID) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		i, err := held(tx, a, id)
		if err != nil {
			return err
		}
		if err := endWhere(tx, `id = $1`, id); err != nil {
			return err
		}
		return record(tx, audit.RepoInviteCancel, a.Repo, i, nil)
	})
}

// OfInvitee lists the caller's open invitations to repositories.
func (s *Service) OfInvitee(
	ctx context.Context, caller *account.Caller, p web.Page,
) (list []*Invitation, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, total, err = open(tx, toRepos+caller.AndOpenRepo("r"), caller.ID).page(tx, p)
		return err
	})
	return list, total, err
}

// To finds the caller's open invitation to the repository OWNER/NAME. Error: 404.
func (s *Service) To(
	ctx context.Context, caller *account.Caller, owner, name string,
) (i *Invitation, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Invitation, error) {
		return open(tx, toRepos+` AND r.name_folded = $2
			AND r.owner_id = (SELECT id FROM accounts WHERE login_folded = $3)`+caller.AndOpenRepo("r"),
			caller.ID, account.Fold(name), account.Fold(owner)).one(tx)
	})
}

// taken finds the caller's open invitation and locks its repository. Error: 404.
func taken(tx *db.Tx, caller *account.Caller, id ID) (*Invitation, error) {
	mine := open(tx, toRepos+` AND i.id = $2`+caller.AndOpenRepo("r"), caller.ID, id)
	i, err := mine.one(tx)
	if err != nil {
		return nil, err
	}
	if err := repo.Lock(tx, i.repoID); err != nil {
		return nil, err
	}
	return mine.one(tx) // again: another request may have ended it
}

// Accept makes the caller a collaborator. Errors: 403 if the repository is archived or the inviter may not invite
// any more, 404.
func (s *Service) Accept(ctx context.Context, caller *account.Caller, id ID) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		i, err := taken(tx, caller, id)
		if err != nil {
			return err
		}
		if i.Repo.Archived {
			return repo.ErrArchived()
		}
		people, err := repo.PeopleByID(tx, i.Repo.Repo, []account.ID{i.inviterID})
		if err != nil {
			return err
		}
		if people[i.inviterID].Role < account.Admin {
			return errOutdated(i)
		}
		return s.repos.GrantIn(tx, i.Repo.Repo, caller.ID, i.Role, caller.ID) // which ends it
	})
}

func errOutdated(i *Invitation) error {
	return errs.Newf(errs.Forbidden, "%s cannot invite people here any more: ask for another invitation.",
		i.Inviter.Login)
}

// Decline ends an invitation of the caller. Error: 404.
func (s *Service) Decline(ctx context.Context, caller *account.Caller, id ID) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		i, err := taken(tx, caller, id)
		if err != nil {
			return err
		}
		if err := endWhere(tx, `id = $1`, id); err != nil {
			return err
		}
		return record(tx, audit.RepoInviteReject, i.Repo.Repo, i, nil)
	})
}
