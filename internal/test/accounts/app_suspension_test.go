package accounts_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/test/apitest"
)

// Who suspended an installation ends that, and the operator ends everything. If it were otherwise, an App
// that somebody stopped would go on by a request of its own, or an owner would lift what the operator
// decided.
func TestWhoEndsASuspension(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "boss")
		for _, c := range []struct {
			name, by, end string // who suspends, in order; who ends it
			status        int    // of an App that ends; of others 204 or 403
			works         bool   // afterwards
		}{
			{"the App its own", "app", "app", 204, true},
			{"the App the owner's", "owner", "app", 403, false},
			{"the App the operator's", "operator", "app", 403, false},
			{"the App an administrator's", "boss", "app", 403, false},
			{"the App one of before", "unknown", "app", 403, false},
			{"the owner the own one", "owner", "owner", 204, true},
			{"the owner the App's", "app", "owner", 403, false},
			{"the owner the operator's", "operator", "owner", 403, false},
			{"the owner an administrator's", "boss", "owner", 403, false},
			{"the owner one of before", "unknown", "owner", 204, true},
			{"an administrator the owner's", "owner", "boss", 204, true},
			{"the operator the App's", "app", "operator", 204, true},
			{"the operator the owner's", "owner", "operator", 204, true},
			{"the operator the operator's", "operator", "operator", 204, true},
			{"the operator all", "app owner operator", "operator", 204, true},
			{"its own while the owner suspends", "app owner", "app", 204, false},
			{"the own one while the App suspends", "owner app", "owner", 204, false},
			{"the own one while the operator suspends", "owner operator", "owner", 204, false},
			{"before while the operator suspends", "unknown operator", "owner", 204, false},
			{"one of before that the App joins", "unknown app", "app", 204, false},
			{"nothing is suspended", "", "app", 204, true},
		} {
			t.Run(c.name, func(t *testing.T) {
				w := newTransition(t, s)
				for _, by := range strings.Fields(c.by) {
					if status := w.suspension(by, true); status != 204 {
						t.Fatalf("%s suspends: %d", by, status)
					}
				}
				if status := w.suspension(c.end, false); status != c.status {
					t.Errorf("%s ends it: %d, want %d", c.end, status, c.status)
				}
				want := 403
				if c.works {
					want = 201
				}
				if got := w.newToken(); got != want {
					t.Errorf("a new token: %d, want %d", got, want)
				}
			})
		}
	})
}

// A suspension ends the tokens of before for good: somebody may have suspended since one was stolen.
func TestOldTokensAfterASuspension(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newTransition(t, s)
		read := apitest.Case{Do: "GET /repos/" + w.owner + "/garden", Headers: w.token, Status: 403,
			Want: `{"message":"This installation has been suspended"}`}
		w.suspension("owner", true)
		s.Check(t, read)
		w.suspension("owner", false)
		read.Status, read.Want = 401, `{"message":"Bad credentials"}`
		s.Check(t, read)
		read.Headers, read.Status, read.Want = apitest.Bearer(w.robot.Token(t, w.at.ID, "")), 200, ""
		s.Check(t, read)
	})
}

// Neither the App nor the owner gets around the operator's suspension by uninstalling and installing again.
func TestTheOperatorsSuspensionOutlastsAnInstallation(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		for _, by := range []string{"operator", "owner", "app"} {
			t.Run(by, func(t *testing.T) {
				w := newTransition(t, s)
				w.suspension(by, true)
				s.Check(t, apitest.Case{Do: fmt.Sprintf("DELETE /app/installations/%d", w.at.ID),
					Headers: w.jwt, Status: 204})
				w.at = w.robot.Install(t, w.owner)
				want := map[bool]int{true: 403, false: 201}[by == "operator"]
				if got := w.newToken(); got != want {
					t.Errorf("after it was installed again: %d, want %d", got, want)
				}
				if got := w.suspension("owner", false); by == "operator" && got != 403 {
					t.Errorf("the owner of the new one ends it: %d", got)
				}
				w.suspension("operator", false)
				if got := w.newToken(); got != 201 {
					t.Errorf("after the operator ended it: %d", got)
				}
			})
		}
	})
}

// An empty list asks for nothing, whether the installation is for some repositories or for all.
func TestTokensForNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		r := robot(t, s)
		some, all := r.Install(t, "alice", "garden", "open"), r.Install(t, "guild")
		garden := repoID(t, s, "alice/garden")
		for _, c := range []struct {
			send                        string
			reads, lists, issues, write int
			reach                       int // repositories of the installation for some
			reachAll                    int // of the one for all; -1: not asked
		}{
			{`{}`, 200, 200, 200, 201, 2, 1},
			{`{"repositories":[]}`, 404, 200, 404, 404, 0, 0},
			{`{"repository_ids":[]}`, 404, 200, 404, 404, 0, 0},
			{`{"repositories":[],"repository_ids":[]}`, 404, 200, 404, 404, 0, 0},
			{fmt.Sprintf(`{"repositories":[],"repository_ids":[%d]}`, garden), 200, 200, 200, 201, 1, -1},
			{`{"permissions":{}}`, 403, 403, 403, 403, 0, 0},
			{`{"permissions":{},"repositories":["garden"]}`, 403, 403, 403, 403, 0, -1},
			{`{"permissions":{"metadata":"read"}}`, 200, 200, 403, 403, 2, 1},
		} {
			token := apitest.Bearer(r.Token(t, some.ID, c.send))
			s.Run(t, []apitest.Case{
				{Name: c.send, Do: "GET /repos/alice/garden", Headers: token, Status: c.reads},
				{Name: c.send, Do: "GET /repos/alice/garden/issues", Headers: token, Status: c.issues},
				{Name: c.send, Do: "POST /repos/alice/garden/issues", Headers: token, Send: `{"title":"t"}`,
					Status: c.write},
				{Name: c.send, Do: "GET /repos/alice/open", Headers: token, Status: 200}, // as everybody
			})
			reaches(t, s, token, c.send, c.lists, c.reach)
			if c.reachAll >= 0 {
				reaches(t, s, apitest.Bearer(r.Token(t, all.ID, c.send)), c.send, c.lists, c.reachAll)
			}
		}
	})
}

// reaches checks how many repositories a token lists.
func reaches(t *testing.T, s *apitest.Server, token headers, send string, status, want int) {
	t.Helper()
	var got struct {
		N int `json:"total_count"`
	}
	a := s.Check(t, apitest.Case{Name: send, Do: "GET /installation/repositories", Headers: token,
		Status: status})
	if a.JSON(t, &got); got.N != want {
		t.Errorf("%s reaches %d repositories, want %d", send, got.N, want)
	}
}

// suspension suspends the installation or ends that, as somebody does it, and gives the status.
func (w *world) suspension(by string, begin bool) int {
	w.t.Helper()
	ctx, apps := w.t.Context(), w.apps()
	do, method, doBy := apps.Unsuspend, "DELETE", apps.UnsuspendBy
	if begin {
		do, method, doBy = apps.Suspend, "PUT", apps.SuspendBy
	}
	var err error
	switch by {
	case "app":
		return w.s.Do(w.t, apitest.Case{Do: fmt.Sprintf("%s /app/installations/%d/suspended", method, w.at.ID),
			Headers: w.jwt}).Status
	case "operator":
		err = do(ctx, 0, w.at.ID, nil)
	case "unknown": // as it was before anybody noted who suspended
		err = w.s.DB.Write(ctx, func(tx *db.Tx) error {
			if err := tx.Run(`UPDATE installations SET suspended_at = $2 WHERE id = $1`, w.at.ID,
				tx.Now); err != nil {
				return err
			}
			return tx.Bump(account.Topic)
		})
	default:
		login := by
		if by == "owner" {
			login = w.owner
		}
		a, findErr := w.s.Accounts.Find(ctx, login)
		w.ok(findErr)
		err = doBy(ctx, &account.Caller{ID: a.ID, Login: a.Login, SiteAdmin: a.SiteAdmin}, w.at.ID)
	}
	if errs.Is(err, errs.Forbidden) {
		return 403
	}
	w.ok(err)
	return 204
}

// newToken asks for a token of the installation, and gives the status.
func (w *world) newToken() int {
	return w.s.Do(w.t, apitest.Case{Do: fmt.Sprintf("POST /app/installations/%d/access_tokens", w.at.ID),
		Headers: w.jwt}).Status
}
