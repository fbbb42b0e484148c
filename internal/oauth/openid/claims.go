package openid

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// maxGroups is how many organizations and teams an App is told of: an ID token fits into the headers
// and cookies of usual programs.
const maxGroups = 200

// claims are what an App learns of a user, as far as the scopes say (OpenID Connect Core 1.0, 5.4).
type claims struct {
	Subject string `json:"sub"`

	// profile
	Name      string `json:"name,omitempty"`
	Login     string `json:"preferred_username,omitempty"`
	Profile   string `json:"profile,omitempty"`
	Picture   string `json:"picture,omitempty"`
	UpdatedAt int64  `json:"updated_at,omitempty"` // seconds since 1970

	// email: a verified address, or none
	Email         string `json:"email,omitempty"`
	EmailVerified bool   `json:"email_verified,omitempty"`

	// groups; not empty but absent without the scope
	Groups *[]string `json:"groups,omitempty"`
}

// claimsOf reads what scopes let the caller's App learn of the caller.
func claimsOf(tx *db.Tx, caller *account.Caller, scopes scope.Set, i *web.Info) (*claims, error) {
	a, err := account.ByID(tx, caller.ID)
	if err != nil {
		return nil, err
	}
	c := &claims{Subject: subject(a.ID)}
	if scopes.Any(scope.Profile) {
		c.Login, c.Name = a.Login, a.Login
		if a.Name != nil && *a.Name != "" {
			c.Name = *a.Name
		}
		c.Profile, c.Picture = i.Page("/"+a.Login), i.Page("/avatars/"+a.ID.String())
		c.UpdatedAt = a.UpdatedAt.Time().Unix()
	}
	if scopes.Any(scope.Email) {
		address, err := emailOf(tx, a)
		if err != nil {
			return nil, err
		}
		c.Email, c.EmailVerified = address, address != ""
	}
	if scopes.Any(scope.Groups) {
		groups, err := groupsOf(tx, caller, maxGroups)
		if err != nil {
			return nil, err
		}
		if groups == nil {
			groups = []string{}
		}
		c.Groups = &groups
	}
	return c, nil
}
