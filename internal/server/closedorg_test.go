//go:build long

package server_test

import (
	"bytes"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/oauth"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// newOAuthApp creates an OAuth App of keeper, and returns its client id.
func (w *walker) newOAuthApp(t *testing.T, name string) string {
	t.Helper()
	a, err := w.Forge.OAuth.Create(t.Context(), nil, "keeper", oauth.About{Name: name, Homepage: "https://x.example",
		Callbacks: []string{"https://x.example/cb"}})
	testkit.NoError(t, err)
	return a.ClientID
}

// oauthTokens returns what makes the header with the token of an OAuth App for a person, with all scopes.
func (w *walker) oauthTokens(t *testing.T, client string) func(who string) map[string]string {
	made := map[string]map[string]string{}
	return func(who string) map[string]string {
		if made[who] != nil {
			return made[who]
		}
		testkit.NoError(t, w.DB.Write(t.Context(), func(tx *db.Tx) error {
			app, err := token.OAuthAppOf(tx, client)
			if err != nil {
				return err
			}
			by, err := account.ByLogin(tx, who)
			if err != nil {
				return err
			}
			grant, err := token.Allow(tx, app, by, scope.All)
			if err != nil {
				return err
			}
			issued, err := token.CreateOAuthToken(tx, app, by, grant, scope.All, false)
			if err == nil {
				made[who] = apitest.Bearer(issued.Value)
			}
			return err
		}))
		return made[who]
	}
}

// An organization that restricts OAuth Apps is to the token of one that it has not approved what it is to a
// stranger, by each route that reads; to that of an approved one nothing changes. The person is an owner, then a
// site administrator.
func TestClosedOrganizationByRoute(t *testing.T) {
	t.Parallel()
	w := newWalker(t, apitest.Start(t, db.SQLite))
	w.Hide(t)
	w.settle(t)
	closed, approved := w.newOAuthApp(t, "closed"), w.newOAuthApp(t, "approved")
	testkit.NoError(t, w.Forge.OAuth.Restrict(t.Context(), nil, "guild", true))
	testkit.NoError(t, w.Forge.OAuth.Decide(t.Context(), nil, "guild", approved, true))
	without, with := w.oauthTokens(t, closed), w.oauthTokens(t, approved)
	stranger := w.oauthTokens(t, approved)("stranger")
	private := w.private()
	for _, who := range []string{"owner", "chief", "keeper"} {
		for _, r := range w.readers() {
			homes := w.Homes
			if !onRepo(&r) {
				homes = private[:1]
			}
			for _, h := range homes {
				a := w.read(t, &r, h, without(who))
				other := w.read(t, &r, h, stranger)
				open := w.read(t, &r, h, with(who))
				own := w.read(t, &r, h, apitest.Bearer(w.TokenOf(t, who)))
				ofGuild := onRepo(&r) && h.Owner == "guild" || strings.Contains(r.Pattern, "{org}") || onTeam(&r)
				// whether the person starred or watches a repository is the person's own
				mark := strings.HasPrefix(r.Pattern, "/user/starred/") || strings.HasSuffix(r.Pattern, "/subscription")
				switch {
				case open.Status/100 != own.Status/100:
					t.Errorf("%s of %s by the approved App for %s: %d, and the person gets %d: %s", r.Pattern, h.Name, who,
						open.Status, own.Status, open.Body)
				case onRepo(&r) && h.Owner == "guild" && h.Private && a.Status != other.Status:
					t.Errorf("%s of %s by the App for %s: %d, and a stranger gets %d", r.Pattern, h.Name, who, a.Status,
						other.Status)
				case ofGuild && !mark && a.Status < 300 && other.Status >= 300:
					t.Errorf("%s of %s by the App for %s: %d, and a stranger gets %d", r.Pattern, h.Name, who, a.Status,
						other.Status)
				case !ofGuild && onRepo(&r) && a.Status/100 != own.Status/100:
					t.Errorf("%s of %s, which is not closed, by the App for %s: %d, and the person gets %d", r.Pattern, h.Name,
						who, a.Status, own.Status)
				}
				if r.Right == route.SiteAdmin { // the site's own, for its administrators
					continue
				}
				tellsOf(t, &r, "closed", a, private, func(p *fixture.Home) bool { return p.Owner != "guild" })
			}
		}
	}
}

// By an OAuth App that an organization has not approved nobody changes anything there; by an approved one people
// change what they may.
func TestClosedOrganizationChangesByRoute(t *testing.T) {
	t.Parallel()
	w := newWalker(t, apitest.Start(t, db.SQLite))
	w.Hide(t)
	w.settle(t)
	closed, approved := w.newOAuthApp(t, "closed"), w.newOAuthApp(t, "approved")
	testkit.NoError(t, w.Forge.OAuth.Restrict(t.Context(), nil, "guild", true))
	testkit.NoError(t, w.Forge.OAuth.Decide(t.Context(), nil, "guild", approved, true))
	without, with := w.oauthTokens(t, closed), w.oauthTokens(t, approved)
	inGuild := func(r *route.Route) bool {
		return onRepo(r) || onTeam(r) || strings.HasPrefix(r.Pattern, "/orgs/{org}/")
	}
	for _, home := range w.Homes {
		if home.Owner != "guild" {
			continue
		}
		walked := onRepo
		if home.Private {
			walked = inGuild
		}
		changed := w.changes(t, home, without, with, walked, func(*route.Route) bool { return false })
		if changed < 80 {
			t.Errorf("an approved App changes by %d routes", changed)
		}
	}
	a := w.ask(t, "", apitest.Case{Do: "POST /repos/guild/goldenrod/issues", Send: `{"title":"x"}`,
		Headers: without("owner")})
	if a.Status != 403 || !bytes.Contains(a.Body, []byte("has not approved")) {
		t.Errorf("an issue in a public repository: %d %s", a.Status, a.Body)
	}
}
