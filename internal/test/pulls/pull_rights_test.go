package pulls_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
)

// Rights on a pull request: anonymous, a stranger, a reader, the author (a reader), a writer, an
// administrator of the repository and one of the site. In a private repository anonymous callers and
// strangers get 404 (decisions 12, 13, 37, 38, 51).
var rights = []struct{ what, do, send, want string }{
	//                                                                 nobody stranger reader author writer keeper chief
	{"list", "GET pulls", "", "                                           200 200 200 200 200 200 200"},
	{"read", "GET pulls/N", "", "                                         200 200 200 200 200 200 200"},
	{"read its commits", "GET pulls/N/commits", "", "                     200 200 200 200 200 200 200"},
	{"read its files", "GET pulls/N/files", "", "                         200 200 200 200 200 200 200"},
	{"ask whether it is merged", "GET pulls/N/merge", "", "               404 404 404 404 404 404 404"},
	{"propose", "POST pulls", `{"title": "x", "head": "NEW", "base": "main"}`, "401 201 201 201 201 201 201"},
	{"retitle", "PATCH pulls/N", `{"title": "y"}`, "                      401 403 403 200 200 200 200"},
	{"close", "PATCH pulls/N", `{"state": "closed"}`, "                   401 403 403 200 200 200 200"},
	{"reopen", "PATCH pulls/N", `{"state": "open"}`, "                    401 403 403 200 200 200 200"},
	{"edit through the issue", "PATCH issues/N", `{"title": "z"}`, "      401 403 403 200 200 200 200"},
	{"wrong body without the right", "PATCH pulls/N", `{"title": 1}`, "   401 403 403 422 422 422 422"},
	{"merge", "PUT pulls/N/merge", "", "                                  401 403 403 403 200 200 200"},
}

func TestRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		callers := []string{"", "stranger", "reader", "author", "writer", "keeper", "chief"}
		for _, login := range append(callers[1:6:6], "alice") {
			s.User(t, login)
		}
		s.Admin(t, "chief")
		for _, name := range []string{"alice/open", "alice/closed"} {
			w := &pullWorld{}
			w.commit("main", "Begin", "", "", one("a", "a\n"))
			for i := range callers {
				for _, of := range []string{"for", "by"} {
					w.commit(fmt.Sprint(of, i), "Add", "main", "", one(fmt.Sprint(of, i), "x\n"))
				}
			}
			r, _ := w.plant(t, s, name, name == "alice/closed")
			for login, role := range map[string]account.Role{"reader": account.Pull, "author": account.Pull,
				"writer": account.Push, "keeper": account.Admin} {
				s.Grant(t, r, login, role)
			}
			for i, caller := range callers {
				n := propose(t, s, "author", name, fmt.Sprint("for", i), "main").Number
				for _, c := range rights {
					want := strings.Fields(c.want)[i]
					if name == "alice/closed" && i < 2 && want != "401" {
						want = "404"
					}
					method, path, _ := strings.Cut(strings.Replace(c.do, "/N", fmt.Sprintf("/%d", n), 1), " ")
					do := apitest.Case{Do: method + " /repos/" + name + "/" + path, As: caller,
						Send: strings.Replace(c.send, "NEW", fmt.Sprint("by", i), 1)}
					if a := s.Do(t, do); fmt.Sprint(a.Status) != want {
						t.Errorf("%s: %s as %q: %d, want %s\n%s", name, c.what, caller, a.Status,
							want, a.Body)
					} else if a.Status == 403 && !strings.Contains(string(a.Body), "access") &&
						!strings.Contains(string(a.Body), "right") &&
						!strings.Contains(string(a.Body), "author") {
						t.Errorf("%s: %s as %q: the message does not name the right: %s", name, c.what,
							caller, a.Body)
					}
					if c.do != "GET pulls/N" {
						continue
					}
					web := fmt.Sprintf("/%s/pull/%d.diff", name, n)
					if a := s.Do(t, apitest.Case{Do: "GET " + web,
						As: caller}); fmt.Sprint(a.Status) != want {
						t.Errorf("%s as %q: %d, want %s", web, caller, a.Status, want)
					}
				}
			}
			truth(t, s, "alice", name)
		}
	})
}
