package accounts_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// An App whose installation is suspended gets neither by a redelivery nor by a look at its deliveries what
// may not have reached it before, and no names of repositories that came since.
func TestASuspendedInstallationLearnsNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "eve")
		s.Repo(t, "alice/garden", true)
		r := receive(t, nil)
		a := spy(t, s, r)
		i := a.Install(t, "alice", "garden")
		r.expect(t, "installation.created")
		told(t, s, r, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice",
			Send: `{"title": "Peas"}`, Status: 201}, "issues.opened")
		delivery := func() (id int64, body string) {
			var list []struct {
				ID    int64
				Event string
			}
			testkit.Eventually(t, func() bool {
				s.Check(t, apitest.Case{Do: "GET /app/hook/deliveries", Headers: a.Signed(t),
					Status: 200}).JSON(t, &list)
				for _, d := range list {
					if d.Event == "issues" {
						id = d.ID
					}
				}
				return id != 0
			}, "the delivery is listed")
			return id, string(s.Check(t, apitest.Case{Headers: a.Signed(t), Status: 200,
				Do: fmt.Sprintf("GET /app/hook/deliveries/%d", id)}).Body)
		}
		if _, body := delivery(); !strings.Contains(body, "Peas") {
			t.Errorf("before, it sees what was sent: %s", body)
		}
		apps := s.Server.Forge().Apps
		testkit.NoError(t, apps.Suspend(t.Context(), 0, i.ID, &account.Caller{ID: i.Account.ID}))
		r.expect(t, "installation.suspend")
		id, body := delivery()
		if strings.Contains(body, "Peas") {
			t.Errorf("suspended, it looks at what was sent: %s", body)
		}
		s.Check(t, apitest.Case{Do: fmt.Sprintf("POST /app/hook/deliveries/%d/attempts", id),
			Headers: a.Signed(t), Status: 202})
		testkit.Eventually(t, func() bool { return waiting(t, s) == 0 }, "the redelivery is dropped")

		secret := s.Repo(t, "alice/secret", true)
		s.Check(t, apitest.Case{As: "alice", Status: 204,
			Do: fmt.Sprintf("PUT /user/installations/%d/repositories/%d", i.ID, secret.ID)})
		s.Check(t, apitest.Case{Do: fmt.Sprintf("DELETE /app/installations/%d", i.ID), Headers: a.Signed(t),
			Status: 204})
		a.Install(t, "alice", "secret") // as suspended as before, by the operator
		for _, got := range r.expect(t, "installation.deleted installation.created") {
			if strings.Contains(string(got.Body), "secret") {
				t.Errorf("%s names a repository that came since: %s", got.name(), got.Body)
			}
		}
		testkit.NoError(t, apps.Unsuspend(t.Context(), 0, onAlice(t, apps), nil))
		if got := r.expect(t, "installation.unsuspend"); !strings.Contains(string(got[0].Body), "secret") {
			t.Errorf("what it reaches afterwards: %s", got[0].Body)
		}
	})
}

func onAlice(t *testing.T, apps *app.Service) account.InstallationID {
	t.Helper()
	i, err := apps.On(t.Context(), "spy", "alice")
	testkit.NoError(t, err)
	return i.ID
}
