package hook_test

import (
	"fmt"
	"testing"

	"arbor/internal/apitest"
	"arbor/internal/app"
)

// An App hears of its installations, and of the repositories that they reach, whatever events it wants.
func TestInstallationsAreTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) { installations(t, s) })
}

// installations gives what an App was told of its own.
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
