package server_test

import (
	"net/http"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testenv"
	"arbor/internal/test/testkit"
)

// guild creates an organization with a public and a private repository, and users of every role (decision
// 12).
func guild(t *testing.T, s *apitest.Server) (public, private *repo.Repo) {
	s.Users(t, "stranger", "reader", "sorter", "writer", "warden", "keeper", "member", "owner")
	s.Admin(t, "chief")
	s.Org(t, "guild", "owner")
	s.Check(t, apitest.Case{Do: "PUT /orgs/guild/members/member", As: "owner", Status: 204})
	public, private = s.Repo(t, "guild/hall", false), s.Repo(t, "guild/vault", true)
	for _, r := range []*repo.Repo{public, private} {
		for login, role := range fixture.Granted {
			s.Grant(t, r, login, role)
		}
	}
	return public, private
}

// walk is apitest.Each for tests that ask the whole interface, one request after another: the race detector
// would find nothing there.
func walk(t *testing.T, fn func(t *testing.T, s *apitest.Server), options ...apitest.Option) {
	t.Helper()
	if testenv.Race {
		t.Skip("asks one request after another")
	}
	apitest.Each(t, fn, options...)
}

// walker asks a fixture's server as everyone.
type walker struct{ *fixture.World }

func newWalker(t *testing.T, s *apitest.Server) *walker {
	t.Helper()
	return &walker{fixture.New(t, s)}
}

// settle waits until the code that was pushed was looked at, which changes what repositories show.
func (w *walker) settle(t *testing.T) {
	t.Helper()
	testkit.NoError(t, w.Server.Server.Forge().Detect.Settle(t.Context()))
}

// ask sends a request with the token of a user.
func (w *walker) ask(t *testing.T, name string, c apitest.Case) *apitest.Answer {
	t.Helper()
	headers := map[string]string{}
	for name, value := range c.Headers {
		headers[name] = value
	}
	if token := w.TokenOf(t, name); token != "" && headers["Authorization"] == "" {
		headers["Authorization"] = "Bearer " + token
	}
	c.Headers = headers
	return w.Do(t, c)
}

// sql runs a statement directly on the database.
func (w *walker) sql(t *testing.T, statement string, args ...any) {
	t.Helper()
	err := w.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(statement, args...)
		return err
	})
	testkit.NoError(t, err)
}

// onTeam reports a route about one team.
func onTeam(r *route.Route) bool { return strings.Contains(r.Pattern, "{team_") }

// onRepo reports a route about one repository. Of a team's repositories the team decides.
// The page of an invitation is for the invitee, who has no role yet.
func onRepo(r *route.Route) bool {
	return strings.Contains(r.Pattern, "{repo}") && r.Right != route.App && !onTeam(r) &&
		r.Pattern != "/{owner}/{repo}/invitations"
}

// readsOnly reports a POST that changes nothing. GraphQL changes things by other routes.
func readsOnly(r *route.Route) bool {
	return r.Method == http.MethodGet || strings.HasPrefix(r.Pattern, "/markdown") || strings.HasSuffix(r.Pattern, "/graphql")
}
