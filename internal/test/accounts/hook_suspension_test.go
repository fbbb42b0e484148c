package accounts_test

import (
	"net/http"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// spy is an App of eve that hears of issues.
func spy(t *testing.T, s *apitest.Server, r *receiver) *apitest.App {
	t.Helper()
	return s.NewApp(t, "eve", app.Manifest{Name: "spy", Events: []string{"issues"},
		Permissions: apitest.Permissions("issues=read,metadata=read"),
		Hook:        app.Hook{URL: r.URL, Active: true, Secret: "peas", Site: s.URL}})
}

// While its owner or its installation's account is suspended, an App gets no events, and its tokens do not
// work. Undelivered events are dropped when it is uninstalled.
func TestSuspendedAppsAreNotTold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "eve")
		s.Admin(t, "boss")
		s.Repo(t, "alice/garden", true)
		open := func(names string, r *receiver) []*sent {
			t.Helper()
			return told(t, s, r, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice",
				Send: `{"title": "Peas"}`, Status: 201}, names)
		}
		r := receive(t, nil)
		a := spy(t, s, r)
		a.Install(t, "alice")
		r.expect(t, "installation.created")
		open("issues.opened", r)
		testkit.Eventually(t, func() bool { return waiting(t, s) == 0 }, "the first delivery is noted as sent")
		s.Check(t, apitest.Case{Do: "PUT /users/eve/suspended", As: "boss", Status: 204})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice",
			Send: `{"title": "Secret"}`, Status: 201})
		if n := waiting(t, s); n != 0 {
			t.Errorf("%d deliveries wait for an App whose owner is suspended", n)
		}
		s.Check(t, apitest.Case{Do: "DELETE /users/eve/suspended", As: "boss", Status: 204})
		if got := open("issues.opened", r); strings.Contains(string(got[0].Body), "Secret") {
			t.Errorf("told of what came meanwhile: %s", got[0].Body)
		}
	})
}

// What was rendered for an App, and did not arrive, is not sent after its installation has gone.
func TestNothingIsSentAfterUninstalling(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "eve")
		s.Repo(t, "alice/garden", true)
		r := receive(t, func(w http.ResponseWriter, _ *http.Request, s *sent) {
			if s.name() == "issues.opened" {
				w.WriteHeader(http.StatusBadGateway)
			}
		})
		a := spy(t, s, r)
		i := a.Install(t, "alice")
		r.expect(t, "installation.created")
		told(t, s, r, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice",
			Send:   `{"title": "Peas"}`,
			Status: 201}, "issues.opened")
		testkit.Eventually(t, func() bool { return waiting(t, s) == 1 }, "one delivery waits")
		testkit.NoError(t, s.Server.Forge().Apps.Uninstall(t.Context(), 0, i.ID, &account.Caller{ID: i.Account.ID}))
		testkit.Eventually(t, func() bool { // an attempt from before may come first
			return strings.HasSuffix(r.names(), "installation.deleted")
		}, "the App is told of its end")
		r.forget()
		testkit.Eventually(t, func() bool { return waiting(t, s) == 0 }, "the issue is dropped")
		if got := r.all(); len(got) != 0 {
			t.Errorf("an App that is not installed any more was sent %s", r.names())
		}
	})
}
