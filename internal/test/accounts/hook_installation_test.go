package accounts_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/app"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// An App gets the events of its installations and of their repositories, whatever its events are.
func TestInstallationsAreTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) { installations(t, s) })
}

// installations returns the events delivered to an App about its installations.
func installations(t *testing.T, s *apitest.Server) (all []*sent) {
	t.Helper()
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	shed := s.Repo(t, "alice/shed", true)
	r := receive(t, nil)
	a := s.NewApp(t, "alice", app.Manifest{Name: "ci", Permissions: apitest.Permissions("checks=write"),
		Hook: app.Hook{URL: r.URL, Active: true, Secret: "peas", Site: s.URL}})
	in := a.Install(t, "alice", "garden")
	all = r.expect(t, "installation.created")
	own := fmt.Sprint("/app/installations/", in.ID)
	reach := fmt.Sprintf("/user/installations/%d/repositories/%s", in.ID, shed.ID)
	for _, c := range []struct{ names, as, do string }{
		{"installation_repositories.added", "alice", "PUT " + reach},
		{"installation_repositories.removed", "alice", "DELETE " + reach},
		{"installation.suspend", "", "PUT " + own + "/suspended"},
		{"installation.unsuspend", "", "DELETE " + own + "/suspended"},
		{"installation.deleted", "", "DELETE " + own},
	} {
		with := apitest.Case{Do: c.do, As: c.as, Status: 204}
		if c.as == "" {
			with.Headers = a.Signed(t)
		}
		all = append(all, told(t, s, r, with, c.names)...)
	}
	return all
}

// An App on a person's account hears of the repositories that are made and deleted there, as one on an
// organization does: from the first and to the last.
func TestAppsHearOfAPersonsRepositories(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		s.Repo(t, "alice/shed", false)
		s.Org(t, "guild", "alice")
		r, few := receive(t, nil), receive(t, nil)
		install := func(name string, r *receiver, repos ...string) {
			a := s.NewApp(t, "alice", app.Manifest{Name: name, Events: []string{"repository"},
				Hook: app.Hook{URL: r.URL, Active: true, Secret: "peas", Site: s.URL}})
			a.Install(t, "alice", repos...)
			r.expect(t, "installation.created")
			if len(repos) == 0 {
				a.Install(t, "guild")
				r.expect(t, "installation.created")
			}
		}
		install("all", r)
		install("few", few, "garden")
		for _, c := range []struct{ names, do, send string }{
			{"repository.created", "POST /user/repos", `{"name": "plot", "private": true}`},
			{"repository.deleted", "DELETE /repos/alice/plot", ``},
			{"repository.deleted", "DELETE /repos/alice/shed", ``},
			{"repository.deleted", "DELETE /repos/alice/garden", ``},
		} {
			status := 204
			if c.send != "" {
				status = 201
			}
			got := told(t, s, r, apitest.Case{Do: c.do, As: "alice", Send: c.send, Status: status},
				c.names)[0].JSON
			for _, part := range []string{"repository", "sender", "installation"} {
				if got[part] == nil {
					t.Errorf("%s: no %q", c.do, part)
				}
			}
		}
		few.expect(t, "repository.deleted") // the only one that it reached
		// What the operator does has a sender, too, and the organization is named.
		for _, of := range []string{"alice/hut", "guild/hall"} {
			made := s.Repo(t, of, false)
			r.expect(t, "repository.created")
			testkit.NoError(t, s.Server.Forge().Settings.Delete(t.Context(), &repo.Access{Repo: made}))
			got := r.expect(t, "repository.deleted")[0].JSON
			if got["sender"] == nil || (got["organization"] != nil) != strings.HasPrefix(of, "guild/") {
				t.Errorf("%s: sender %v, organization %v", of, got["sender"], got["organization"])
			}
		}
	})
}
