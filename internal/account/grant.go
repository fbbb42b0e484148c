package account

import (
	"fmt"
	"slices"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/scope"
)

// Grant holds the rights of a token, never more than its account has. It does not change during the token's
// life, except that deleted repositories are removed from it.
type Grant struct {
	Scopes scope.Set // of a classic token

	// Fine is a fine-grained token: of private repositories it sees the chosen ones, and it
	// changes only these, and only if Changes is set.
	Fine    bool
	Changes bool
	chosen  []int64 // ids of repositories, in order

	installation *installation // whose token it is; nil: none

	userToken bool              // by which a GitHub App acts for the account
	account   scope.Permissions // with userToken: those on the account itself

	ScopesHeader []string // the value of X-OAuth-Scopes
	ExpiryHeader []string // of GitHub-Authentication-Token-Expiration; nil: the token does not expire
}

// NewGrant returns the grant of a stored token: scopes is nil for one without limits, and
// chosen are the ids of a fine-grained token's repositories, in order.
func NewGrant(scopes *string, permission int64, expires db.Time, chosen []int64) (*Grant, error) {
	g := &Grant{Scopes: scope.All, Fine: permission != Classic, Changes: permission == FineWrite,
		chosen: chosen, userToken: permission == UserToken}
	if g.Fine {
		g.Scopes = 0
	} else if scopes != nil {
		var err error
		if g.Scopes, err = scope.ParseStored(*scopes); err != nil {
			return nil, err
		}
	}
	g.ScopesHeader = []string{g.Scopes.String()}
	if !expires.IsZero() {
		g.ExpiryHeader = []string{expires.Time().UTC().Format(time.DateTime + " MST")}
	}
	return g, nil
}

// Permissions of tokens, as they are stored.
const (
	Classic   = 0
	FineRead  = 1
	FineWrite = 2
	UserToken = 3 // of a GitHub App, which acts for the account within the permissions of its installations
)

// Limited reports that the token may do less than its account.
func (g *Grant) Limited() bool { return g != nil && g.Scopes != scope.All }

// ByApp reports a token by which a GitHub App acts for the account.
func (g *Grant) ByApp() bool { return g.userToken }

// Reach is which repositories a request may see and change, of those that its account may.
// The zero value takes nothing away.
type Reach uint8

// The reaches. Of private repositories all but the first see nothing, or the chosen ones.
const (
	Everything    Reach = iota
	PublicChanges       // changes public repositories
	PublicReads         // changes none
	Chosen              // those of a fine-grained token
	// that of a deploy key alone, which has a role of its own there; no other, not even public ones
	OneRepo
	Installed // those of an App's installation, on which it has a role of its own
	// those that the installations of an App reach, of the ones on which the person has a role for whom it acts
	Reached
)

// reach is the reach of the token unless the route says otherwise.
func (g *Grant) reach() Reach {
	switch {
	case g.installation != nil:
		return Installed
	case g.userToken:
		return Reached
	case g.Fine:
		return Chosen
	case g.Scopes.Any(scope.Repo):
		return Everything
	case g.Scopes.Any(scope.PublicRepo):
		return PublicChanges
	default:
		return PublicReads
	}
}

// limit returns the caller limited to what the token allows.
func (c *Caller) limit(g *Grant) {
	c.Grant, c.Reach = g, g.reach()
	c.HidesMembers = !g.Scopes.Any(scope.ReadOrg)
	c.Provisions = c.SiteAdmin && g.Scopes.Any(scope.SCIM)
	c.SiteAdmin = c.SiteAdmin && g.Scopes.Any(scope.SiteAdmin)
}

// Most returns the highest role that the caller's token allows on a repository. A nil caller, and one of
// this process, have no token.
func (c *Caller) Most(repoID int64, owner ID, private bool) Role {
	switch {
	case c == nil || c.Reach == Everything:
		return Admin
	case c.Reach == Installed && c.Grant.installation.has(repoID, owner):
		return c.installed.role
	case (c.Reach == Chosen || c.Reach == OneRepo) && c.Grant.has(repoID):
		if c.Grant.Changes {
			return Push
		}
		return Pull
	case private || c.Reach == OneRepo:
		return None
	case c.Reach == PublicChanges:
		return Admin
	default:
		return Pull
	}
}

// has reports that a fine-grained token was made for the repository.
func (g *Grant) has(repoID int64) bool {
	_, found := slices.BinarySearch(g.chosen, repoID)
	return found
}

// SeesAll reports whether the caller sees every repository.
func (c *Caller) SeesAll() bool { return c != nil && c.SiteAdmin && c.Reach == Everything }

// Allows checks the caller's token, not its account. A classic token needs one of the scopes, or one that
// includes it, unless they are scope.None. fine reports whether fine-grained tokens suffice. Error: 403.
func (c *Caller) Allows(scopes scope.Set, fine bool) error {
	g := c.Grant
	if !g.Limited() || g.Fine && fine || !g.Fine && (scopes == scope.None || g.Scopes.Any(scopes)) {
		return nil
	}
	return c.Insufficient(scopes)
}

// Insufficient returns the 403 for an operation that the account is allowed and the token is not. It has
// GitHub's message; for a classic token it lists the accepted scopes.
func (c *Caller) Insufficient(accepted scope.Set) error {
	switch {
	case c.App != 0 || c.ForApp != 0:
		return errs.New(errs.Forbidden, "Resource not accessible by integration")
	case c.Reach == OneRepo:
		return errs.New(errs.Forbidden, "The key you are authenticating with has been marked as read only.")
	case c.Grant.Fine:
		return errs.New(errs.Forbidden, "Resource not accessible by personal access token")
	case accepted == 0 || accepted == scope.Whole:
		return errs.New(errs.Forbidden, "Your token has not been granted the required scopes.")
	default:
		return errs.Newf(errs.Forbidden,
			"Your token has not been granted the required scopes: this needs one of %s.",
			scope.Including(accepted))
	}
}

// ViewOf names all by which two callers may see different things, for keys of answers that
// are kept.
func ViewOf(c *Caller) View {
	if c == nil {
		return View{}
	}
	v := View{ID: c.ID, SiteAdmin: c.SiteAdmin, Reach: c.Reach, HidesMembers: c.HidesMembers, oauthApp: c.OAuthApp}
	switch c.Reach {
	case Chosen:
		v.TokenID = c.TokenID
	case OneRepo:
		v.TokenID = c.KeyID
	case Installed:
		v.TokenID, v.installed = c.TokenID, c.installed
	case Reached:
		v.app, v.installed = c.ForApp, c.installed
	}
	return v
}

// View identifies a caller together with the visibility that the token allows.
type View struct {
	ID           ID // 0: anonymous
	SiteAdmin    bool
	Reach        Reach
	HidesMembers bool
	TokenID      int64 // of a fine-grained token, of a deploy key, or of an installation's token
	installed    asInstalled
	app          AppID      // for which the person's token is, see Reached
	oauthApp     OAuthAppID // whose token it is, as organizations may be closed to it
}

// String returns the view as a part of a key.
func (v View) String() string {
	if v == (View{ID: v.ID}) {
		return v.ID.String()
	}
	b := append([]byte(v.ID.String()), '/', '0'+byte(v.Reach))
	for _, on := range [...]bool{v.SiteAdmin, v.HidesMembers} {
		digit := byte('-')
		if on {
			digit = '+'
		}
		b = append(b, digit)
	}
	b = append(b, v.installed.text()...)
	if v.app != 0 {
		b = fmt.Appendf(b, "%d%s=%s/", v.app, v.installed.name, v.installed.level)
	}
	if v.oauthApp != 0 {
		b = fmt.Appendf(b, "o%d/", v.oauthApp)
	}
	return string(b) + ID(v.TokenID).String()
}

// ViewerOf returns a caller with push access to one repository of the owner and no other rights, for
// rendering webhook payloads about the repository. It has no token.
func ViewerOf(owner *Account, repoID int64) *Caller {
	return &Caller{ID: owner.ID, Login: owner.Login, TokenID: -repoID, Reach: Chosen, HidesMembers: true,
		Grant: &Grant{Fine: true, Changes: true, chosen: []int64{repoID}}}
}
