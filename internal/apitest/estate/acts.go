package estate

import (
	"fmt"
	"testing"

	"arbor/internal/account"
)

// act is how a route is asked for so that it does something: for the one who may, nothing but the
// right decides.
type act struct {
	body  string // {mark} and any key of Home.Is in braces are filled in
	Rule         // written here again, so that a right that somebody changes by mistake is noticed
	who   string // may; "": keeper
	kind  string // Content-Type, where it matters
	query string // of the address, filled in like body
	make  maker  // what it needs, by the names of placeholders; nil: nothing new
}

// maker makes something new, by the names of placeholders, of the path or of the body.
type maker func(w *World, t *testing.T, h *Home) map[string]string

// of makes something new for one name.
func of(name string, make func(w *World, t *testing.T, h *Home) string) maker {
	return func(w *World, t *testing.T, h *Home) map[string]string {
		return map[string]string{name: make(w, t, h)}
	}
}

var (
	anIssue  = of("number", (*World).issue)
	aPull    = of("number", (*World).pull)
	aBranch  = of("new", (*World).branch)
	aName    = of("new", func(w *World, _ *testing.T, _ *Home) string { return w.name() })
	aComment = of("id", (*World).comment)
	aLine    = of("id", (*World).line)
	aRemark  = of("id", (*World).remark)
	aLabel   = of("name", (*World).label)
	aThread  = of("thread_id", (*World).thread)
	aPlan    = of("number", (*World).milestone)
)

// aDraft makes a release that has no asset yet.
func aDraft(w *World, t *testing.T, h *Home) map[string]string {
	return map[string]string{"release_id": w.release(t, h)}
}

// aUser registers somebody, for what is done with whole accounts.
func aUser(w *World, t *testing.T, _ *Home) map[string]string {
	login := w.name()
	w.User(t, login)
	return map[string]string{"username": login}
}

// aRename registers somebody who is to have another login.
func aRename(w *World, t *testing.T, h *Home) map[string]string {
	made := aUser(w, t, h)
	made["new"] = w.name()
	return made
}

// anEmail is an address that keeper claims.
func anEmail(w *World, t *testing.T, _ *Home) map[string]string {
	address := w.name() + "@example.org"
	w.OK(t, "keeper", "POST /user/emails", `{"emails":["`+address+`"]}`)
	return map[string]string{"new": address}
}

// anOrg registers an organization, and finds another login for it.
func anOrg(w *World, t *testing.T, _ *Home) map[string]string {
	login := w.name()
	w.Org(t, login, "guest")
	return map[string]string{"org": login, "new": w.name()}
}

// reviewed makes a pull request with a review of keeper's.
func reviewed(event string) maker {
	return func(w *World, t *testing.T, h *Home) map[string]string {
		number := w.pull(t, h)
		id := w.made(t, "keeper", "POST "+h.path()+"/pulls/"+number+"/reviews",
			fmt.Sprintf(`{"body":%q%s}`, h.Mark, event), "id")
		return map[string]string{"number": number, "id": id}
	}
}

// spare makes another repository like h, for who deletes it.
func spare(w *World, t *testing.T, h *Home) map[string]string {
	name := w.name()
	w.grant(t, h, w.Repo(t, h.Owner+"/"+name, h.Private))
	return map[string]string{"repo": name}
}

// aFork makes a fork that is a commit behind its parent, which is guest's.
func aFork(w *World, t *testing.T, h *Home) map[string]string {
	name := w.name()
	parent := &Home{Owner: "guest", Name: name, Private: h.Private, Mark: h.Mark}
	r := w.Repo(t, "guest/"+name, h.Private)
	w.grant(t, h, r)
	w.Grant(t, r, h.holder(), account.Pull)
	w.put(t, parent, "main", w.name())
	into := ""
	if h.Owner == "guild" {
		into = `{"organization":"guild"}`
	}
	w.OK(t, h.holder(), "POST "+parent.path()+"/forks", into)
	for login, role := range map[string]string{"reader": "pull", "writer": "push", "keeper": "admin"} {
		w.OK(t, h.holder(), "PUT /repos/"+h.Owner+"/"+name+"/collaborators/"+login,
			`{"permission":"`+role+`"}`)
	}
	if h.Owner == "guild" && !h.Private {
		w.OK(t, h.holder(), "PUT /repos/guild/"+name+"/collaborators/neighbour", `{"permission":"admin"}`)
	}
	w.put(t, parent, "main", w.name())
	return map[string]string{"repo": name}
}

// aTemplate makes the repository a template, and finds a name for what is made of it.
func aTemplate(w *World, t *testing.T, h *Home) map[string]string {
	w.OK(t, "keeper", "PATCH "+h.path(), `{"is_template":true}`)
	return map[string]string{"new": w.name()}
}

// aTransfer makes a spare repository, and an organization for it.
func aTransfer(w *World, t *testing.T, h *Home) map[string]string {
	made := spare(w, t, h)
	made["new"] = w.name()
	w.Org(t, made["new"], h.holder())
	return made
}

// byInspector is who writes checks.
const byInspector = "{inspector bot}"

// Rules that several routes have.
var (
	push    = Rule{Role: account.Push}
	admin   = Rule{Role: account.Admin}
	own     = Rule{Own: true}
	checks  = Rule{Role: account.Push, Own: true}                                 // of an App
	owners  = Rule{Outsiders: []string{"stranger", "member", "keeper", "holder"}} // of an organization
	members = Rule{Outsiders: []string{"stranger", "keeper", "holder"}}
	chiefs  = Rule{Outsiders: []string{"stranger", "owner", "keeper"}} // of the site
)

// acts are routes that change something, by method and pattern, without /repos/{owner}/{repo}. Those of
// which pattern, description and right say enough need not be here.
var acts = map[string]act{
	"PATCH ":  {Rule: admin, body: `{"description":"about {mark}"}`},
	"DELETE ": {Rule: admin, make: spare},
	"POST /transfer": {Rule: Rule{Role: account.Admin, Owner: true},
		body: `{"new_owner":"{new}"}`, make: aTransfer},
	"POST /forks":                         {who: "writer"},
	"POST /generate":                      {body: `{"name":"{new}"}`, make: aTemplate},
	"PUT /collaborators/{username}":       {Rule: admin, body: `{"permission":"pull"}`},
	"DELETE /collaborators/{username}":    {Rule: admin},
	"PUT /topics":                         {Rule: admin, body: `{"names":["{mark}"]}`},
	"PUT /subscription":                   {body: `{"subscribed":true}`},
	"DELETE /subscription":                {},
	"PUT /user/starred/{owner}/{repo}":    {},
	"DELETE /user/starred/{owner}/{repo}": {},

	"POST /git/trees":                               {Rule: push, body: `{"tree":[{"path":"a","mode":"100644","content":"x"}]}`},
	"POST /git/blobs":                               {Rule: push, body: `{"content":"x"}`},
	"POST /git/commits":                             {Rule: push, body: `{"message":"m","tree":"{tree}"}`},
	"POST /git/tags":                                {Rule: push, body: `{"tag":"{new}","message":"m","object":"{commit}","type":"commit"}`, make: aName},
	"POST /git/refs":                                {Rule: push, body: `{"ref":"refs/heads/{new}","sha":"{commit}"}`, make: aName},
	"PATCH /git/refs/{ref...}":                      {Rule: push, body: `{"sha":"{commit}","force":true}`, make: aRef},
	"DELETE /git/refs/{ref...}":                     {Rule: push, make: aRef},
	"POST /check-runs":                              {Rule: checks, body: `{"name":"{mark}","head_sha":"{commit}"}`, who: byInspector},
	"PATCH /check-runs/{check_run_id}":              {Rule: checks, body: `{"name":"{mark}","conclusion":"neutral"}`, who: byInspector},
	"POST /check-runs/{check_run_id}/rerequest":     {Rule: checks, who: byInspector},
	"POST /check-suites":                            {Rule: checks, body: `{"head_sha":"{commit}"}`, who: byInspector},
	"POST /check-suites/{check_suite_id}/rerequest": {Rule: checks, who: byInspector},
	"PATCH /check-suites/preferences":               {Rule: admin, body: `{"auto_trigger_checks":[{"app_id":{inspector},"setting":true}]}`},
	"POST /statuses/{ref...}":                       {Rule: push, body: `{"state":"success"}`},
	"PUT /contents/{path...}":                       {Rule: push, body: `{"message":"m","content":"eA=="}`, make: of("path", func(w *World, _ *testing.T, _ *Home) string { return w.name() })},
	"DELETE /contents/{path...}":                    {Rule: push, body: `{"message":"m","sha":"{sha}"}`, make: aFile},
	"POST /merge-upstream":                          {Rule: push, body: `{"branch":"main"}`, make: aFork},
	"POST /merges":                                  {Rule: push, body: `{"base":"main","head":"{new}"}`, make: aBranch},
	"POST /releases":                                {Rule: push, body: `{"tag_name":"{new}","draft":true}`, make: aName},
	"POST /releases/{release_id}/assets":            {Rule: push, body: `"seeds"`, query: "?name=seeds.zip", make: aDraft},
	"POST /labels":                                  {Rule: push, body: `{"name":"{new}","color":"ffffff"}`, make: aName},
	"PATCH /labels/{name}":                          {Rule: push, body: `{"color":"000000"}`, make: aLabel},
	"POST /milestones":                              {Rule: push, body: `{"title":"{new}"}`, make: aName},
	"PATCH /milestones/{number}":                    {Rule: push, body: `{"description":"m"}`, make: aPlan},
	"POST /issues":                                  {body: `{"title":"t"}`},
	"PATCH /issues/{number}":                        {body: `{"title":"t"}`, make: anIssue, Rule: push},
	"POST /commits/{sha}/comments":                  {body: `{"body":"t"}`},
	"PATCH /comments/{id}":                          {body: `{"body":"t"}`, make: aRemark, Rule: push},
	"DELETE /comments/{id}":                         {make: aRemark, Rule: push},
	"PATCH /issues/comments/{id}":                   {body: `{"body":"t"}`, make: aComment, Rule: push},
	"DELETE /issues/comments/{id}":                  {make: aComment, Rule: push},
	"PUT /issues/comments/{id}/pin":                 {make: aComment, Rule: push},
	"DELETE /issues/comments/{id}/pin":              {make: aComment, Rule: push},
	"POST /issues/{number}/labels":                  {Rule: push, body: `{"labels":["bug"]}`, make: anIssue},
	"PUT /issues/{number}/labels":                   {Rule: push, body: `{"labels":["bug"]}`, make: anIssue},
	"DELETE /issues/{number}/labels/{name}": {Rule: push,
		make: func(w *World, t *testing.T, h *Home) map[string]string {
			return map[string]string{"number": w.issue(t, h), "name": "bug"}
		}},
	"POST /issues/{number}/assignees":                      {Rule: push, body: `{"assignees":["writer"]}`, make: anIssue},
	"DELETE /issues/{number}/assignees":                    {Rule: push, body: `{"assignees":["writer"]}`, make: anIssue},
	"PUT /issues/{number}/subscription":                    {body: `{"subscribed":true}`},
	"DELETE /issues/{number}/subscription":                 {},
	"POST /issues/{number}/comments":                       {body: `{"body":"t"}`},
	"POST /issues/{number}/reactions":                      {body: `{"content":"eyes"}`},
	"POST /issues/comments/{id}/reactions":                 {body: `{"content":"eyes"}`},
	"POST /pulls/comments/{id}/reactions":                  {body: `{"content":"eyes"}`},
	"POST /comments/{id}/reactions":                        {body: `{"content":"eyes"}`},
	"DELETE /comments/{id}/reactions/{reaction_id}":        {Rule: own},
	"DELETE /issues/{number}/reactions/{reaction_id}":      {Rule: own},
	"DELETE /issues/comments/{id}/reactions/{reaction_id}": {Rule: own},
	"DELETE /pulls/comments/{id}/reactions/{reaction_id}":  {Rule: own},
	"POST /pulls":                                {body: `{"title":"t","head":"{new}","base":"main"}`, make: aBranch},
	"PATCH /pulls/{number}":                      {body: `{"title":"t"}`, make: aPull, Rule: push},
	"PUT /pulls/{number}/merge":                  {Rule: push, make: aPull},
	"POST /pulls/{number}/requested_reviewers":   {body: `{"reviewers":["reader"]}`, make: aPull, Rule: push},
	"DELETE /pulls/{number}/requested_reviewers": {body: `{"reviewers":["reader"]}`, make: aPull, Rule: push},
	"PUT /pulls/{number}/update-branch":          {make: aPullBehind, Rule: push},
	"PATCH /pulls/comments/{id}":                 {body: `{"body":"t"}`, make: aLine, Rule: push},
	"DELETE /pulls/comments/{id}":                {make: aLine, Rule: push},
	"POST /pulls/{number}/comments":              {body: `{"body":"t","commit_id":"{head}","path":"{mark}-new.txt","position":1}`, make: aHead},
	"POST /pulls/{number}/comments/{id}/replies": {body: `{"body":"t"}`, make: aLine},
	"POST /pulls/{number}/reviews":               {body: `{"body":"t","event":"COMMENT"}`, make: aPull},
	"PUT /pulls/{number}/reviews/{id}":           {body: `{"body":"t"}`, make: reviewed(`,"event":"COMMENT"`), Rule: own},
	"DELETE /pulls/{number}/reviews/{id}":        {make: reviewed(``), Rule: own},
	"POST /pulls/{number}/reviews/{id}/events":   {body: `{"event":"COMMENT","body":"t"}`, make: reviewed(``), Rule: own},
	"PUT /pulls/{number}/reviews/{id}/dismissals": {Rule: push, body: `{"message":"t"}`,
		make: reviewed(`,"event":"APPROVE"`)},
	"POST /{owner}/{repo}/git-upload-pack": {body: "0000", kind: "application/x-git-upload-pack-request"},
	"POST /{owner}/{repo}/git-receive-pack": {Rule: push, body: "0000",
		kind: "application/x-git-receive-pack-request"},

	"POST /keys":            {Rule: admin, body: `{"title":"t","key":"{key}"}`, make: of("key", (*World).publicKey)},
	"DELETE /keys/{key_id}": {Rule: admin, make: of("key_id", (*World).deployKey)},

	"POST /hooks":                   {Rule: admin, body: `{"config":{"url":"` + nobody + `{new}"},"active":false}`, make: aName},
	"PATCH /hooks/{hook_id}":        {Rule: admin, body: `{"add_events":["issues"]}`},
	"DELETE /hooks/{hook_id}":       {Rule: admin, make: aHook},
	"PATCH /hooks/{hook_id}/config": {Rule: admin, body: `{"content_type":"json"}`},
	"POST /dispatches":              {Rule: push, body: `{"event_type":"build","client_payload":{"bed":"east"}}`},

	// Those of no repository.
	"GET /orgs/{org}/hooks":                                    {who: "owner"},
	"GET /orgs/{org}/hooks/{hook_id}":                          {who: "owner"},
	"GET /orgs/{org}/hooks/{hook_id}/config":                   {who: "owner"},
	"GET /orgs/{org}/hooks/{hook_id}/deliveries":               {who: "owner"},
	"GET /orgs/{org}/hooks/{hook_id}/deliveries/{delivery_id}": {who: "owner"},
	"POST /orgs/{org}/hooks": {body: `{"name":"web","config":{"url":"` + nobody + `{new}"},"active":false}`,
		who:  "owner",
		Rule: owners, make: aName},
	"PATCH /orgs/{org}/hooks/{hook_id}":                                  {body: `{"add_events":["issues"]}`, who: "owner", Rule: owners},
	"DELETE /orgs/{org}/hooks/{hook_id}":                                 {who: "owner", Rule: owners, make: aGuildHook},
	"PATCH /orgs/{org}/hooks/{hook_id}/config":                           {body: `{"content_type":"json"}`, who: "owner", Rule: owners},
	"POST /orgs/{org}/hooks/{hook_id}/pings":                             {who: "owner", Rule: owners},
	"POST /orgs/{org}/hooks/{hook_id}/deliveries/{delivery_id}/attempts": {who: "owner", Rule: owners},
	"PUT /notifications":                                                 {},
	"PATCH /notifications/threads/{thread_id}":                           {make: aThread, Rule: own},
	"DELETE /notifications/threads/{thread_id}":                          {make: aThread, Rule: own},
	"PUT /notifications/threads/{thread_id}/subscription":                {make: aThread, Rule: own, body: `{"ignored":true}`},
	"DELETE /notifications/threads/{thread_id}/subscription":             {make: aThread, Rule: own},
	"POST /user/keys": {body: `{"title":"t","key":"{key}"}`, who: "guest",
		make: of("key", (*World).publicKey)},
	"DELETE /user/keys/{key_id}":                                             {make: of("key_id", (*World).ownKey), Rule: own},
	"DELETE /admin/keys/{key_ids}":                                           {who: "chief", Rule: chiefs, make: of("key_ids", (*World).ownKey)},
	"PATCH /user":                                                            {body: `{"bio":"b"}`, who: "guest"},
	"PUT /user/following/{username}":                                         {who: "guest"},
	"DELETE /user/following/{username}":                                      {who: "guest"},
	"PATCH /orgs/{org}":                                                      {body: `{"description":"d"}`, who: "owner", Rule: owners},
	"DELETE /orgs/{org}":                                                     {who: "guest", Rule: Rule{Outsiders: []string{"member", "keeper"}}, make: anOrg},
	"PUT /orgs/{org}/members/{username}":                                     {who: "owner", Rule: owners, make: aGuest},
	"DELETE /orgs/{org}/members/{username}":                                  {who: "owner", Rule: owners, make: aGuest},
	"PUT /orgs/{org}/memberships/{username}":                                 {body: `{"role":"member"}`, who: "owner", Rule: owners, make: aGuest},
	"DELETE /orgs/{org}/memberships/{username}":                              {who: "owner", Rule: owners, make: aGuest},
	"PUT /orgs/{org}/public_members/{username}":                              {who: "member", Rule: members},
	"DELETE /orgs/{org}/public_members/{username}":                           {who: "member", Rule: members},
	"POST /user/emails":                                                      {body: `{"emails":["{new}@example.org"]}`, make: aName},
	"DELETE /user/emails":                                                    {body: `{"emails":["{new}"]}`, make: anEmail},
	"POST /user/repos":                                                       {body: `{"name":"shed","private":true}`, who: "guest"},
	"POST /orgs/{org}/repos":                                                 {body: `{"name":"shed","private":true}`, who: "owner", Rule: members},
	"POST /app-manifests/{code}/conversions":                                 {make: aManifest},
	"DELETE /app/installations/{installation_id}":                            {make: anInstallation},
	"PUT /app/installations/{installation_id}/suspended":                     {make: anInstallation},
	"DELETE /app/installations/{installation_id}/suspended":                  {make: aSuspension},
	"POST /app/installations/{installation_id}/access_tokens":                {},
	"PATCH /app/hook/config":                                                 {body: `{"secret":"peas"}`},
	"DELETE /installation/token":                                             {make: aBotToken},
	"PUT /user/installations/{installation_id}/repositories/{repository_id}": {who: "holder", make: aReach},
	"DELETE /user/installations/{installation_id}/repositories/{repository_id}": {who: "holder",
		make: aSelection},
	"GET /user/installations/{installation_id}/repositories": {who: "holder"},
	"GET /orgs/{org}/installations":                          {who: "owner"},
	"GET /search/users":                                      {query: "?q=holder"},
	"PUT /users/{username}/suspended":                        {who: "chief", Rule: chiefs, make: aUser},
	"DELETE /users/{username}/suspended":                     {who: "chief", Rule: chiefs, make: aUser},
	"PUT /users/{username}/site_admin":                       {who: "chief", Rule: chiefs, make: aUser},
	"DELETE /users/{username}/site_admin":                    {who: "chief", Rule: chiefs, make: aUser},
	"GET /admin/audit-log":                                   {who: "chief"},
	"GET /admin/keys":                                        {who: "chief"},
	"GET /orgs/{org}/audit-log":                              {who: "owner"},
	"POST /admin/users":                                      {body: `{"login":"{new}"}`, who: "chief", Rule: chiefs, make: aName},
	"PATCH /admin/users/{username}":                          {body: `{"login":"{new}"}`, who: "chief", Rule: chiefs, make: aRename},
	"PATCH /admin/organizations/{org}":                       {body: `{"login":"{new}"}`, who: "chief", Rule: chiefs, make: anOrg},
	"DELETE /admin/users/{username}":                         {who: "chief", Rule: chiefs, make: aUser},
	"POST /admin/organizations":                              {body: `{"login":"{new}","admin":"guest"}`, who: "chief", Rule: chiefs, make: aName},
	"POST /plants":                                           {body: `{"id":2,"name":"n"}`, who: "guest"},
	"DELETE /plants/{id}":                                    {}, // 400 for others, see decision 47
}

func aRef(w *World, t *testing.T, h *Home) map[string]string {
	return map[string]string{"ref": "heads/" + w.branch(t, h)}
}

func aFile(w *World, t *testing.T, h *Home) map[string]string {
	name := w.name()
	return map[string]string{"path": name, "sha": w.put(t, h, "main", name)}
}

func aHead(w *World, t *testing.T, h *Home) map[string]string {
	return map[string]string{"head": w.tip(t, h, h.Mark+"-topic")}
}

// aPullBehind makes a pull request whose base has moved on.
func aPullBehind(w *World, t *testing.T, h *Home) map[string]string {
	number := w.pull(t, h)
	w.put(t, h, "main", w.name())
	return map[string]string{"number": number}
}

func aGuest(*World, *testing.T, *Home) map[string]string {
	return map[string]string{"username": "guest"}
}
