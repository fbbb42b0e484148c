package account

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// An App acts where it is installed: with a token of the installation, as its bot. What such a token may,
// each route says by a category of permissions (package route); the bot itself has no role anywhere.

// installation is what a token of an installation reaches.
type installation struct {
	id          InstallationID
	owner       ID
	all         bool    // all of the owner's repositories
	chosen      []int64 // else these, in order
	selected    bool    // the installation is for some repositories
	narrowed    bool    // the token is for fewer
	tokenID     int64
	permissions scope.Permissions
}

// has reports that the token reaches a repository that the owner has.
func (i *installation) has(repoID int64, owner ID) bool {
	if owner != i.owner {
		return false
	}
	_, found := slices.BinarySearch(i.chosen, repoID)
	return found || i.all
}

// asInstalled is what an App may do by the route that it uses.
type asInstalled struct {
	role   Role // on repositories of the installation
	inOrg  Role // in its organization: Pull is a member's, Admin an owner's
	name   string
	level  string
	atLest Role
}

// text is the part of a View's key.
func (a asInstalled) text() string {
	return fmt.Sprintf("%d%d", a.role, a.inOrg)
}

// ForRoute returns the caller with the rights for a route that requires a permission. ok is false if the
// App lacks it. least is the role in the route's own right, which the permission includes.
func (c *Caller) ForRoute(name, level string, least Role) (*Caller, bool) {
	now := *c
	now.installed = asInstalled{role: Pull, name: name, level: level, atLest: least}
	if c.ForApp != 0 {
		return &now, !scope.OfAccount(name) || c.Grant.account.Has(name, level)
	}
	have := c.Grant.installation.permissions
	if name == "" {
		return &now, true
	}
	if !have.Has(name, level) {
		return &now, false
	}
	at := &now.installed
	writes := have.Has(name, "write")
	switch {
	case writes && name == "administration":
		at.role = Admin
	case writes:
		at.role = Push
	}
	at.role = max(at.role, least)
	switch {
	case name == "members" && !writes:
		at.inOrg = Pull
	case name == "members", len(name) > 13 && name[:13] == "organization_":
		at.inOrg = Admin
	}
	return &now, true
}

// asked returns the caller of before with the current rights of its token.
func (c *Caller) asked(before *Caller) *Caller {
	now, _ := c.ForRoute(before.installed.name, before.installed.level, before.installed.atLest)
	now.Refusal = before.Refusal
	return now
}

// Covers reports that the caller is an App's, and reaches the repository of an owner by its installation.
func (c *Caller) Covers(repoID int64, owner ID) bool {
	return c != nil && c.Reach == Installed && c.Grant.installation.has(repoID, owner)
}

// Opens reports that the caller may read what a category of permissions opens. Tokens of installations alone
// have categories; to all others everything is open.
func (c *Caller) Opens(category string) bool {
	return c == nil || c.Reach != Installed || c.Grant.installation.permissions.Has(category, "read")
}

// CoversSQL is Covers as a condition; owner and id are expressions.
func (c *Caller) CoversSQL(owner, id string) string {
	i := c.Grant.installation
	where := fmt.Sprintf(`%s = %d`, owner, i.owner)
	if i.selected {
		where += fmt.Sprintf(` AND EXISTS (SELECT 1 FROM installation_repos z WHERE z.installation_id = %d
			AND z.repo_id = %s)`, i.id, id)
	}
	if i.narrowed {
		where += fmt.Sprintf(
			` AND EXISTS (SELECT 1 FROM token_repos z WHERE z.token_id = %d AND z.repo_id = %s)`,
			i.tokenID, id)
	}
	return where
}

// inOrg is what an App may do in an organization by the route that it uses: as a member, as an owner, or
// nothing.
func (c *Caller) inOrg(org ID) Role {
	if c.Grant.installation.owner != org {
		return None
	}
	return c.installed.inOrg
}

// NarrowedToken reports a token that is for fewer repositories than its installation.
func (c *Caller) NarrowedToken() bool { return c.App != 0 && c.Grant.installation.narrowed }

// InstallationOf is the installation whose token the caller has; 0: none.
func (c *Caller) InstallationOf() InstallationID {
	if c == nil || c.App == 0 {
		return 0
	}
	return c.Grant.installation.id
}

// CallerOfInstallation is who acts by a token of an installation. Errors: 403, 404.
func CallerOfInstallation(tx *db.Tx, tokenID int64) (*Caller, error) {
	c, _, err := installationCaller(tx, tokenID)
	return c, err
}

// CreateBot registers the account as which an App acts. Error: 422 if there is or was one.
func CreateBot(tx *db.Tx, slug, name string) (*Account, error) {
	a := &Account{Login: BotLogin(slug), Kind: Bot, Name: &name}
	if err := insertAccount(tx, a); err != nil {
		return nil, errs.Wrap(errs.Invalid, fmt.Sprintf("the name of the App is taken: %q", slug), err)
	}
	return a, takeLogin(tx, a, Fold(a.Login))
}

// NewClientID returns the client id, the other name by which an App signs.
func NewClientID() string {
	var b [10]byte
	rand.Read(b[:])
	return "Iv23" + hex.EncodeToString(b[:])
}

// RemoveBot deletes the account of a deleted App: its texts become ghost's. They still count for the hourly
// rate of the App's owner: otherwise creating and deleting Apps would evade the rate.
func (s *Service) RemoveBot(tx *db.Tx, id, owner ID) error {
	if err := moveHour(tx, id, owner, textHour{}); err != nil {
		return err
	}
	ghost, err := ghostAccount(tx)
	if err != nil {
		return err
	}
	a, err := ByID(tx, id)
	if err != nil {
		return err
	}
	if err := retireLogin(tx, Fold(a.Login), id); err != nil {
		return err
	}
	if s.forge != nil {
		if err := s.forge.DeleteAccount(tx, id, ghost.ID, 0); err != nil {
			return err
		}
	}
	return removeAccount(tx, id)
}
