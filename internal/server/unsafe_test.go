package server_test

import (
	"fmt"
	"testing"

	"arbor/internal/account"
)

// act is how an unsafe route is asked for so that it does something: for the
// one who may, nothing but his right decides.
type act struct {
	body string // {mark} and any key of home.is in braces are filled in
	// role is what everybody needs but who made the thing, that is keeper;
	// zero: pull. It is written here again, so that a right that somebody
	// changes in the table by mistake is noticed.
	role account.Role
	own  bool   // only keeper may, and for reactions site administrators
	as   string // who may; "": keeper
	kind string // Content-Type, where it matters
	make func(w *walker, t *testing.T, h *home) map[string]string
}

// of makes something new for a placeholder or the body.
func of(name string, make func(w *walker, t *testing.T, h *home) string) func(*walker, *testing.T, *home) map[string]string {
	return func(w *walker, t *testing.T, h *home) map[string]string {
		return map[string]string{name: make(w, t, h)}
	}
}

// posted makes something by a POST below the repository, and takes it by its key.
func posted(name, path, body, key string) func(*walker, *testing.T, *home) map[string]string {
	return of(name, func(w *walker, t *testing.T, h *home) string {
		return w.made(t, "keeper", "POST "+h.path()+fill(path, h.is), fill(body, map[string]string{"new": w.name(), "mark": h.mark}), key)
	})
}

var (
	anIssue  = of("number", (*walker).issue)
	aPull    = of("number", (*walker).pull)
	aBranch  = of("new", (*walker).branch)
	aName    = of("new", func(w *walker, _ *testing.T, _ *home) string { return w.name() })
	aComment = posted("id", "/issues/{issue}/comments", `{"body":"{mark}"}`, "id")
	aLabel   = posted("name", "/labels", `{"name":"{new}"}`, "name")
	aPlan    = posted("number", "/milestones", `{"title":"{new}"}`, "number")
)

// reviewed makes a pull request with a review of keeper's.
func reviewed(event string) func(*walker, *testing.T, *home) map[string]string {
	return func(w *walker, t *testing.T, h *home) map[string]string {
		number := w.pull(t, h)
		id := w.made(t, "keeper", "POST "+h.path()+"/pulls/"+number+"/reviews", fmt.Sprintf(`{"body":%q%s}`, h.mark, event), "id")
		return map[string]string{"number": number, "id": id}
	}
}

func aLine(w *walker, t *testing.T, h *home) map[string]string {
	return map[string]string{"id": w.made(t, "keeper", "POST "+h.path()+"/pulls/"+h.is["pull"]+"/comments", fmt.Sprintf(
		`{"body":%q,"commit_id":%q,"path":"%s-new.txt","position":1}`, h.mark, w.tip(t, h, h.mark+"-topic"), h.mark), "id")}
}

// spare makes another repository like h, for who deletes it.
func spare(w *walker, t *testing.T, h *home) map[string]string {
	name := w.name()
	w.grant(t, h, w.Repo(t, h.owner+"/"+name, h.private))
	return map[string]string{"repo": name}
}

// acts are the unsafe routes of a repository, by method and what stands behind
// /repos/{owner}/{repo}, and those of git.
var acts = map[string]act{
	"PATCH ":                           {role: account.Admin, body: `{"description":"about {mark}"}`},
	"DELETE ":                          {role: account.Admin, make: spare},
	"POST /forks":                      {as: "writer"},
	"PUT /collaborators/{username}":    {role: account.Admin, body: `{"permission":"pull"}`},
	"DELETE /collaborators/{username}": {role: account.Admin},
	"PUT /subscription":                {body: `{"subscribed":true}`},
	"DELETE /subscription":             {},
	"PUT /user/starred":                {},
	"DELETE /user/starred":             {},

	"POST /git/trees":                {role: account.Push, body: `{"tree":[{"path":"a","mode":"100644","content":"x"}]}`},
	"POST /git/blobs":                {role: account.Push, body: `{"content":"x"}`},
	"POST /git/commits":              {role: account.Push, body: `{"message":"m","tree":"{tree}"}`},
	"POST /git/tags":                 {role: account.Push, body: `{"tag":"{new}","message":"m","object":"{commit}","type":"commit"}`, make: aName},
	"POST /git/refs":                 {role: account.Push, body: `{"ref":"refs/heads/{new}","sha":"{commit}"}`, make: aName},
	"PATCH /git/refs/{ref...}":       {role: account.Push, body: `{"sha":"{commit}","force":true}`, make: aRef},
	"DELETE /git/refs/{ref...}":      {role: account.Push, make: aRef},
	"POST /statuses/{ref...}":        {role: account.Push, body: `{"state":"success"}`},
	"PUT /contents/{path...}":        {role: account.Push, body: `{"message":"m","content":"eA=="}`, make: of("path", func(w *walker, _ *testing.T, _ *home) string { return w.name() })},
	"DELETE /contents/{path...}":     {role: account.Push, body: `{"message":"m","sha":"{sha}"}`, make: aFile},
	"POST /merges":                   {role: account.Push, body: `{"base":"main","head":"{new}"}`, make: aBranch},
	"POST /labels":                   {role: account.Push, body: `{"name":"{new}","color":"ffffff"}`, make: aName},
	"PATCH /labels/{name}":           {role: account.Push, body: `{"color":"000000"}`, make: aLabel},
	"DELETE /labels/{name}":          {role: account.Push, make: aLabel},
	"POST /milestones":               {role: account.Push, body: `{"title":"{new}"}`, make: aName},
	"PATCH /milestones/{number}":     {role: account.Push, body: `{"description":"m"}`, make: aPlan},
	"DELETE /milestones/{number}":    {role: account.Push, make: aPlan},
	"POST /issues":                   {body: `{"title":"t"}`},
	"PATCH /issues/{number}":         {body: `{"title":"t"}`, make: anIssue, role: account.Push},
	"PATCH /issues/comments/{id}":    {body: `{"body":"t"}`, make: aComment, role: account.Push},
	"DELETE /issues/comments/{id}":   {make: aComment, role: account.Push},
	"PUT /issues/{number}/lock":      {role: account.Push, make: anIssue},
	"DELETE /issues/{number}/lock":   {role: account.Push, make: anIssue},
	"POST /issues/{number}/labels":   {role: account.Push, body: `{"labels":["bug"]}`, make: anIssue},
	"PUT /issues/{number}/labels":    {role: account.Push, body: `{"labels":["bug"]}`, make: anIssue},
	"DELETE /issues/{number}/labels": {role: account.Push, make: anIssue},
	"DELETE /issues/{number}/labels/{name}": {role: account.Push, make: func(w *walker, t *testing.T, h *home) map[string]string {
		return map[string]string{"number": w.issue(t, h), "name": "bug"}
	}},
	"POST /issues/{number}/assignees":                      {role: account.Push, body: `{"assignees":["writer"]}`, make: anIssue},
	"DELETE /issues/{number}/assignees":                    {role: account.Push, body: `{"assignees":["writer"]}`, make: anIssue},
	"PUT /issues/{number}/subscription":                    {body: `{"subscribed":true}`},
	"DELETE /issues/{number}/subscription":                 {},
	"POST /issues/{number}/comments":                       {body: `{"body":"t"}`},
	"POST /issues/{number}/reactions":                      {body: `{"content":"eyes"}`},
	"POST /issues/comments/{id}/reactions":                 {body: `{"content":"eyes"}`},
	"POST /pulls/comments/{id}/reactions":                  {body: `{"content":"eyes"}`},
	"DELETE /issues/{number}/reactions/{reaction_id}":      {own: true},
	"DELETE /issues/comments/{id}/reactions/{reaction_id}": {own: true},
	"DELETE /pulls/comments/{id}/reactions/{reaction_id}":  {own: true},
	"POST /pulls":                                 {body: `{"title":"t","head":"{new}","base":"main"}`, make: aBranch},
	"PATCH /pulls/{number}":                       {body: `{"title":"t"}`, make: aPull, role: account.Push},
	"PUT /pulls/{number}/merge":                   {role: account.Push, make: aPull},
	"POST /pulls/{number}/requested_reviewers":    {body: `{"reviewers":["reader"]}`, make: aPull, role: account.Push},
	"DELETE /pulls/{number}/requested_reviewers":  {body: `{"reviewers":["reader"]}`, make: aPull, role: account.Push},
	"PUT /pulls/{number}/update-branch":           {make: aPullBehind, role: account.Push},
	"PATCH /pulls/comments/{id}":                  {body: `{"body":"t"}`, make: aLine, role: account.Push},
	"DELETE /pulls/comments/{id}":                 {make: aLine, role: account.Push},
	"POST /pulls/{number}/comments":               {body: `{"body":"t","commit_id":"{head}","path":"{mark}-new.txt","position":1}`, make: aHead},
	"POST /pulls/{number}/comments/{id}/replies":  {body: `{"body":"t"}`, make: aLine},
	"POST /pulls/{number}/reviews":                {body: `{"body":"t","event":"COMMENT"}`, make: aPull},
	"PUT /pulls/{number}/reviews/{id}":            {body: `{"body":"t"}`, make: reviewed(`,"event":"COMMENT"`), own: true},
	"DELETE /pulls/{number}/reviews/{id}":         {make: reviewed(``), own: true},
	"POST /pulls/{number}/reviews/{id}/events":    {body: `{"event":"COMMENT","body":"t"}`, make: reviewed(``), own: true},
	"PUT /pulls/{number}/reviews/{id}/dismissals": {role: account.Push, body: `{"message":"t"}`, make: reviewed(`,"event":"APPROVE"`)},
	"POST /{owner}/{repo}/git-upload-pack":        {body: "0000", kind: "application/x-git-upload-pack-request"},
	"POST /{owner}/{repo}/git-receive-pack":       {role: account.Push, body: "0000", kind: "application/x-git-receive-pack-request"},
}

func aRef(w *walker, t *testing.T, h *home) map[string]string {
	return map[string]string{"ref": "heads/" + w.branch(t, h)}
}

func aFile(w *walker, t *testing.T, h *home) map[string]string {
	name := w.name()
	return map[string]string{"path": name, "sha": w.put(t, h, "main", name)}
}

func aHead(w *walker, t *testing.T, h *home) map[string]string {
	return map[string]string{"head": w.tip(t, h, h.mark+"-topic")}
}

// aPullBehind makes a pull request whose base has moved on.
func aPullBehind(w *walker, t *testing.T, h *home) map[string]string {
	number := w.pull(t, h)
	w.put(t, h, "main", w.name())
	return map[string]string{"number": number}
}

// globals are the unsafe routes of no repository. outsiders: signed in, and
// still without the right.
var globals = map[string]struct {
	path, body, as string
	outsiders      []string
}{
	"PATCH /user":                                  {"/user", `{"bio":"b"}`, "guest", nil},
	"PUT /user/following/{username}":               {"/user/following/keeper", ``, "guest", nil},
	"DELETE /user/following/{username}":            {"/user/following/keeper", ``, "guest", nil},
	"PATCH /orgs/{org}":                            {"/orgs/guild", `{"description":"d"}`, "owner", []string{"stranger", "member", "keeper", "holder"}},
	"PUT /orgs/{org}/members/{username}":           {"/orgs/guild/members/guest", ``, "owner", []string{"stranger", "member", "keeper", "holder"}},
	"DELETE /orgs/{org}/members/{username}":        {"/orgs/guild/members/guest", ``, "owner", []string{"stranger", "member", "keeper", "holder"}},
	"PUT /orgs/{org}/memberships/{username}":       {"/orgs/guild/memberships/guest", `{"role":"member"}`, "owner", []string{"stranger", "member", "keeper", "holder"}},
	"DELETE /orgs/{org}/memberships/{username}":    {"/orgs/guild/memberships/guest", ``, "owner", []string{"stranger", "member", "keeper", "holder"}},
	"PUT /orgs/{org}/public_members/{username}":    {"/orgs/guild/public_members/member", ``, "member", []string{"stranger", "keeper", "holder"}},
	"DELETE /orgs/{org}/public_members/{username}": {"/orgs/guild/public_members/member", ``, "member", []string{"stranger", "keeper", "holder"}},
	"POST /user/repos":                             {"/user/repos", `{"name":"shed","private":true}`, "guest", nil},
	"POST /orgs/{org}/repos":                       {"/orgs/guild/repos", `{"name":"shed","private":true}`, "owner", []string{"stranger", "keeper", "holder"}},
	"POST /plants":                                 {"/plants", `{"id":2,"name":"n"}`, "guest", nil},
	"DELETE /plants/{id}":                          {"/plants/1", ``, "keeper", nil}, // 400 for others, see decision 47
}
