package server_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/apitest"
	"arbor/internal/git/gittest"
	"arbor/internal/repo"
)

// home is a repository that holds one of each thing, all of which have its mark
// in every text and name, so that any answer with the mark tells of it.
type home struct {
	owner, name string
	private     bool
	mark        string
	shas        []string          // of all its objects
	is          map[string]string // what stands in for placeholders
}

func (h *home) path() string { return "/repos/" + h.owner + "/" + h.name }

// Marks of what is private beside repositories.
const (
	pendingMark = "wolfsbane" // a review that reader has not submitted
	emailMark   = "oleander"  // addresses, for who signed in
	plantMark   = "foxglove"  // plants of keeper
)

// walker is everyone and everything that the walk meets.
type walker struct {
	*apitest.Server
	homes  []*home
	tokens map[string]string // by login; also of those that are not in force
	fresh  int
}

// graduated asks for everything that can be shown.
var graduated = map[string]string{"Accept": "application/vnd.github.v3+json"}

// people are every kind of caller; "" is nobody, and two have no valid token.
var people = []string{"", "wrong", "expired", "stranger", "neighbour", "reader", "writer", "keeper", "member", "owner", "holder", "chief"}

// role is what a person may do in a repository, by what was granted below
// (decision 12).
func (h *home) role(login string) account.Role {
	switch {
	case login == "chief", login == "keeper", login == "owner" && h.owner == "guild", login == "holder" && h.owner == "holder",
		login == "neighbour" && h.owner == "guild" && !h.private:
		return account.Admin
	case login == "writer":
		return account.Push
	case login == "reader", login == "member" && h.owner == "guild", !h.private:
		return account.Pull
	}
	return account.None
}

// newWalker registers everyone, with a public repository each of an organization
// and of a person. hide adds a private one of each.
func newWalker(t *testing.T, s *apitest.Server) *walker {
	t.Helper()
	w := &walker{Server: s, tokens: map[string]string{"wrong": "arb_" + strings.Repeat("a", 40)}}
	for _, login := range append([]string{"guest"}, people[3:]...) {
		if login == "chief" {
			s.Admin(t, login)
		} else {
			s.User(t, login)
		}
		w.tokens[login] = s.Token(t, login)
		w.ok(t, login, "PATCH /user", fmt.Sprintf(`{"email":"%s-%s@example.org"}`, emailMark, login))
	}
	w.tokens["expired"], _, _ = must2(s.Accounts.CreateToken(t.Context(), account.NewToken{Login: "chief", Note: "old", Expires: time.Microsecond}))
	s.Org(t, "guild", "owner")
	w.ok(t, "owner", "PATCH /orgs/guild", `{"members_can_fork_private_repositories":true}`)
	w.ok(t, "owner", "PUT /orgs/guild/members/member", "")
	w.ok(t, "owner", "PATCH /orgs/guild", `{"members_can_fork_private_repositories":true}`)
	w.ok(t, "keeper", "POST /plants", `{"id":1,"name":"`+plantMark+`","tag":"`+plantMark+`"}`)
	w.build(t, "guild", "goldenrod", false)
	w.build(t, "holder", "chamomile", false)
	return w
}

func must2[A, B any](a A, b B, err error) (A, B, error) {
	if err != nil {
		panic(err)
	}
	return a, b, err
}

func (w *walker) hide(t *testing.T) {
	t.Helper()
	w.build(t, "guild", "nightshade", true)
	w.build(t, "holder", "belladonna", true)
}

// ok makes a request that must succeed, and gives its answer.
func (w *walker) ok(t *testing.T, as, do, send string) map[string]any {
	t.Helper()
	headers := map[string]string{"Accept": graduated["Accept"]}
	if strings.HasSuffix(do, "/plants") {
		headers = map[string]string{"Content-Type": "application/json"}
	}
	a := w.Do(t, apitest.Case{Do: do, As: as, Send: send, Headers: headers})
	if a.Status >= 300 {
		t.Fatalf("%s as %s: %d %s", do, as, a.Status, a.Body)
	}
	var made map[string]any
	_ = json.Unmarshal(a.Body, &made) // lists and nothing are no objects
	return made
}

// made is ok for what has an id or another name under key.
func (w *walker) made(t *testing.T, as, do, send, key string) string {
	t.Helper()
	switch v := w.ok(t, as, do, send)[key].(type) {
	case float64:
		return fmt.Sprint(int64(v))
	case string:
		return v
	}
	t.Fatalf("%s made nothing with %q", do, key)
	return ""
}

// grant gives the collaborators their roles.
func (w *walker) grant(t *testing.T, h *home, r *repo.Repo) {
	t.Helper()
	for login, role := range map[string]account.Role{"reader": account.Pull, "writer": account.Push, "keeper": account.Admin} {
		w.Grant(t, r, login, role)
	}
	if h.owner == "guild" && !h.private {
		w.Grant(t, r, "neighbour", account.Admin)
	}
}

// build makes a repository named by its mark and puts one of each thing in it.
func (w *walker) build(t *testing.T, owner, mark string, private bool) {
	t.Helper()
	h := &home{owner: owner, name: mark, private: private, mark: mark, is: map[string]string{}}
	r := w.Repo(t, owner+"/"+mark, private)
	w.grant(t, h, r)
	dir := gittest.Bare(t)
	gittest.Import(t, dir, strings.NewReader(strings.ReplaceAll(stream, "MARK", mark)))
	w.Import(t, r, dir)
	h.shas = strings.Fields(gittest.Run(t, dir, "rev-list", "--all", "--objects", "--no-object-names"))
	for name, revision := range map[string]string{"commit": "main", "tree": "main^{tree}", "blob": "main:" + mark + ".txt", "tag": "refs/tags/" + mark + "-v1"} {
		h.is[name] = gittest.Run(t, dir, "rev-parse", revision)
	}
	w.file(t, h)
	w.review(t, h)
	w.ok(t, "keeper", "PATCH "+h.path(), `{"description":"about `+mark+`","homepage":"http://`+mark+`.example.org"}`)
	w.ok(t, "keeper", "POST "+h.path()+"/statuses/"+h.is["commit"], fmt.Sprintf(
		`{"state":"success","context":%q,"description":%q,"target_url":"http://example.org/%s"}`, mark, mark, mark))
	w.ok(t, "keeper", "PUT /user/starred/"+owner+"/"+mark, "")
	w.ok(t, "keeper", "PUT "+h.path()+"/subscription", `{"subscribed":true}`)
	w.ok(t, "reader", "POST "+h.path()+"/forks", "")
	w.homes = append(w.homes, h)
}

// stream is a history: two commits on main, one on each of two other branches.
const stream = `blob
mark :1
data <<END
MARK with text
END

blob
mark :2
data <<END
MARK other text
END

commit refs/heads/main
mark :3
author MARK <MARK@example.org> 1700000000 +0000
committer MARK <MARK@example.org> 1700000000 +0000
data <<END
MARK first
END
M 100644 :1 MARK.txt
M 100644 :1 README.md
M 100644 :1 MARK-dir/README.md

commit refs/heads/MARK-topic
mark :4
committer MARK <MARK@example.org> 1700000001 +0000
data <<END
MARK topic
END
from :3
M 100644 :2 MARK-new.txt

commit refs/heads/MARK-side
mark :5
committer MARK <MARK@example.org> 1700000002 +0000
data <<END
MARK side
END
from :3
M 100644 :2 MARK-side.txt

tag MARK-v1
from :3
tagger MARK <MARK@example.org> 1700000003 +0000
data <<END
MARK tag
END
`

// file adds a label, a milestone and an issue with all that hangs on it, which
// points at the public repositories.
func (w *walker) file(t *testing.T, h *home) {
	t.Helper()
	do, mark, is := "POST "+h.path()+"/", h.mark, h.is
	points := mark + " like guild/goldenrod#1 and holder/chamomile#1, @stranger"
	is["label"] = w.made(t, "keeper", do+"labels", `{"name":"`+mark+`","description":"`+mark+`","color":"abcdef"}`, "name")
	is["milestone"] = w.made(t, "keeper", do+"milestones", `{"title":"`+mark+`","description":"`+mark+`"}`, "number")
	is["issue"] = w.made(t, "keeper", do+"issues", fmt.Sprintf(
		`{"title":"about %s","body":%q,"labels":[%q],"milestone":1,"assignees":["writer"]}`, mark, points, mark), "number")
	issue := do + "issues/" + is["issue"] + "/"
	is["comment"] = w.made(t, "keeper", issue+"comments", fmt.Sprintf(`{"body":%q}`, points), "id")
	is["reaction"] = w.made(t, "keeper", issue+"reactions", `{"content":"heart"}`, "id")
	is["comment reaction"] = w.made(t, "keeper", do+"issues/comments/"+is["comment"]+"/reactions", `{"content":"heart"}`, "id")
	a := w.Do(t, apitest.Case{Do: "GET " + h.path() + "/issues/events", As: "keeper"})
	var events []struct{ ID int64 }
	a.JSON(t, &events)
	is["event"] = fmt.Sprint(events[0].ID)
}

// review adds a pull request with a review, a comment on it, and a review that
// its author has not submitted.
func (w *walker) review(t *testing.T, h *home) {
	t.Helper()
	do, mark, is := "POST "+h.path()+"/", h.mark, h.is
	is["pull"] = w.made(t, "writer", do+"pulls", fmt.Sprintf(`{"title":"take %s","body":"%s","head":"%s-topic","base":"main"}`, mark, mark, mark), "number")
	pull := do + "pulls/" + is["pull"] + "/"
	is["review"] = w.made(t, "keeper", pull+"reviews", `{"body":"`+mark+`","event":"COMMENT"}`, "id")
	is["line"] = w.made(t, "keeper", pull+"comments", fmt.Sprintf(`{"body":%q,"commit_id":%q,"path":"%s-new.txt","position":1}`,
		mark, w.tip(t, h, mark+"-topic"), mark), "id")
	is["line reaction"] = w.made(t, "keeper", do+"pulls/comments/"+is["line"]+"/reactions", `{"content":"heart"}`, "id")
	is["pending"] = w.made(t, "reader", pull+"reviews", fmt.Sprintf(
		`{"body":%q,"comments":[{"path":"%s-new.txt","position":1,"body":%q}]}`, pendingMark, mark, pendingMark), "id")
	w.ok(t, "keeper", pull+"requested_reviewers", `{"reviewers":["reader"]}`)
}

// tip is where a branch is.
func (w *walker) tip(t *testing.T, h *home, branch string) string {
	t.Helper()
	ref := w.ok(t, "keeper", "GET "+h.path()+"/git/ref/heads/"+branch, "")
	return ref["object"].(map[string]any)["sha"].(string)
}

// name makes a name that nothing has.
func (w *walker) name() string {
	w.fresh++
	return fmt.Sprint("fresh", w.fresh)
}

// branch makes a branch with a commit of its own.
func (w *walker) branch(t *testing.T, h *home) string {
	t.Helper()
	name := w.name()
	w.ok(t, "keeper", "POST "+h.path()+"/git/refs", fmt.Sprintf(`{"ref":"refs/heads/%s","sha":%q}`, name, h.is["commit"]))
	w.put(t, h, name, name)
	return name
}

// put adds a file to a branch and gives the SHA of its blob.
func (w *walker) put(t *testing.T, h *home, branch, file string) string {
	t.Helper()
	made := w.ok(t, "keeper", "PUT "+h.path()+"/contents/"+file, fmt.Sprintf(`{"message":"add","content":%q,"branch":%q}`,
		base64.StdEncoding.EncodeToString([]byte(h.mark+file)), branch))
	return made["content"].(map[string]any)["sha"].(string)
}

// pull makes a pull request of writer's that can be merged.
func (w *walker) pull(t *testing.T, h *home) string {
	t.Helper()
	return w.made(t, "writer", "POST "+h.path()+"/pulls", fmt.Sprintf(`{"title":"%s","head":%q,"base":"main"}`, h.mark, w.branch(t, h)), "number")
}

// issue files an issue of keeper's, with a label.
func (w *walker) issue(t *testing.T, h *home) string {
	t.Helper()
	return w.made(t, "keeper", "POST "+h.path()+"/issues", `{"title":"`+h.mark+`","labels":["bug"],"assignees":["writer"]}`, "number")
}
