package account

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Edit is a change of a profile. A field that is not set stays; null and an empty text take the value away.
type Edit struct {
	Name, Email, Company, Blog, Location web.Opt[string]

	Bio web.Opt[string] // of an organization its description

	// of an organization: none, read, write or admin; whether members may fork private repositories
	DefaultPermission web.Opt[string]
	PrivateForks      web.Opt[bool]

	// of an organization: whether members may create repositories at all, public ones and private ones
	CreateRepos, CreatePublic, CreatePrivate web.Opt[bool]

	BillingEmail    web.Opt[string] // of an organization
	FactorsRequired web.Opt[bool]   // at once; an organization that requires factors after a grace time stays so
}

// lines are the fields that have one line, by their names.
func (e *Edit) lines() []lineField {
	return []lineField{{"name", &e.Name}, {"email", &e.Email}, {"company", &e.Company}, {"blog", &e.Blog},
		{"location", &e.Location}}
}

type lineField struct {
	name  string
	value *web.Opt[string]
}

// check notes a text that has more than one line.
func (l *lineField) check(f *web.Faults) {
	if HasControl(l.value.Value) {
		f.Wrong(l.name, errs.InvalidField, l.name+" must be one line of text")
	}
}

// bioOf is the name that the bio of a resource has.
func bioOf(resource string) string {
	if resource == orgResource {
		return "description"
	}
	return "bio"
}

// The names of accounts in errors.
const userResource, orgResource = "User", "Organization"

// readEdit reads the body of a PATCH. Errors are recorded in o.
func readEdit(o *web.Object) Edit {
	var e Edit
	for _, l := range e.lines() {
		*l.value = o.String(l.name, MaxLine)
		l.check(&o.Faults)
	}
	e.Bio = o.String(bioOf(o.Resource), maxBio)
	e.checkEmail(&o.Faults)
	if o.Resource == orgResource {
		e.readOrg(o)
	}
	return e
}

// readOrg reads what only organizations have.
func (e *Edit) readOrg(o *web.Object) {
	e.DefaultPermission = o.Enum(permissionField, permissions...)
	if e.DefaultPermission.Null {
		o.Wrong(permissionField, errs.InvalidField, permissionField+" must not be null")
	}
	if e.PrivateForks = o.Bool(privateForksField); e.PrivateForks.Null {
		o.Wrong(privateForksField, errs.InvalidField, privateForksField+" must not be null")
	}
	e.CreateRepos = o.Bool("members_can_create_repositories")
	e.CreatePublic = o.Bool("members_can_create_public_repositories")
	e.CreatePrivate = o.Bool("members_can_create_private_repositories")
	if t := o.Enum("members_allowed_repository_creation_type", "all", "private", "none"); t.Given() {
		e.CreateRepos, e.CreatePublic = web.Some(t.Value != "none"), web.Some(t.Value == "all")
		e.CreatePrivate = web.Some(t.Value != "none")
	}
	e.BillingEmail = o.String("billing_email", MaxLine)
	l := lineField{"billing_email", &e.BillingEmail}
	l.check(&o.Faults)
	checkAddress(&o.Faults, "billing_email", e.BillingEmail)
	e.FactorsRequired = o.Bool("two_factor_requirement_enabled") // null, as members read it, changes nothing
}

const (
	permissionField   = "default_repository_permission"
	privateForksField = "members_can_fork_private_repositories" // decision 62
)

func (e *Edit) checkEmail(f *web.Faults) { checkAddress(f, "email", e.Email) }

func checkAddress(f *web.Faults, field string, v web.Opt[string]) {
	if address := v.Or(""); address != "" && !PlausibleEmail(address) {
		f.Wrong(field, errs.InvalidField, field+" must be an e-mail address")
	}
}

// check is the 422 for what is wrong with the values, or nil.
func (e *Edit) check(resource string) error {
	f := web.Faults{Resource: resource}
	for _, l := range e.lines() {
		f.CheckText(l.name, l.value.Value, MaxLine)
		l.check(&f)
	}
	f.CheckText(bioOf(resource), e.Bio.Value, maxBio)
	e.checkEmail(&f)
	if e.DefaultPermission.Given() {
		f.CheckEnum(permissionField, e.DefaultPermission.Value, permissions...)
	}
	return f.Err()
}

// permissions are the roles that default_repository_permission takes, as at GitHub.
var permissions = []string{"none", "read", "write", "admin"}

// fixedOfOrg refuses what cannot be set of an organization: each field may be what it is. Switches of features
// that are not here are ignored (decision 65).
func fixedOfOrg(o *web.Object) {
	o.Ignored("has_organization_projects", "has_repository_projects", "members_can_create_pages",
		"members_can_create_public_pages", "members_can_create_private_pages",
		"advanced_security_enabled_for_new_repositories",
		"dependabot_alerts_enabled_for_new_repositories",
		"dependabot_security_updates_enabled_for_new_repositories",
		"dependency_graph_enabled_for_new_repositories", "secret_scanning_enabled_for_new_repositories",
		"secret_scanning_push_protection_enabled_for_new_repositories",
		"secret_scanning_push_protection_custom_link_enabled")
	o.Fixed("web_commit_signoff_required", false)
	o.Fixed("members_can_create_internal_repositories", false)
	o.Fixed("deploy_keys_enabled_for_repositories", true)
	o.Fixed("twitter_username", "")
	o.Fixed("secret_scanning_push_protection_custom_link", "")
}

func (e *Edit) apply(a *Account) {
	set := func(to **string, v web.Opt[string]) {
		if v.Set {
			*to = web.OrNil(v.Value)
		}
	}
	set(&a.Name, e.Name)
	set(&a.Email, e.Email)
	set(&a.Company, e.Company)
	set(&a.Blog, e.Blog)
	set(&a.Location, e.Location)
	set(&a.Bio, e.Bio)
	if e.DefaultPermission.Given() {
		a.DefaultRole, _ = RoleNamed(e.DefaultPermission.Value)
	}
	a.PrivateForks = e.PrivateForks.Or(a.PrivateForks)
	set(&a.BillingEmail, e.BillingEmail)
	may := func(no *bool, v web.Opt[bool]) {
		if v.Given() {
			*no = !v.Value
		}
	}
	may(&a.Creation.NoRepos, e.CreateRepos)
	may(&a.Creation.NoPublic, e.CreatePublic)
	may(&a.Creation.NoPrivate, e.CreatePrivate)
}

// Get finds a person or an organization that the caller, perhaps nil, may see. Error: 404.
func (s *Service) Get(ctx context.Context, caller *Caller, login string) (*Account, error) {
	a, err := s.find(ctx, login)
	if err != nil {
		return nil, err
	}
	return a.seenBy(caller), nil
}

// find is ByLogin in a transaction of its own.
func (s *Service) find(ctx context.Context, login string) (a *Account, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Account, error) { return ByLogin(tx, login) })
}

// seenBy returns the account as it is shown to a caller: its address only to users who are signed in, as at
// GitHub, and its suspension only to site administrators, as at GitHub Enterprise.
func (a *Account) seenBy(caller *Caller) *Account {
	seen := *a
	if caller == nil {
		seen.Email = nil
	}
	if caller == nil || !caller.SiteAdmin {
		seen.SuspendedAt = 0
	}
	return &seen
}

// findByID is ByID in a transaction of its own.
func (s *Service) findByID(ctx context.Context, id ID) (a *Account, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Account, error) { return ByID(tx, id) })
}

// Self finds the caller's own account.
func (s *Service) Self(ctx context.Context, caller *Caller) (a *Account, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if a, err = ByID(tx, caller.ID); err == nil {
			a.TwoFactor, err = hasFactor(tx, a.ID)
		}
		return err
	})
	return a, err
}

// list returns the accounts with ids above since, at most limit of them.
func (s *Service) list(ctx context.Context, since ID, limit int64) (list []*Account, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*Account, error) { return accountsAfter(tx, since, limit) })
}

// Org finds an organization and what the caller may do there.
func (s *Service) Org(
	ctx context.Context, caller *Caller, login string,
) (org *Account, may OrgAccess, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if org, may, err = orgFor(tx, caller, login); err == nil && may.Owner {
			org.FactorsRequired, err = requiresFactors(tx, org.ID)
		}
		return err
	})
	return org, may, err
}

// EditSelf changes the caller's own profile. Error: 422, including an address that is reserved for
// another account.
func (s *Service) EditSelf(ctx context.Context, caller *Caller, e Edit) (a *Account, err error) {
	if err := e.check(userResource); err != nil {
		return nil, err
	}
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		if err := lockAccount(tx, caller.ID); err != nil {
			return err
		}
		if a, err = ByID(tx, caller.ID); err != nil {
			return err
		}
		if err := e.claimEmail(tx, a); err != nil {
			return err
		}
		if a.TwoFactor, err = hasFactor(tx, a.ID); err != nil {
			return err
		}
		before := *a
		e.apply(a)
		if err := e.record(tx, &before, a); err != nil {
			return err
		}
		return updateAccount(tx, a)
	})
	return a, err
}

// EditOrg changes an organization. Errors: 404; 403 for those who do not own it; 422.
func (s *Service) EditOrg(
	ctx context.Context, caller *Caller, login string, e Edit,
) (a *Account, err error) {
	if err := e.check(orgResource); err != nil {
		return nil, err
	}
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		if a, err = ownedOrg(tx, caller, login); err != nil {
			return err
		}
		before := *a
		e.apply(a)
		if err := e.record(tx, &before, a); err != nil {
			return err
		}
		if err := e.changeFactors(tx, caller, a); err != nil {
			return err
		}
		if err := updateAccount(tx, a); err != nil || a.DefaultRole == before.DefaultRole {
			return err
		}
		if a.DefaultRole > before.DefaultRole {
			return s.beginOrgAccess(tx, a.ID)
		}
		return s.endOrgAccess(tx, a.ID, caller.ID)
	})
	return a, err
}
