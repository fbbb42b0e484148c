package main

import (
	"context"
	"fmt"
	"log/slog"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/forge"
	"arbor/internal/mirror"
	"arbor/internal/repo"
)

type userCommand struct {
	Create     userCreate      `cmd:"" help:"Create a user."`
	List       userList        `cmd:"" help:"List all users."`
	Show       userShow        `cmd:"" help:"Show a user's details."`
	Invite     userInvite      `cmd:"" help:"Invite somebody to create an account, by a mail or a link that is printed."`
	Invited    userInvitations `cmd:"" name:"invitations" help:"List or revoke invitations to create an account."`
	Requests   userRequests    `cmd:"" help:"List the accounts that people asked for."`
	Approve    userApprove     `cmd:"" help:"Create an account that somebody asked for."`
	Decline    userDecline     `cmd:"" help:"Decline an account that somebody asked for."`
	Suspend    userSuspend     `cmd:"" help:"Suspend a user: its tokens, keys and sessions stop working at once."`
	Unsuspend  userUnsuspend   `cmd:"" help:"Lift a suspension; tokens that have not expired work again."`
	Promote    userPromote     `cmd:"" help:"Make a user a site administrator."`
	Demote     userDemote      `cmd:"" help:"Remove a user's site administrator rights."`
	Rename     userRename      `cmd:"" help:"Change a user's login. The old one redirects and stays reserved."`
	Delete     userDelete      `cmd:"" help:"Delete a user that owns nothing. Its texts are shown as by ghost, and its login stays reserved."`
	Passwd     userPasswd      `cmd:"" help:"Set a user's password for the pages, from a prompt or the first line of standard input. Ends the user's sessions."`
	Identities userIdentities  `cmd:"" help:"List or unlink a user's identities of other servers."`
	Claim      userClaim       `cmd:"" help:"Give the texts of a mannequin, who stands for somebody of another server, to a user."`
	Factors    userFactors     `cmd:"" help:"Show or remove a user's second factors."`
	Quota      userQuota       `cmd:"" help:"Show or change how many repositories a user may own, and their total size."`
	Email      emailCommand    `cmd:"" help:"Manage the e-mail addresses that attribute commits to users."`
	Key        keyCommand      `cmd:"" help:"Manage the SSH keys of users."`
}

type userCreate struct {
	storeFlags
	Login string `arg:"" help:"Login of the user: letters, digits, '-', '.' and '_'."`
	Name  string `help:"Full name."`
	Email string `help:"Verified e-mail address; commits with it are shown as the user's."`
	Admin bool   `help:"Make the user a site administrator."`
}

// Run registers the user.
func (c *userCreate) Run(p *process) error {
	return withNewStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		made, err := s.forge(log).Accounts.CreateUser(p.ctx,
			account.NewUser{Login: c.Login, Name: c.Name, Email: c.Email, Admin: c.Admin})
		if err == nil {
			fmt.Fprintf(p.stdout, "created user %s\n", made.Login)
		}
		return err
	})
}

type orgCommand struct {
	Create orgCreate `cmd:"" help:"Create an organization."`
	List   orgList   `cmd:"" help:"List all organizations."`
	Show   orgShow   `cmd:"" help:"Show an organization's details."`
	Delete orgDelete `cmd:"" help:"Delete an organization that has no repositories. Its login stays reserved."`
	Quota  orgQuota  `cmd:"" help:"Show or change how many repositories an organization may own, and their total size."`
	Rename orgRename `cmd:"" help:"Change an organization's login. The old one redirects and stays reserved."`
}

type orgCreate struct {
	storeFlags
	Login string `arg:"" help:"Login of the organization."`
	Owner string `required:"" help:"Login of its first owner." placeholder:"LOGIN"`
}

// Run registers the organization.
func (c *orgCreate) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		made, err := s.forge(log).Accounts.CreateOrg(p.ctx, c.Login, c.Owner)
		if err == nil {
			fmt.Fprintf(p.stdout, "created organization %s\n", made.Login)
		}
		return err
	})
}

type repoCommand struct {
	Create    repoCreate     `cmd:"" help:"Create a repository, empty or with the history of another."`
	List      repoList       `cmd:"" help:"List all repositories, or those of one owner."`
	Archive   repoArchive    `cmd:"" help:"Make a repository read-only."`
	Unarchive repoUnarchive  `cmd:"" help:"Make an archived repository writable again."`
	Transfer  repoTransfer   `cmd:"" help:"Transfer a repository to another owner."`
	Delete    repoDelete     `cmd:"" help:"Delete a repository and everything in it."`
	Deleted   repoDeleted    `cmd:"" help:"List deleted repositories that can be restored."`
	Restore   repoRestore    `cmd:"" help:"Restore a deleted repository."`
	Remove    repoRemove     `cmd:"" help:"Remove a deleted repository now. This cannot be undone."`
	Key       repoKeyCommand `cmd:"" help:"Manage the deploy keys of repositories."`
	Purge     repoPurge      `cmd:"" help:"Remove unreachable objects, such as a secret that was pushed by mistake. This cannot be undone."`
	GiveBack  repoGiveBack   `cmd:"" help:"Restore a hidden fork, whose root was deleted, to its owner."`
}

type repoGiveBack struct {
	onRepo
}

// Run restores the fork, which only site administrators saw until then.
func (c *repoGiveBack) Run(p *process) error {
	return c.change(p, "gave %s back", func(f *forge.Forge, a *repo.Access) error {
		return f.Network.GiveBack(p.ctx, nil, a.ID)
	})
}

type repoCreate struct {
	storeFlags
	Repository  string `arg:"" name:"owner/name" help:"The repository."`
	Private     bool   `help:"Make it visible only to people with access."`
	Description string `help:"Short description."`
	Import      string `help:"Copy branches, tags and history from this repository." xor:"import" placeholder:"PATH-OR-URL"`
	Mirror      string `help:"Make it a mirror of this repository: a running server copies it, and looks for changes every hour." placeholder:"URL" xor:"import"`
}

// Run creates the repository. If the import fails, the repository is removed.
func (c *repoCreate) Run(p *process) error {
	owner, name, err := splitRepo(c.Repository)
	if err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		n := repo.NewRepo{Owner: owner, Name: name, Private: c.Private}
		if c.Description != "" {
			n.Description = &c.Description
		}
		f := s.forge(log)
		made, err := f.Repos.Create(p.ctx, nil, n)
		if errs.Is(err, errs.NotFound) {
			return errs.Newf(errs.NotFound, "user or organization %q not found", owner)
		}
		if err != nil {
			return err
		}
		if c.Mirror != "" {
			return c.mirror(p, f, made)
		}
		if c.Import == "" {
			fmt.Fprintf(p.stdout, "created repository %s\n", made.FullName())
			return nil
		}
		line := newProgress(p.stderr)
		refs, err := f.Transport.Import(p.ctx, made, c.Import, line.show)
		line.end()
		if err != nil {
			return dropFailed(p, f, made, err)
		}
		fmt.Fprintf(p.stdout, "created repository %s with %d refs\n", made.FullName(), refs)
		return nil
	})
}

// mirror makes the new repository a mirror.
func (c *repoCreate) mirror(p *process, f *forge.Forge, made *repo.Repo) error {
	found, err := findRepo(p, f.Repos, made.Owner.Login, made.Name)
	if err == nil {
		_, _, err = anyMirrors(f).Set(p.ctx, found, mirror.Edit{URL: c.Mirror, FollowHead: true})
	}
	if err != nil {
		return dropFailed(p, f, made, err)
	}
	fmt.Fprintf(p.stdout, "created repository %s, a mirror of %s\n", made.FullName(), c.Mirror)
	return nil
}

// dropFailed takes back a repository whose import failed.
func dropFailed(p *process, f *forge.Forge, made *repo.Repo, cause error) error {
	if err := f.Settings.Delete(context.WithoutCancel(p.ctx), &repo.Access{Repo: made}); err != nil {
		return fmt.Errorf("%w; and the empty repository could not be removed: %v", cause, err)
	}
	f.Repos.Wait()
	return cause
}
