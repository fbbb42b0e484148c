package estate

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/apitest"
	"arbor/internal/git/gittest"
	"arbor/internal/repo"
	"arbor/internal/testkit"
)

// Home is a repository that holds one of each thing, all of which have its mark
// in every text and name, so that any answer with the mark tells of it.
type Home struct {
	Owner, Name string
	Private     bool
	Mark        string
	SHAs        []string          // of all its objects
	Is          map[string]string // its things by what they are: "issue" to a number
}

func (h *Home) path() string { return "/repos/" + h.Owner + "/" + h.Name }

// Role is what a person may do in a repository, by what was granted below
// (decision 12).
func (h *Home) Role(login string) account.Role {
	switch {
	case login == "chief", login == "keeper", login == "owner" && h.Owner == "guild", login == "holder" &&
		h.Owner == "holder",
		login == "neighbour" && h.Owner == "guild" && !h.Private:
		return account.Admin
	case login == "writer":
		return account.Push
	case login == "reader", login == "member" && h.Owner == "guild", !h.Private:
		return account.Pull
	}
	return account.None
}

// holder owns the repository, or the organization that does.
func (h *Home) holder() string {
	if h.Owner == "guild" {
		return "owner"
	}
	return h.Owner
}

// grant gives the collaborators their roles.
func (w *World) grant(t *testing.T, h *Home, r *repo.Repo) {
	t.Helper()
	roles := map[string]account.Role{"reader": account.Pull, "writer": account.Push, "keeper": account.Admin}
	for login, role := range roles {
		w.Grant(t, r, login, role)
	}
	if h.Owner == "guild" && !h.Private {
		w.Grant(t, r, "neighbour", account.Admin)
	}
}

// stylesheet is the name of the pages' stylesheet.
var stylesheet = regexp.MustCompile(`arbor-[0-9a-f]+\.css`)

// Build makes a repository named by its mark and puts one of each thing in it.
func (w *World) Build(t *testing.T, owner, mark string, private bool) {
	t.Helper()
	h := &Home{Owner: owner, Name: mark, Private: private, Mark: mark, Is: map[string]string{}}
	r := w.Repo(t, owner+"/"+mark, private)
	w.grant(t, h, r)
	dir := gittest.Bare(t)
	gittest.Import(t, dir, strings.NewReader(strings.ReplaceAll(stream, "MARK", mark)))
	w.Import(t, r, dir)
	h.SHAs = strings.Fields(gittest.Run(t, dir, "rev-list", "--all", "--objects", "--no-object-names"))
	objects := map[string]string{"commit": "main", "tree": "main^{tree}",
		"blob": "main:" + mark + ".txt", "tag": "refs/tags/" + mark + "-v1"}
	for name, revision := range objects {
		h.Is[name] = gittest.Run(t, dir, "rev-parse", revision)
	}
	login := w.Do(t, apitest.Case{Do: "GET /login", Headers: map[string]string{"Accept": "text/html"}})
	h.Is["page asset"] = string(stylesheet.Find(login.Body))
	w.file(t, h)
	w.review(t, h)
	w.OK(t, "keeper", "PATCH "+h.path(),
		`{"description":"about `+mark+`","homepage":"http://`+mark+`.example.org"}`)
	w.OK(t, "keeper", "PUT "+h.path()+"/topics", `{"names":["`+mark+`"]}`)
	w.OK(t, "keeper", "POST "+h.path()+"/statuses/"+h.Is["commit"], fmt.Sprintf(
		`{"state":"success","context":%q,"description":%q,"target_url":"http://example.org/%s"}`,
		mark, mark, mark))
	checks := w.inspector(t, owner)
	h.Is["inspector"], h.Is["inspector bot"] = fmt.Sprint(checks.ID), checks.Slug+"[bot]"
	h.Is["check run"] = w.inspect(t, h)
	suite := w.OK(t, "keeper", "GET "+h.path()+"/check-runs/"+h.Is["check run"],
		"")["check_suite"].(map[string]any)
	h.Is["check suite"] = fmt.Sprint(int64(suite["id"].(float64)))
	h.Is["remark"] = w.remark(t, h)
	h.Is["remark reaction"] = w.made(t, "keeper", "POST "+h.path()+"/comments/"+h.Is["remark"]+"/reactions",
		`{"content":"heart"}`, "id")
	w.publish(t, h)
	w.attach(t, h)
	w.OK(t, "keeper", "PUT /user/starred/"+owner+"/"+mark, "")
	w.OK(t, "keeper", "PUT "+h.path()+"/subscription", `{"subscribed":true}`)
	w.OK(t, "reader", "POST "+h.path()+"/forks", "")
	if w.key == "" {
		w.key = w.ownKey(t, h)
	}
	h.Is["repository id"] = r.ID.String()
	w.tell(t, h)
	h.Is["installation"], h.Is["holder installation"] = w.installations[h.Owner], w.installations["holder"]
	h.Is["app delivery"] = w.appDelivery(t)
	h.Is["deploy key"], h.Is["key"] = w.deployKey(t, h), w.key
	w.Homes = append(w.Homes, h)
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
M 100644 :1 LICENSE
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
func (w *World) file(t *testing.T, h *Home) {
	t.Helper()
	do, mark, is := "POST "+h.path()+"/", h.Mark, h.Is
	points := mark + " like guild/goldenrod#1 and holder/chamomile#1, @stranger"
	is["label"] = w.made(t, "keeper", do+"labels",
		`{"name":"`+mark+`","description":"`+mark+`","color":"abcdef"}`, "name")
	is["milestone"] = w.made(t, "keeper", do+"milestones",
		`{"title":"`+mark+`","description":"`+mark+`"}`, "number")
	is["issue"] = w.made(t, "keeper", do+"issues", fmt.Sprintf(
		`{"title":"about %s","body":%q,"labels":[%q],"milestone":1,"assignees":["writer"]}`, mark,
		points, mark), "number")
	issue := do + "issues/" + is["issue"] + "/"
	is["comment"] = w.made(t, "keeper", issue+"comments", fmt.Sprintf(`{"body":%q}`, points), "id")
	is["reaction"] = w.made(t, "keeper", issue+"reactions", `{"content":"heart"}`, "id")
	is["comment reaction"] = w.made(t, "keeper", do+"issues/comments/"+is["comment"]+"/reactions",
		`{"content":"heart"}`, "id")
	a := w.Do(t, apitest.Case{Do: "GET " + h.path() + "/issues/events", As: "keeper"})
	var events []struct{ ID int64 }
	a.JSON(t, &events)
	is["event"] = fmt.Sprint(events[0].ID)
}

// review adds a pull request with a review, a comment on it, and a review that
// its author has not submitted.
func (w *World) review(t *testing.T, h *Home) {
	t.Helper()
	do, mark, is := "POST "+h.path()+"/", h.Mark, h.Is
	is["pull"] = w.made(t, "writer", do+"pulls", fmt.Sprintf(
		`{"title":"take %s","body":"%s","head":"%s-topic","base":"main"}`, mark, mark, mark), "number")
	pull := do + "pulls/" + is["pull"] + "/"
	is["review"] = w.made(t, "keeper", pull+"reviews", `{"body":"`+mark+`","event":"COMMENT"}`, "id")
	is["line"] = w.made(t, "keeper", pull+"comments", fmt.Sprintf(
		`{"body":%q,"commit_id":%q,"path":"%s-new.txt","position":1}`,
		mark, w.tip(t, h, mark+"-topic"), mark), "id")
	is["line reaction"] = w.made(t, "keeper", do+"pulls/comments/"+is["line"]+"/reactions",
		`{"content":"heart"}`, "id")
	is["pending"] = w.made(t, "reader", pull+"reviews", fmt.Sprintf(
		`{"body":%q,"comments":[{"path":"%s-new.txt","position":1,"body":%q}]}`, PendingMark, mark,
		PendingMark), "id")
	w.OK(t, "keeper", pull+"requested_reviewers", `{"reviewers":["reader"]}`)
}

// publish adds a release of the tag that there is, with an asset.
func (w *World) publish(t *testing.T, h *Home) {
	t.Helper()
	h.Is["release"] = w.made(t, "keeper", "POST "+h.path()+"/releases",
		fmt.Sprintf(`{"tag_name":"%s-v1","name":%q,"body":%q}`, h.Mark, h.Mark, h.Mark), "id")
	h.Is["asset"] = w.made(t, "keeper", "POST "+h.path()+"/releases/"+h.Is["release"]+"/assets?name="+h.Mark+
		".bin&label="+h.Mark,
		h.Mark+" bytes", "id")
}

// attach adds an attachment.
func (w *World) attach(t *testing.T, h *Home) {
	t.Helper()
	a := w.Check(t, apitest.Case{Do: "POST /" + h.Owner + "/" + h.Name + "/attachments",
		As: "keeper", Status: 201,
		Headers: map[string]string{"Content-Type": "multipart/form-data; boundary=b"},
		Send:    "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + h.Mark + ".txt\"\r\n\r\n" + h.Mark + "\r\n--b--\r\n"})
	var made struct{ Key string }
	a.JSON(t, &made)
	h.Is["attachment"] = made.Key
}

// release makes a draft.
func (w *World) release(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, "keeper", "POST "+h.path()+"/releases", `{"tag_name":"`+w.name()+`","draft":true}`, "id")
}

// asset makes an asset.
func (w *World) asset(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, "keeper", "POST "+h.path()+"/releases/"+h.Is["release"]+"/assets?name="+w.name(), "x",
		"id")
}

// tip is where a branch is.
func (w *World) tip(t *testing.T, h *Home, branch string) string {
	t.Helper()
	ref := w.OK(t, "keeper", "GET "+h.path()+"/git/ref/heads/"+branch, "")
	return ref["object"].(map[string]any)["sha"].(string)
}

// name makes a name that nothing has.
func (w *World) name() string {
	w.fresh++
	return fmt.Sprint("fresh", w.fresh)
}

// branch makes a branch with a commit of its own.
func (w *World) branch(t *testing.T, h *Home) string {
	t.Helper()
	name := w.name()
	w.OK(t, "keeper", "POST "+h.path()+"/git/refs",
		fmt.Sprintf(`{"ref":"refs/heads/%s","sha":%q}`, name, h.Is["commit"]))
	w.put(t, h, name, name)
	return name
}

// put adds a file to a branch and gives the SHA of its blob.
func (w *World) put(t *testing.T, h *Home, branch, file string) string {
	t.Helper()
	made := w.OK(t, "keeper", "PUT "+h.path()+"/contents/"+file,
		fmt.Sprintf(`{"message":"add","content":%q,"branch":%q}`,
			base64.StdEncoding.EncodeToString([]byte(h.Mark+file)), branch))
	return made["content"].(map[string]any)["sha"].(string)
}

// pull makes a pull request of writer's that can be merged.
func (w *World) pull(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, "writer", "POST "+h.path()+"/pulls", fmt.Sprintf(
		`{"title":"%s","head":%q,"base":"main"}`, h.Mark, w.branch(t, h)), "number")
}

// issue files an issue of keeper's, with a label.
func (w *World) issue(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, "keeper", "POST "+h.path()+"/issues",
		`{"title":"`+h.Mark+`","labels":["bug"],"assignees":["writer"]}`, "number")
}

// comment makes a comment of keeper's on an issue.
func (w *World) comment(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, "keeper", "POST "+h.path()+"/issues/"+h.Is["issue"]+"/comments",
		fmt.Sprintf(`{"body":%q}`, h.Mark), "id")
}

// remark makes a comment of keeper's on a commit.
func (w *World) remark(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, "keeper", "POST "+h.path()+"/commits/"+h.Is["commit"]+"/comments",
		fmt.Sprintf(`{"body":%q}`, h.Mark), "id")
}

// line makes a comment of keeper's on a line of a pull request.
func (w *World) line(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, "keeper", "POST "+h.path()+"/pulls/"+h.Is["pull"]+"/comments", fmt.Sprintf(
		`{"body":%q,"commit_id":%q,"path":"%s-new.txt","position":1}`, h.Mark, w.tip(t, h, h.Mark+"-topic"),
		h.Mark), "id")
}

// label makes a label.
func (w *World) label(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, "keeper", "POST "+h.path()+"/labels", fmt.Sprintf(`{"name":%q}`, w.name()), "name")
}

// milestone makes a milestone.
func (w *World) milestone(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, "keeper", "POST "+h.path()+"/milestones",
		fmt.Sprintf(`{"title":%q}`, w.name()), "number")
}

// publicKey is an SSH key that nobody has yet.
func (w *World) publicKey(t *testing.T, _ *Home) string {
	t.Helper()
	return testkit.PublicKey(t)
}

// ownKey is an SSH key of keeper's.
func (w *World) ownKey(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, "keeper", "POST /user/keys", fmt.Sprintf(`{"key":%q}`, w.publicKey(t, h)), "id")
}

// deployKey is a key of the repository.
func (w *World) deployKey(t *testing.T, h *Home) string {
	t.Helper()
	return w.made(t, "keeper", "POST "+h.path()+"/keys",
		fmt.Sprintf(`{"title":%q,"key":%q}`, h.Mark, w.publicKey(t, h)), "id")
}
