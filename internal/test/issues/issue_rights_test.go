package issues_test

import (
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// callers are every kind of caller, in the order of the columns of rights.
var callers = [8]string{"", "stranger", "reader", "writer", "keeper", "member", "owner", "chief"}

// outsiders may not see the private repository (decision 12).
var outsiders = map[string]bool{"": true, "stranger": true}

// guild creates an organization with the public repository hall and the private vault, and all callers.
// poster writes what belongs to others.
func guild(t *testing.T, s *apitest.Server) {
	t.Helper()
	for _, login := range callers[1:7] {
		s.User(t, login)
	}
	s.Admin(t, "chief")
	s.User(t, "poster")
	s.Org(t, "guild", "owner")
	s.Check(t, apitest.Case{Do: "PUT /orgs/guild/members/member", As: "owner", Status: 204})
	for name, private := range map[string]bool{"guild/hall": false, "guild/vault": true} {
		r := s.Repo(t, name, private)
		for login, role := range map[string]account.Role{"reader": account.Pull, "poster": account.Pull,
			"writer": account.Push, "keeper": account.Admin} {
			s.Grant(t, r, login, role)
		}
	}
}

// rights says what becomes of each operation of the tracker: the statuses for
// nobody, a stranger, a reader, a writer, an administrator of the repository, a
// member and an owner of the organization, and an administrator of the site
// (code-hosting.md, Authentication; decisions 12, 32, 34). What stands for the
// subject is in subject. In a private repository nobody and strangers meet
// nothing instead.
var rights = []struct{ what, do, send, want string }{
	//                                                                  nobody stranger reader writer keeper member owner chief
	{"read the list", "GET issues", "", "                                  200 200 200 200 200 200 200 200"},
	{"read an issue", "GET OTHER", "", "                                   200 200 200 200 200 200 200 200"},
	{"file", "POST issues", `{"title": "x"}`, "                            401 201 201 201 201 201 201 201"},
	{"edit one's own", "PATCH OWN", `{"title": "y", "body": "z"}`, "       401 200 200 200 200 200 200 200"},
	{"edit another's", "PATCH OTHER", `{"title": "y"}`, "                  401 403 403 200 200 403 200 200"},
	{"edit another's by POST", "POST OTHER", `{"title": "y"}`, "           401 403 403 200 200 403 200 200"},
	{"close one's own", "PATCH OWN", `{"state": "closed"}`, "              401 200 200 200 200 200 200 200"},
	{"close another's", "PATCH OTHER", `{"state": "closed"}`, "            401 403 403 200 200 403 200 200"},
	{"reopen one's own that the owner closed", "PATCH CLOSED", `{"state": "open"}`,
		" 401 200 200 200 200 200 200 200"},
	{"put another's into a milestone", "PATCH OTHER", `{"milestone": 1}`, "401 403 403 200 200 403 200 200"},
	{"list an issue's labels", "GET OTHER/labels", "", "                   200 200 200 200 200 200 200 200"},
	{"label one's own", "POST OWN/labels", `["bug"]`, "                    401 403 403 200 200 403 200 200"},
	{"label another's", "POST OTHER/labels", `["bug"]`, "                  401 403 403 200 200 403 200 200"},
	{"replace labels", "PUT OTHER/labels", `{"labels": ["bug"]}`, "        401 403 403 200 200 403 200 200"},
	{"clear labels", "DELETE OTHER/labels", "", "                          401 403 403 204 204 403 204 204"},
	{"take a label off", "DELETE LABELED/labels/bug", "", "                401 403 403 200 200 403 200 200"},
	{"assign", "POST OTHER/assignees", `{"assignees": ["writer"]}`, "      401 403 403 201 201 403 201 201"},
	{"assign one's own", "POST OWN/assignees", `{"assignees": []}`, "      401 403 403 201 201 403 201 201"},
	{"unassign", "DELETE OTHER/assignees", `{"assignees": ["writer"]}`, "  401 403 403 200 200 403 200 200"},
	{"ask who can be assigned", "GET assignees", "", "                     200 200 200 200 200 200 200 200"},
	{"ask about one", "GET assignees/writer", "", "                        204 204 204 204 204 204 204 204"},
	{"ask about one for an issue", "GET OTHER/assignees/writer", "", "     204 204 204 204 204 204 204 204"},
	{"list labels", "GET labels", "", "                                    200 200 200 200 200 200 200 200"},
	{"read a label", "GET labels/bug", "", "                               200 200 200 200 200 200 200 200"},
	{"make a label", "POST labels", `{"name": "NEW"}`, "                   401 403 403 201 201 403 201 201"},
	{"edit a label", "PATCH LABEL", `{"color": "ffffff"}`, "               401 403 403 200 200 403 200 200"},
	{"delete a label", "DELETE LABEL", "", "                               401 403 403 204 204 403 204 204"},
	{"list milestones", "GET milestones", "", "                            200 200 200 200 200 200 200 200"},
	{"read a milestone", "GET milestones/1", "", "                         200 200 200 200 200 200 200 200"},
	{"list a milestone's labels", "GET milestones/1/labels", "", "         200 200 200 200 200 200 200 200"},
	{"make a milestone", "POST milestones", `{"title": "NEW"}`, "          401 403 403 201 201 403 201 201"},
	{"edit a milestone", "PATCH MILESTONE", `{"state": "closed"}`, "       401 403 403 200 200 403 200 200"},
	{"delete a milestone", "DELETE MILESTONE", "", "                       401 403 403 204 204 403 204 204"},
	{"lock", "PUT OTHER/lock", "", "                                       401 403 403 204 204 403 204 204"},
	{"lock one's own", "PUT OWN/lock", "", "                               401 403 403 204 204 403 204 204"},
	{"unlock", "DELETE LOCKED/lock", "", "                                 401 403 403 204 204 403 204 204"},
	{"edit one's own that is locked", "PATCH OWNLOCKED", `{"body": "z"}`, "401 200 200 200 200 200 200 200"},
	{"list comments", "GET OTHER/comments", "", "                          200 200 200 200 200 200 200 200"},
	{"list all comments", "GET issues/comments", "", "                     200 200 200 200 200 200 200 200"},
	{"read a comment", "GET THEIRS", "", "                                 200 200 200 200 200 200 200 200"},
	{"comment", "POST OTHER/comments", `{"body": "x"}`, "                  401 201 201 201 201 201 201 201"},
	{"comment on a locked one", "POST LOCKED/comments", `{"body": "x"}`, " 401 403 403 201 201 403 201 201"},
	{"comment on one's own locked", "POST OWNLOCKED/comments", `{"body": "x"}`,
		" 401 403 403 201 201 403 201 201"},
	{"edit one's own comment", "PATCH MINE", `{"body": "y"}`, "            401 200 200 200 200 200 200 200"},
	{"edit another's comment", "PATCH THEIRS", `{"body": "y"}`, "          401 403 403 200 200 403 200 200"},
	{"edit one's own, locked", "PATCH MINELOCKED", `{"body": "y"}`, "      401 403 403 200 200 403 200 200"},
	{"delete one's own comment", "DELETE MINE", "", "                      401 204 204 204 204 204 204 204"},
	{"delete another's comment", "DELETE THEIRS", "", "                    401 403 403 204 204 403 204 204"},
	{"delete one's own, locked", "DELETE MINELOCKED", "", "                401 403 403 204 204 403 204 204"},
	{"list reactions", "GET OTHER/reactions", "", "                        200 200 200 200 200 200 200 200"},
	{"react", "POST OTHER/reactions", `{"content": "eyes"}`, "             401 201 201 201 201 201 201 201"},
	{"react on a locked one", "POST LOCKED/reactions", `{"content": "eyes"}`,
		" 401 403 403 201 201 403 201 201"},
	{"react to a comment", "POST THEIRS/reactions", `{"content": "eyes"}`, "401 201 201 201 201 201 201 201"},
	{"list a comment's reactions", "GET THEIRS/reactions", "", "           200 200 200 200 200 200 200 200"},
	{"take one's own reaction off", "DELETE MYEYES", "", "                 401 204 204 204 204 204 204 204"},
	{"take another's reaction off", "DELETE THEIREYES", "", "              401 403 403 403 403 403 403 204"},
	{"subscribe", "PUT OTHER/subscription", "", "                          401 200 200 200 200 200 200 200"},
	{"unsubscribe", "DELETE OTHER/subscription", "", "                     401 204 204 204 204 204 204 204"},
	{"see one's subscription", "GET OWN/subscription", "", "               401 200 200 200 200 200 200 200"},
	{"list an issue's events", "GET OTHER/events", "", "                   200 200 200 200 200 200 200 200"},
	{"list all events", "GET issues/events", "", "                         200 200 200 200 200 200 200 200"},
	{"read the timeline", "GET OTHER/timeline", "", "                      200 200 200 200 200 200 200 200"},
}

// Each caller can do what the table says and nothing else. A route without a check would let strangers
// write.
func TestRights(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		guild(t, s)
		for _, repository := range []string{"guild/hall", "guild/vault"} {
			s.Check(t, apitest.Case{Do: "POST /repos/" + repository + "/milestones", As: "owner",
				Send: `{"title": "first"}`, Status: 201})
			for _, r := range rights {
				for n, caller := range callers {
					var want int
					if _, err := fmt.Sscan(strings.Fields(r.want)[n], &want); err != nil {
						t.Fatal(err)
					}
					method, path, _ := strings.Cut(r.do, " ")
					outside := repository == "guild/vault" && outsiders[caller]
					if outside && want != 401 {
						want = 404
					}
					if outside && caller == "" && method != "GET" {
						want = 401
					}
					subject := &stage{t, s, repository, caller, method, outside}
					c := apitest.Case{As: caller, Headers: issuetest.Graduated, Status: want,
						Send: strings.Replace(r.send, "NEW", "by "+caller, 1)}
					c.Do = method + " " + subject.fill(path)
					t.Run(fmt.Sprintf("%s as %q in %s", r.what, caller, repository), func(t *testing.T) {
						s.Check(t, c)
					})
				}
			}
		}
	})
}

// stage creates the subject of an operation.
type stage struct {
	t                  *testing.T
	s                  *apitest.Server
	repository, caller string
	method             string
	outside            bool // the caller has nothing of its own here
}

// fill replaces the word that an address begins with.
func (g *stage) fill(path string) string {
	word, rest, _ := strings.Cut(path, "/")
	if rest != "" {
		rest = "/" + rest
	}
	me := g.caller
	if me == "" || g.outside {
		me = "poster"
	}
	comment := func(as, on string) string {
		return fmt.Sprintf("/repos/%s/issues/comments/%d", g.repository,
			issuetest.Comment(g.t, g.s, as, on, "x"))
	}
	switch word {
	case "OWN":
		return g.issue(me) + rest
	case "OTHER":
		return g.issue("poster") + rest
	case "CLOSED":
		on := g.issue(me)
		g.owner("PATCH "+on, `{"state": "closed"}`, 200)
		return on
	case "LABELED":
		on := g.issue("poster")
		g.owner("POST "+on+"/labels", `["bug"]`, 200)
		return on + rest
	case "LOCKED", "OWNLOCKED":
		on := g.issue(map[string]string{"LOCKED": "poster", "OWNLOCKED": me}[word])
		g.owner("PUT "+on+"/lock", "", 204)
		return on + rest
	case "MINE", "THEIRS":
		return comment(map[string]string{"MINE": me, "THEIRS": "poster"}[word], g.issue("poster")) + rest
	case "MINELOCKED":
		on := g.issue("poster")
		at := comment(me, on)
		g.owner("PUT "+on+"/lock", "", 204)
		return at
	case "MYEYES", "THEIREYES":
		on := g.issue("poster")
		var made struct{ ID int64 }
		g.s.Check(g.t, apitest.Case{Do: "POST " + on + "/reactions",
			As:      map[string]string{"MYEYES": me, "THEIREYES": "poster"}[word],
			Headers: issuetest.Graduated, Send: `{"content": "eyes"}`, Status: 201}).JSON(g.t, &made)
		return fmt.Sprintf("%s/reactions/%d", on, made.ID)
	case "LABEL":
		g.owner("POST /repos/"+g.repository+"/labels", `{"name": "LABEL"}`, 0)
		return "/repos/" + g.repository + "/labels/label"
	case "MILESTONE":
		var made struct{ Number int }
		title := fmt.Sprintf(`{"title": "for %s %s %d"}`, g.method, g.caller, len(g.caller))
		g.owner("POST /repos/"+g.repository+"/milestones", title, 201).JSON(g.t, &made)
		return fmt.Sprintf("/repos/%s/milestones/%d", g.repository, made.Number)
	}
	return "/repos/" + g.repository + "/" + path
}

func (g *stage) issue(as string) string { return issuetest.File(g.t, g.s, as, g.repository) }

// owner does something as the organization's owner; status 0 is any.
func (g *stage) owner(do, send string, status int) *apitest.Answer {
	g.t.Helper()
	a := g.s.Do(g.t, apitest.Case{Do: do, As: "owner", Headers: issuetest.Graduated, Send: send})
	if status != 0 && a.Status != status {
		g.t.Fatalf("%s: status %d, want %d\n%s", do, a.Status, status, a.Body)
	}
	return a
}
