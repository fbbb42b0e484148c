package account

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// changes are what a PATCH of a user or an organization asks for. A field that
// was not sent stays; null and an empty text take the value away.
type changes struct {
	name, email, company, blog, location, bio web.Opt[string]
	defaultRole                               web.Opt[Role]
	privateForks                              web.Opt[bool]
}

// readChanges reads the body of a PATCH. bio is the field name of the account's bio. Errors are recorded in
// o.
func readChanges(o *web.Object, bio string) changes {
	line := func(field string) web.Opt[string] {
		v := o.String(field, maxLine)
		if v.Given() && hasControl(v.Value) {
			o.Wrong(field, errs.InvalidField, field+" must be one line of text")
		}
		return v
	}
	c := changes{
		name: line("name"), email: line("email"), company: line("company"),
		blog: line("blog"), location: line("location"), bio: o.String(bio, maxBio),
	}
	if c.email.Or("") != "" && !plausibleEmail(c.email.Value) {
		o.Wrong("email", errs.InvalidField, "email must be an e-mail address")
	}
	return c
}

// permissions are the names of the roles in default_repository_permission.
var permissions = [...]string{None: "none", Pull: "read", Push: "write", Admin: "admin"}

// readDefaultRole reads default_repository_permission into the changes.
func (c *changes) readDefaultRole(o *web.Object) {
	const field = "default_repository_permission"
	v := o.Enum(field, permissions[:]...)
	if v.Null {
		o.Wrong(field, errs.InvalidField, field+" must not be null")
	}
	for role, name := range permissions {
		if v.Given() && v.Value == name {
			c.defaultRole = web.Opt[Role]{Set: true, Value: Role(role)}
		}
	}
}

// readPrivateForks reads members_can_fork_private_repositories (decision 62).
func (c *changes) readPrivateForks(o *web.Object) {
	const field = "members_can_fork_private_repositories"
	c.privateForks = o.Bool(field)
	if c.privateForks.Null {
		o.Wrong(field, errs.InvalidField, field+" must not be null")
	}
}

// fixedOfOrg refuses what cannot be set of an organization: each field may be what it is (decision 65).
func fixedOfOrg(o *web.Object) {
	for _, name := range [...]string{
		"has_organization_projects", "has_repository_projects", "web_commit_signoff_required",
		"members_can_create_internal_repositories", "members_can_create_pages",
		"members_can_create_public_pages",
		"members_can_create_private_pages", "advanced_security_enabled_for_new_repositories",
		"dependabot_alerts_enabled_for_new_repositories",
		"dependabot_security_updates_enabled_for_new_repositories",
		"dependency_graph_enabled_for_new_repositories", "secret_scanning_enabled_for_new_repositories",
		"secret_scanning_push_protection_enabled_for_new_repositories",
		"secret_scanning_push_protection_custom_link_enabled",
	} {
		o.Fixed(name, false)
	}
	for _, name := range [...]string{"members_can_create_repositories",
		"members_can_create_public_repositories", "members_can_create_private_repositories",
		"deploy_keys_enabled_for_repositories"} {
		o.Fixed(name, true)
	}
	o.Fixed("members_allowed_repository_creation_type", "all")
	o.Fixed("billing_email", "")
	o.Fixed("twitter_username", "")
	o.Fixed("secret_scanning_push_protection_custom_link", "")
}

func (c *changes) apply(a *Account) {
	set := func(to **string, v web.Opt[string]) {
		if v.Set {
			*to = web.OrNil(v.Value)
		}
	}
	set(&a.Name, c.name)
	set(&a.Email, c.email)
	set(&a.Company, c.company)
	set(&a.Blog, c.blog)
	set(&a.Location, c.location)
	set(&a.Bio, c.bio)
	a.DefaultRole = c.defaultRole.Or(a.DefaultRole)
	a.PrivateForks = c.privateForks.Or(a.PrivateForks)
}

// find is ByLogin in a transaction of its own.
func (s *Service) find(ctx context.Context, login string) (a *Account, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err = ByLogin(tx, login)
		return err
	})
	return a, err
}

// findByID is ByID in a transaction of its own.
func (s *Service) findByID(ctx context.Context, id ID) (a *Account, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		a, err = ByID(tx, id)
		return err
	})
	return a, err
}

// self finds the caller's own account.
func (s *Service) self(ctx context.Context, caller *Caller) (a *Account, err error) {
	return s.findByID(ctx, caller.ID)
}

// list returns the accounts with ids above since, at most limit of them.
func (s *Service) list(ctx context.Context, since ID, limit int64) (list []*Account, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, err = accountsAfter(tx, since, limit)
		return err
	})
	return list, err
}

// findOrg finds an organization and what the caller may do there.
func (s *Service) findOrg(
	ctx context.Context, caller *Caller, login string,
) (org *Account, may access, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		org, may, err = orgFor(tx, caller, login)
		return err
	})
	return org, may, err
}

// changeSelf changes the caller's own profile. Error: 422 for an address that is
// reserved for another account.
func (s *Service) changeSelf(ctx context.Context, caller *Caller, c changes) (a *Account, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := lockAccount(tx, caller.ID); err != nil {
			return err
		}
		if a, err = ByID(tx, caller.ID); err != nil {
			return err
		}
		if err := c.claimEmail(tx, a); err != nil {
			return err
		}
		before := *a
		c.apply(a)
		if err := c.record(tx, &before, a); err != nil {
			return err
		}
		return updateAccount(tx, a)
	})
	return a, err
}

// changeOrg changes an organization. Errors: 404; 403 for those who do not own it.
func (s *Service) changeOrg(
	ctx context.Context, caller *Caller, login string, c changes,
) (a *Account, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if a, err = ownedOrg(tx, caller, login); err != nil {
			return err
		}
		before := *a
		c.apply(a)
		if err := c.record(tx, &before, a); err != nil {
			return err
		}
		if err := updateAccount(tx, a); err != nil || before.DefaultRole == None || a.DefaultRole > None {
			return err
		}
		return s.endOrgAccess(tx, a.ID, caller.ID)
	})
	return a, err
}
