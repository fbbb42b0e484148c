// Package scope is what a token may be limited to: GitHub's scopes of classic tokens, and
// `plants` for the plant store. A scope includes its children, as at GitHub.
//
// The package knows names alone. Which scopes a route wants, package route says; what a
// request may see and change with a token, package account works out.
package scope

import (
	"cmp"
	"slices"
	"strings"

	"arbor/internal/errs"
)

// Set is a set of scopes. A parent's children are always in it, too.
type Set uint64

// The scopes that routes ask for, each without its children.
const (
	Repo Set = 1 << iota
	RepoStatus
	PublicRepo
	DeleteRepo
	User
	FollowUsers
	AdminOrg
	WriteOrg
	ReadOrg
	Notifications
	SiteAdmin
	Plants
	AdminKeys
	WriteKeys
	ReadKeys
	AdminGPGKeys
	WriteGPGKeys
	ReadGPGKeys
	AdminSigningKeys
	WriteSigningKeys
	ReadSigningKeys
	ReadAuditLog
	UserEmail
	AdminRepoHooks
	WriteRepoHooks
	ReadRepoHooks
	AdminOrgHooks
	RepoDeployment
	RepoInvite
	SCIM
	OpenID
	Profile
	Email
	Groups
	firstOther
)

// Identity are the scopes of OpenID Connect. OAuth Apps ask for them together with openid, see package oauth;
// no other token has them, and they open nothing of the API.
const Identity = OpenID | Profile | Email | Groups

// name is a scope with the scope that includes it, which stands before it.
type name struct {
	text, parent string
	bit          Set // of what routes ask for; 0: the next that is free
}

// names are all scopes in the order in which sets are written. Those that no route asks for
// yet are accepted, so that tokens for GitHub's tools can be made as their manuals say.
var names = complete([]name{
	{"repo", "", Repo}, {"repo:status", "repo", RepoStatus}, {"repo_deployment", "repo", RepoDeployment},
	{"public_repo", "repo", PublicRepo}, {"repo:invite", "repo", RepoInvite}, {"security_events", "repo", 0},
	{"delete_repo", "", DeleteRepo},
	{"user", "", User}, {"read:user", "user", 0}, {"user:email", "user", UserEmail},
	{"user:follow", "user", FollowUsers},
	{"admin:org", "", AdminOrg}, {"write:org", "admin:org", WriteOrg}, {"read:org", "write:org", ReadOrg},
	{"admin:public_key", "", AdminKeys}, {"write:public_key", "admin:public_key", WriteKeys},
	{"read:public_key", "write:public_key", ReadKeys},
	{"admin:gpg_key", "", AdminGPGKeys}, {"write:gpg_key", "admin:gpg_key", WriteGPGKeys},
	{"read:gpg_key", "write:gpg_key", ReadGPGKeys}, {"admin:ssh_signing_key", "", AdminSigningKeys},
	{"write:ssh_signing_key", "admin:ssh_signing_key", WriteSigningKeys},
	{"read:ssh_signing_key", "write:ssh_signing_key", ReadSigningKeys},
	{"admin:repo_hook", "", AdminRepoHooks}, {"write:repo_hook", "admin:repo_hook", WriteRepoHooks},
	{"read:repo_hook", "write:repo_hook", ReadRepoHooks}, {"admin:org_hook", "", AdminOrgHooks},
	{"notifications", "", Notifications}, {"workflow", "", 0}, {"gist", "", 0},
	{"audit_log", "", 0}, {"read:audit_log", "audit_log", ReadAuditLog},
	{"site_admin", "", SiteAdmin}, {"scim:enterprise", "site_admin", SCIM}, {"plants", "", Plants},
	{"openid", "", OpenID}, {"profile", "", Profile}, {"email", "", Email}, {"groups", "", Groups},
})

// complete assigns a bit to each scope without one.
func complete(list []name) []name {
	next := firstOther
	for i := range list {
		if list[i].bit == 0 {
			list[i].bit = next
			next <<= 1
		}
	}
	return list
}

// wholes are the scopes with all that they include, in the order of names: what includes others comes before
// them.
var wholes = func() []Set {
	list := make([]Set, len(names))
	for i := len(names) - 1; i >= 0; i-- {
		list[i] |= names[i].bit
		if parent := slices.IndexFunc(names, func(n name) bool {
			return n.text == names[i].parent
		}); parent >= 0 {
			list[parent] |= list[i]
		}
	}
	return list
}()

// All is every scope there is but those of OpenID Connect, also those to come. Tokens have it that were made
// before there were scopes, and those of demos, seeds and tests.
const All = ^Identity

// Whole is in no scope, so of all tokens only those have it that may do everything.
const Whole Set = 1 << 63

// None stands for no scope where a route says which scopes it takes: every token has what it needs.
const None Set = 1 << 62

// Usual is the default scopes of a token.
const Usual = "repo, read:org, plants"

// Parse reads names that are separated by commas or spaces. Error: 422 for a name that no
// scope has, or one of OpenID Connect, which lists those there are.
func Parse(text string) (Set, error) {
	s, unknown := read(text)
	if s&Identity != 0 {
		unknown = (s & Identity).String()
	}
	if unknown != "" {
		return 0, errs.Newf(errs.Invalid, "there is no scope %q: use %s", unknown, strings.Join(Names(), ", "))
	}
	return s, nil
}

// ParseStored reads what String writes, with the scopes of OpenID Connect. Error: one that Parse has, too.
func ParseStored(text string) (Set, error) {
	s, unknown := read(text)
	if unknown != "" {
		return 0, errs.Newf(errs.Invalid, "there is no scope %q", unknown)
	}
	return s, nil
}

// ParseOpenID reads names of a request by OpenID Connect, which ignores names that no scope has. ok is false
// if openid is not among them.
func ParseOpenID(text string) (s Set, ok bool) {
	s, _ = read(text)
	return s, s.Any(OpenID)
}

// read reads names, and returns the first that no scope has.
func read(text string) (s Set, unknown string) {
	for _, word := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' }) {
		at := slices.IndexFunc(names, func(n name) bool { return n.text == word })
		if at < 0 {
			unknown = cmp.Or(unknown, word)
			continue
		}
		s |= wholes[at]
	}
	return s, unknown
}

// Names lists all scopes but those of OpenID Connect.
func Names() []string {
	var list []string
	for _, n := range names {
		if n.bit&Identity == 0 {
			list = append(list, n.text)
		}
	}
	return list
}

// String returns the scopes as headers have them, without those that others imply:
// "repo, read:org".
func (s Set) String() string {
	var list []string
	for _, n := range names {
		parent := slices.IndexFunc(names, func(p name) bool { return p.text == n.parent })
		if s&n.bit != 0 && (parent < 0 || s&names[parent].bit == 0) {
			list = append(list, n.text)
		}
	}
	return strings.Join(list, ", ")
}

// Including lists the scopes that are or include one of s, which are the ones that a route
// takes that wants one of s: "repo, public_repo" for public_repo.
func Including(s Set) string {
	var list []string
	for i, n := range names {
		if wholes[i].Any(s) {
			list = append(list, n.text)
		}
	}
	return strings.Join(list, ", ")
}

// Any reports that at least one of the other scopes is in s.
func (s Set) Any(other Set) bool { return s&other != 0 }
