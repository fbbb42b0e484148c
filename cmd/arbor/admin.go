package main

import (
	"context"
	"fmt"
	"log/slog"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/forge"
	"arbor/internal/repo"
)

type userCommand struct {
	Create    userCreate    `cmd:"" help:"Register a user."`
	List      userList      `cmd:"" help:"List all users."`
	Show      userShow      `cmd:"" help:"Show what is known of a user."`
	Suspend   userSuspend   `cmd:"" help:"Suspend an account at once: its tokens, keys and sessions do not work until it is unsuspended."`
	Unsuspend userUnsuspend `cmd:"" help:"End a suspension: tokens that have not expired work again."`
	Promote   userPromote   `cmd:"" help:"Make a user a site administrator, who may do everything."`
	Demote    userDemote    `cmd:"" help:"Make a site administrator an ordinary user."`
	Rename    userRename    `cmd:"" help:"Give a user another login; the old one redirects, and stays reserved."`
	Delete    userDelete    `cmd:"" help:"Delete a user who owns nothing: what it wrote becomes ghost's, its login stays reserved."`
	Passwd    userPasswd    `cmd:"" help:"Set the password with which a user signs in to the pages. It is asked for, or the first line of standard input. It opens pages and nothing else; setting it ends the user's sessions."`
	Quota     userQuota     `cmd:"" help:"Show or change how many repositories a user may own, and how large they may be together."`
	Email     emailCommand  `cmd:"" help:"Manage the addresses by which commits are a user's."`
	Key       keyCommand    `cmd:"" help:"Manage the SSH keys of users."`
}

type userCreate struct {
	storeFlags
	Login string `arg:"" help:"Name of the user in addresses: letters, digits, '-', '.' and '_'."`
	Name  string `help:"Name for people to read."`
	Email string `help:"E-mail address, which counts as verified: commits with it are the user's."`
	Admin bool   `help:"Make the user a site administrator, who may do everything."`
}

// Run registers the user.
func (c *userCreate) Run(p *process) error {
	return establish(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		made, err := s.forge(log).Accounts.CreateUser(p.ctx,
			account.NewUser{Login: c.Login, Name: c.Name, Email: c.Email, Admin: c.Admin})
		if err == nil {
			fmt.Fprintf(p.stdout, "created user %s\n", made.Login)
		}
		return err
	})
}

type orgCommand struct {
	Create orgCreate `cmd:"" help:"Register an organization."`
	List   orgList   `cmd:"" help:"List all organizations."`
	Show   orgShow   `cmd:"" help:"Show what is known of an organization."`
	Delete orgDelete `cmd:"" help:"Delete an organization without repositories; its login stays reserved."`
	Quota  orgQuota  `cmd:"" help:"Show or change how many repositories an organization may own, and how large they may be together."`
	Rename orgRename `cmd:"" help:"Give an organization another login; the old one redirects, and stays reserved."`
}

type orgCreate struct {
	storeFlags
	Login string `arg:"" help:"Name of the organization in addresses."`
	Owner string `required:"" help:"Login of its first owner." placeholder:"LOGIN"`
}

// Run registers the organization.
func (c *orgCreate) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		made, err := s.forge(log).Accounts.CreateOrg(p.ctx, c.Login, c.Owner)
		if err == nil {
			fmt.Fprintf(p.stdout, "created organization %s\n", made.Login)
		}
		return err
	})
}

type repoCommand struct {
	Create    repoCreate     `cmd:"" help:"Make a repository, empty or with the history of another."`
	List      repoList       `cmd:"" help:"List all repositories, or those of one owner."`
	Archive   repoArchive    `cmd:"" help:"Make a repository read-only for everybody."`
	Unarchive repoUnarchive  `cmd:"" help:"Let people write to an archived repository again."`
	Transfer  repoTransfer   `cmd:"" help:"Give a repository to another owner, with all that belongs to it."`
	Delete    repoDelete     `cmd:"" help:"Delete a repository with all that belongs to it, for good."`
	Key       repoKeyCommand `cmd:"" help:"Keep the SSH keys that reach one repository."`
	Purge     repoPurge      `cmd:"" help:"Remove objects that no ref leads to, for good: a secret that was pushed by mistake."`
	GiveBack  repoGiveBack   `cmd:"" help:"Show a withdrawn fork, whose root was deleted, to its owner again."`
}

type repoGiveBack struct {
	storeFlags
	Repository string `arg:"" name:"owner/name" help:"Owner's login and name of the repository."`
}

// Run gives the fork back, which only site administrators saw until then.
func (c *repoGiveBack) Run(p *process) error {
	owner, name, err := splitRepo(c.Repository)
	if err != nil {
		return err
	}
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		f := s.forge(log)
		found, err := findRepo(p, f.Repos, owner, name)
		if err == nil {
			err = f.Network.GiveBack(p.ctx, found.ID)
		}
		if err == nil {
			fmt.Fprintf(p.stdout, "gave %s back\n", found.FullName())
		}
		return err
	})
}

type repoCreate struct {
	storeFlags
	Repository  string `arg:"" name:"owner/name" help:"Owner's login and name of the repository."`
	Private     bool   `help:"Hide it from everyone without a role on it."`
	Description string `help:"What it is."`
	Import      string `help:"Take branches, tags and history from this repository." placeholder:"PATH-OR-URL"`
}

// Run makes the repository. When the import fails, none is left behind.
func (c *repoCreate) Run(p *process) error {
	owner, name, err := splitRepo(c.Repository)
	if err != nil {
		return err
	}
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		n := repo.NewRepo{Owner: owner, Name: name, Private: c.Private}
		if c.Description != "" {
			n.Description = &c.Description
		}
		f := s.forge(log)
		made, err := f.Repos.Create(p.ctx, nil, n)
		if errs.Is(err, errs.NotFound) {
			return errs.Newf(errs.NotFound, "there is no user or organization %q", owner)
		}
		if err != nil {
			return err
		}
		if c.Import == "" {
			fmt.Fprintf(p.stdout, "created repository %s\n", made.FullName())
			return nil
		}
		refs, err := f.Transport.Import(p.ctx, made, c.Import)
		if err != nil {
			return dropFailed(p, f, made, err)
		}
		fmt.Fprintf(p.stdout, "created repository %s with %d refs\n", made.FullName(), refs)
		return nil
	})
}

// dropFailed takes back a repository whose import failed.
func dropFailed(p *process, f *forge.Forge, made *repo.Repo, cause error) error {
	if err := f.Settings.Delete(context.WithoutCancel(p.ctx), made.ID, nil); err != nil {
		return fmt.Errorf("%w; and the empty repository could not be removed: %v", cause, err)
	}
	f.Repos.Wait()
	return cause
}
