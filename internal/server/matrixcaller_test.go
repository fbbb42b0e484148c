package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testenv"
	"arbor/internal/test/testkit"
)

// caller is a user with a full or a limited token.
type caller struct {
	login string // "": nobody
	kind  string // of a limited token; "": a full one
}

// poor is an App's installation that may only read metadata.
var poor = caller{fixture.Bot, "metadata"}

// kinds are the limited tokens. Fine-grained ones are for the repository chosen.
var kinds = []string{"none", "public_repo", "repo", "read:org", "read one", "write one"}

const chosen = "nightshade"

// name is under which World.Tokens has the token.
func (c caller) name() string {
	if c.kind == "" {
		return c.login
	}
	return c.login + " with " + c.kind
}

func (c caller) isBot() bool { return c.login == fixture.Bot }

// valid reports that the token, or the lack of one, is in order.
func (c caller) valid() bool { return c.login != "wrong" && c.login != "expired" }

// isOne reports a full token of one of some people.
func (c caller) isOne(logins ...string) bool { return c.kind == "" && slices.Contains(logins, c.login) }

// role is what the caller may see and do in a repository.
func (c caller) role(h *fixture.Home) account.Role {
	switch {
	case h.Owner == nowhere || h.Name == nowhere || !c.valid(), c.hides(h):
		return account.None
	case c.isBot() && h.Owner != "guild":
		return h.Role("")
	case c == poor:
		return account.Pull
	case c.isBot():
		return account.Admin
	}
	return h.Role(c.login)
}

// hides reports that a limited token does not see a repository that its owner sees. None lets chief act as a
// site administrator.
func (c caller) hides(h *fixture.Home) bool {
	switch {
	case c.kind == "" || c == poor || !h.Private:
		return false
	case c.login == "chief":
		return true
	}
	return c.kind != "repo" && !(c.fine() && h.Mark == chosen)
}

// fine reports a fine-grained token.
func (c caller) fine() bool { return strings.HasSuffix(c.kind, " one") }

// issue creates the caller's token unless it exists.
func (m *matrix) issue(t *testing.T, c caller) {
	t.Helper()
	if c.kind == "" || m.Tokens[c.name()] != "" {
		return
	}
	n := token.NewToken{Login: c.login}
	var err error
	switch {
	case c == poor:
		m.Tokens[c.name()] = m.BotToken(t, `{"permissions":{"metadata":"read"}}`)
		return
	case c.fine():
		one := m.Homes[slices.IndexFunc(m.Homes, func(h *fixture.Home) bool { return h.Mark == chosen })]
		found, errFind := m.Repos.Find(t.Context(), &account.Caller{SiteAdmin: true}, one.Owner, one.Name)
		if errFind != nil {
			t.Fatal(errFind)
		}
		n.Repos, n.Changes = []int64{int64(found.ID)}, c.kind == "write one"
	case c.kind != "none":
		n.Scopes, err = scope.Parse(c.kind)
	}
	if err == nil {
		m.Tokens[c.name()], _, err = m.Forge.Tokens.CreateToken(t.Context(), n)
	}
	testkit.NoError(t, err)
}

// people have full tokens. A person's repositories, which the organization's people do not concern, meet one
// of each role. On PostgreSQL callers differ by where the store finds their role; what follows from a role,
// which no store decides, is asked on SQLite.
func (m *matrix) people(h *fixture.Home) []string {
	postgres, holders := m.Engine == db.PostgreSQL, h.Owner == "holder"
	switch {
	case !testenv.Long:
		return []string{"", "stranger", "reader", "sorter", "writer", "warden", "owner"}
	case holders && postgres:
		return []string{"", "stranger", "reader", "holder"}
	case holders:
		return []string{"", "expired", "stranger", "owner", "reader", "sorter", "writer", "warden", "keeper",
			"holder"}
	case postgres:
		return []string{"", "expired", "stranger", "reader", "member", "owner", "chief"}
	}
	return fixture.People
}

// visited returns the repositories: on PostgreSQL without the public one of a user, for which the store
// decides nothing else than for the others.
func (m *matrix) visited(r *route.Route) []*fixture.Home {
	switch {
	case !onRepo(r):
		return m.Homes[:1]
	case m.Engine != db.PostgreSQL:
		return m.Homes
	}
	return slices.DeleteFunc(slices.Clone(m.Homes), func(h *fixture.Home) bool {
		return h.Owner == "holder" && !h.Private
	})
}

// readers are those who ask a route that reads. The full token comes first, so that all caches are full.
func (m *matrix) readers(r *route.Route, h *fixture.Home) (list []caller) {
	for _, login := range m.people(h) {
		list = append(list, caller{login, ""})
	}
	if !testenv.Long || h.Name == nowhere {
		return list
	}
	limited := []string{"keeper"}
	if !onRepo(r) {
		limited = []string{"keeper", "chief", "owner"}
	}
	for _, login := range limited {
		if !slices.Contains(list, caller{login, ""}) {
			list = append(list, caller{login, ""})
		}
		for _, kind := range kinds {
			list = append(list, caller{login, kind})
		}
	}
	if r.Right != route.Installation && r.Right != route.App && r.Right != route.SiteAdmin &&
		r.Group != route.Git && h.Owner == "guild" && m.Engine == db.SQLite {
		list = append(list, caller{fixture.Bot, ""}, poor)
	}
	return list
}

// roleFor is the role that reading a repository's things demands.
func roleFor(r *route.Route, query string) account.Role {
	if strings.Contains(query, "git-receive-pack") {
		return account.Push
	}
	return fixture.RoleOf(r.Right)
}

// What is wanted of an answer besides a status.
const (
	allowed = 0
	refused = -1 // any status of a request that is not fulfilled
)

// refusal is the status for a caller without the right; allowed: there is none.
func refusal(r *route.Route, c caller, h *fixture.Home, need account.Role) int {
	role := c.role(h)
	switch {
	case !c.valid():
		return http.StatusUnauthorized
	case c.login == "" && r.Group == route.Git && (role == account.None || need > account.Pull):
		return http.StatusUnauthorized
	case c.login == "" && r.Group != route.Git && (r.Method != http.MethodGet && !r.Nobody || r.Right == route.SignedIn):
		return http.StatusUnauthorized
	case role == account.None:
		return http.StatusNotFound
	case role < need:
		return http.StatusForbidden
	}
	return allowed
}

// lacks reports a limited token that may not read by a route though its owner may.
func (c caller) lacks(r *route.Route, h *fixture.Home, need account.Role) bool {
	if c.kind == "" || c.isBot() {
		return false
	}
	n := r.Need
	scopes, _ := scope.Parse(c.kind) // of fine-grained ones none
	lacks := c.fine() && n.Fine == route.Never || !c.fine() && n.Scopes != scope.None && !scopes.Any(n.Scopes)
	mayAdmin := c.kind == "repo" || c.kind == "public_repo"
	mayPush := mayAdmin || c.kind == "write one" && h.Mark == chosen
	return r.Right == route.SignedIn && lacks || onRepo(r) && (need > account.Pull && !mayPush ||
		need > account.Push && (!mayAdmin || lacks))
}

// inGuild reports a caller who sees the teams of the organization.
func (c caller) inGuild(h *fixture.Home) bool {
	if _, left := h.Changed[c.login]; left {
		return false
	}
	return c.login == "member" || c.login == "owner" || c.isOne("chief") || c.isBot()
}

// wantRead returns the expected status of a read.
func wantRead(r *route.Route, c caller, h *fixture.Home, path, query string) int {
	want := allowed
	_, _, never := r.Need.ByApp()
	switch {
	case c == poor: // depends on the path; checks examine the response
	case c.isBot() && never && r.Right == route.SignedIn:
		want = refused
	case onRepo(r):
		want = refusal(r, c, h, roleFor(r, query))
		if want == allowed && c.login != "reader" && strings.Contains(path, "/reviews/"+h.Is["pending"]) {
			want = http.StatusNotFound
		}
	case r.Right == route.App, !c.valid(), c.login == "" && (r.Right == route.SignedIn ||
		r.Right == route.SiteAdmin || r.Right == route.Installation):
		want = http.StatusUnauthorized
	case r.Right == route.Installation:
		want = http.StatusForbidden
	case r.Right == route.SiteAdmin && !c.isOne("chief"):
		want = http.StatusNotFound
	case strings.HasPrefix(r.Pattern, "/orgs/{org}/hooks") || strings.HasPrefix(r.Pattern, "/orgs/{org}/rulesets") ||
		strings.HasPrefix(r.Pattern, "/orgs/{org}/actions/") || r.Pattern == "/orgs/{org}/dependabot/secrets" ||
		slices.Contains([]string{"/orgs/{org}/audit-log", "/orgs/{org}/invitations", "/orgs/{org}/failed_invitations",
			"/orgs/{org}/invitations/{invitation_id}/teams",
			"/orgs/{org}/installations", "/orgs/{org}/outside_collaborators"}, r.Pattern):
		if c.login != "owner" && !c.isOne("chief") && !c.isBot() {
			want = http.StatusForbidden
		}
	case r.Pattern == "/orgs/{org}/teams" && !c.inGuild(h):
		want = http.StatusForbidden
	case onTeam(r) && !c.inGuild(h) && !c.lacks(r, h, account.Pull): // tokens are looked at first
		want = http.StatusNotFound
	case r.Pattern == "/orgs/{org}/memberships/{username}":
		if c.login != "member" && c.login != "owner" && !c.isOne("chief") && !c.isBot() {
			want = http.StatusForbidden
		}
	}
	if want == allowed && c.lacks(r, h, roleFor(r, query)) {
		want = http.StatusForbidden
	}
	return want
}

// fetches reports a route by which Git or Git LFS asks for what it downloads.
func fetches(r *route.Route) bool {
	return strings.HasSuffix(r.Pattern, "/git-upload-pack") || strings.HasSuffix(r.Pattern, "/info/lfs/objects/batch")
}

// suffices reports that a limited token may be used to change something by a route.
func (c caller) suffices(r *route.Route, h *fixture.Home, role account.Role) bool {
	if fetches(r) || readsOnly(r) {
		return true
	}
	need := r.Need
	scopes, _ := scope.Parse(c.kind)
	one := c.fine() && h.Mark == chosen
	switch {
	case strings.Contains(r.Pattern, "/notifications"): // who can read threads can mark them
		return c.fine() && (one || !onRepo(r)) || scopes.Any(need.Scopes)
	case c.kind == "write one":
		return onRepo(r) && one && need.Fine != route.Never && role <= account.Push
	case c.kind == "public_repo":
		return need.Scopes.Any(scope.PublicRepo) && onRepo(r)
	}
	return c.kind == "repo" && scopes.Any(need.Scopes)
}

// wantAct is what a caller must get who changes something; allowed: nothing, for the caller may.
func (m *matrix) wantAct(q *fixture.Request, c caller, h *fixture.Home) int {
	r := q.Route
	switch {
	case r.Nobody: // the code in the address is the right
		return allowed
	case c == poor && (readsOnly(r) || !h.Private && fetches(r)):
		return allowed
	case c == poor:
		return refused
	case c.kind != "":
		hidden := onRepo(r) && (c.hides(h) || q.Repo != h.Name && h.Private && c.fine())
		switch {
		case hidden || r.Right == route.SiteAdmin: // as which these tokens do not act
			return http.StatusNotFound
		case c.suffices(r, h, max(q.Rule.Role, fixture.RoleOf(r.Right))):
			return allowed
		}
		return http.StatusForbidden
	case !onRepo(r):
		switch {
		case c.login == "" || !c.valid():
			return http.StatusUnauthorized
		case !slices.Contains(q.Rule.Outsiders, c.login):
			return allowed
		case onTeam(r) && strings.Contains(r.Pattern, "{repo}"): // as the repository says, or the team
			return refused
		case r.Right == route.SiteAdmin, onTeam(r) && !c.inGuild(h):
			return http.StatusNotFound
		}
		return http.StatusForbidden
	}
	want := refusal(r, c, h, max(account.Pull, q.Rule.Role))
	mine := c.login == "keeper" || c.login == "chief" && strings.Contains(r.Pattern, "reaction")
	if q.Rule.Owner {
		mine = c.login == q.Who || c.login == "chief"
	}
	switch {
	case want != allowed:
		return want
	case q.ByInspector(): // never allowed to users
		return http.StatusForbidden
	case !mine && (q.Rule.Own || q.Rule.Owner):
		return refused
	}
	return allowed
}

// actors are those who try a route that changes something.
func (m *matrix) actors(q *fixture.Request, h *fixture.Home) (list []caller) {
	r, logins := q.Route, m.people(h)
	if !onRepo(r) {
		logins = append([]string{"", "wrong", "expired"}, q.Rule.Outsiders...)
	}
	for _, login := range logins {
		list = append(list, caller{login, ""})
	}
	if !testenv.Long {
		return list
	}
	byPerson := r.Right != route.App && r.Right != route.Installation && !r.Nobody &&
		!strings.HasPrefix(r.Pattern, "/login/") && !q.ByInspector()
	if byPerson && h.Mark != "chamomile" && (h.Owner == "guild" || m.Engine == db.SQLite) {
		for _, kind := range kinds {
			list = append(list, caller{q.Who, kind})
		}
	}
	if r.Right != route.Installation && h.Owner == "guild" && m.Engine == db.SQLite {
		list = append(list, poor)
	}
	return list
}
