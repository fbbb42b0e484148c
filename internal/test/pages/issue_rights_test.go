package pages_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// tokensOf are tokens of somebody who reads a repository: what each may do on its pages.
func tokensOf(t *testing.T, s *apitest.Server, login, name string) map[string]string {
	t.Helper()
	s.Do(t, apitest.Case{Do: "POST /user/repos", As: login, Send: `{"name": "other"}`}) // it may be there
	id := func(name string) int64 {
		var r struct{ ID int64 }
		s.Check(t, apitest.Case{Do: "GET /repos/" + name, As: login, Status: 200,
			Keep: func(a *apitest.Answer) { a.JSON(t, &r) }})
		return r.ID
	}
	here, other := id(name), id(login+"/other")
	return map[string]string{"code": s.Scoped(t, login, "public_repo"), "people": s.Scoped(t, login, "read:user"),
		"read": s.Fine(t, login, false, here), "write": s.Fine(t, login, true, here),
		"elsewhere": s.Fine(t, login, true, other)}
}

// A token that is limited opens by pages what it opens by the API, and no more.
func TestLimitedTokensOnIssuePages(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		threadPlant(t, s, "alice/garden", false)
		tokens := tokensOf(t, s, "rae", "alice/garden")
		const at = "/alice/garden/issues/1"
		for name, may := range map[string]struct {
			signedIn, comments, subscribes bool
		}{"code": {true, true, true}, "people": {}, "read": {signedIn: true}, "write": {true, true, false},
			"elsewhere": {signedIn: true}} {
			headers := map[string]string{"Authorization": "Bearer " + tokens[name], "Accept": "text/html"}
			status := func(do, send string) (code int, body string) {
				h := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
				for k, v := range headers {
					h[k] = v
				}
				a := s.Do(t, apitest.Case{Do: do, Headers: h, Send: send})
				return a.Status, string(a.Body)
			}
			for _, path := range []string{at, "/alice/garden/issues", "/alice/garden/labels",
				"/alice/garden/milestones"} {
				code, body := status("GET "+path, "")
				if signedIn := !strings.Contains(body, `href="/login`); code != 200 || signedIn != may.signedIn {
					t.Errorf("%s: GET %s is %d, signed in: %t", name, path, code, signedIn)
				}
			}
			want := map[bool]int{true: 303, false: 403}
			for _, form := range []struct {
				to, send string
				may      bool
			}{{"/comments", "body=x", may.comments}, {"/reactions", "content=heart", may.comments},
				{"/subscription", "off=1", may.subscribes}, {"/lock", "", false}, {"/pin", "", false}} {
				if code, body := status("POST "+at+form.to, form.send); code != want[form.may] {
					t.Errorf("%s: POST %s is %d, want %d: %s", name, form.to, code, want[form.may], body)
				}
			}
		}
	})
}

// While the disk is nearly full, no form of an issue stores anything; forms that only take something away
// work.
func TestIssueFormsWithoutRoom(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		people(t, s)
		threadPlant(t, s, "alice/garden", false)
		const at = "/alice/garden/issues/1"
		sendForms(t, s.WithoutRoom(), s.Token(t, "alice"),
			[]sentForm{{at + "/comments", "body=x", 507}, {at + "/state", "state=closed", 507},
				{at + "/edit", "title=x", 507},
				{at + "/labels", "label=bug", 507}, {at + "/reactions", "content=heart", 507}, {at + "/pin", "", 507},
				{at + "/subscription", "", 507}, {at + "/lock", "", 507}, {at + "/lock", "unlock=1", 303},
				{"/alice/garden/issues", "title=x", 507}, {"/alice/garden/labels", "name=x&color=ff0000", 507},
				{"/alice/garden/labels", "was=bug&delete=1", 303}, {"/alice/garden/milestones", "title=x", 507},
				{at + "/delete", "", 303}})
	})
}
