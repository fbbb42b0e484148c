package repos_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/migration"
	"arbor/internal/migration/github"
	"arbor/internal/migration/remote"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// readServer reads a repository from a server by GitHub's API.
func readServer(ctx context.Context, t *testing.T, s *apitest.Server, address, token string) (*github.Source, error) {
	return github.Open(ctx, address, remote.Options{Token: token, Git: s.Git, Dir: t.TempDir(),
		Progress: func(string, int64, int64) {}})
}

// Another Arbor is read as a GitHub Enterprise Server: what comes is what REST shows there.
func TestImportOfAServer(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := fixture.New(t, s)
		talkMore(t, w)
		s.Settle(t)
		from, err := readServer(t.Context(), t, s, s.URL+"/guild/goldenrod.git", w.TokenOf(t, "keeper"))
		testkit.NoError(t, err)
		t.Cleanup(func() { testkit.NoError(t, from.Close()) })
		before := inboxes(t, s)
		o := migration.ImportOptions{To: "guild/again", People: everybody(t, s), Progress: func(string, int64, int64) {}}
		report, err := migrations(s).Import(t.Context(), from, o)
		testkit.NoError(t, err)
		for k, c := range report.Counts {
			if c.Failed > 0 && k != migration.Hooks && k != migration.Events {
				t.Errorf("%d %s did not come: %q", c.Failed, k, report.Problems)
			}
		}
		sound(t, s)
		if after := inboxes(t, s); after != before {
			t.Errorf("the import told somebody: %d rows, before %d", after, before)
		}
		for login, role := range fixture.Granted { // who belongs to the repository does not come
			s.Grant(t, s.Access(t, "chief", "guild/again").Repo, login, role)
		}
		s.Grant(t, s.Access(t, "chief", "guild/again").Repo, "neighbour", account.Admin)
		s.Settle(t)
		compareAnswers(t, w, "guild/goldenrod", "guild/again", inSeconds)

		again, err := readServer(t.Context(), t, s, s.URL+"/guild/goldenrod", w.TokenOf(t, "keeper"))
		testkit.NoError(t, err)
		t.Cleanup(func() { testkit.NoError(t, again.Close()) })
		report, err = migrations(s).Import(t.Context(), again, o)
		testkit.NoError(t, err)
		for k, c := range report.Counts {
			if c.New+c.Changed > 0 && k != migration.Assets { // reading them counts as a download
				t.Errorf("the second import brought %d new and %d changed %s", c.New, c.Changed, k)
			}
		}
		sound(t, s)
	})
}

// An organization comes with its members, teams and their roles, but only for those whom the map names.
func TestImportOfAnOrganization(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "olive", "mary", "tom", "nora")
		s.Org(t, "acme", "olive")
		olive := func(do, send string) {
			t.Helper()
			if a := s.Do(t, apitest.Case{Do: do, As: "olive", Send: send}); a.Status >= 300 {
				t.Fatalf("%s: %d %s", do, a.Status, a.Body)
			}
		}
		olive("PUT /orgs/acme/memberships/mary", `{"role":"member"}`)
		olive("PUT /orgs/acme/memberships/tom", `{"role":"member"}`)
		olive("PATCH /orgs/acme", `{"default_repository_permission":"none"}`)
		olive("POST /orgs/acme/repos", `{"name":"tool","private":true,"auto_init":true}`)
		olive("POST /orgs/acme/teams", `{"name":"Whole House","privacy":"closed"}`)
		olive("POST /orgs/acme/teams", `{"name":"Kitchen","parent_team_slug":"whole-house"}`)
		olive("PUT /orgs/acme/teams/kitchen/memberships/mary", `{"role":"maintainer"}`)
		olive("PUT /orgs/acme/teams/kitchen/memberships/tom", `{"role":"member"}`)
		olive("DELETE /orgs/acme/teams/kitchen/memberships/olive", "")
		olive("PUT /orgs/acme/teams/kitchen/repos/acme/tool", `{"permission":"maintain"}`)
		read := remote.Options{Token: s.Token(t, "olive"), Git: s.Git, Dir: t.TempDir(), Progress: func(string, int64, int64) {}}
		from, err := github.ReadOrganization(t.Context(), s.URL+"/acme", read)
		testkit.NoError(t, err)
		if err := migrations(s).NewOrganizationImport(from, "second", map[string]string{"mary": "mary"}).Found(t.Context()); err == nil {
			t.Error("an organization without an owner is founded")
		}
		for range 2 {
			im := migrations(s).NewOrganizationImport(from, "second", map[string]string{"olive": "nora", "mary": "mary"})
			testkit.NoError(t, im.Found(t.Context()))
			source, err := github.Open(t.Context(), remote.Repository(s.URL+"/acme", from.Repositories[0]), read)
			testkit.NoError(t, err)
			_, err = migrations(s).Import(t.Context(), source, migration.ImportOptions{To: "second/tool",
				Progress: func(string, int64, int64) {}})
			testkit.NoError(t, errors.Join(err, source.Close()))
			if im.Teams(t.Context()); len(im.Left) > 0 {
				t.Errorf("left: %q", im.Left)
			}
			read.Token = s.Token(t, "nora")
			got, err := github.ReadOrganization(t.Context(), s.URL+"/second", read)
			testkit.NoError(t, err)
			read.Token = s.Token(t, "olive")
			want := &migration.Organization{Login: "second", Permission: "none", Owners: []string{"nora"}, Members: []string{"mary"},
				Repositories: []string{"tool"}, Teams: []migration.Team{
					{Slug: "whole-house", Name: "Whole House", Maintainers: []string{"nora"}, Roles: map[string]string{}},
					{Slug: "kitchen", Name: "Kitchen", Parent: "whole-house", Maintainers: []string{"mary"},
						Roles: map[string]string{"tool": "maintain"}}}}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("the organization is\n%+v\nwant\n%+v", got, want)
			}
		}
		if err := migrations(s).NewOrganizationImport(from, "acme", map[string]string{"olive": "nora"}).Found(t.Context()); err == nil {
			t.Error("an import takes over an organization of others")
		}
	})
}

// inSeconds removes what an answer tells beyond REST's whole seconds, the order of what happened within one, and how
// often files were downloaded, since reading them is one time more.
func inSeconds(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	text := func(v any) string {
		out, _ := json.Marshal(v)
		return downloads.ReplaceAllString(string(out), "")
	}
	lines := make([]string, len(list))
	for n, one := range list {
		lines[n] = text(one)
	}
	slices.Sort(lines)
	return lines
}

var downloads = regexp.MustCompile(`"download_count":\d+,`)

// A server shows nothing private to those who may not see it, and the error says what it answers.
func TestImportOfAServerWithoutRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := fixture.New(t, s)
		s.Repo(t, "keeper/secret", true)
		for _, token := range []string{"", w.TokenOf(t, "stranger"), "wrong"} {
			from, err := readServer(t.Context(), t, s, s.URL+"/keeper/secret", token)
			if err == nil {
				testkit.NoError(t, from.Close())
			}
			if err == nil || !strings.Contains(err.Error(), " answers 40") {
				t.Errorf("with the token %q: %v", token, err)
			}
		}
	})
}
