//go:build gitea

package repos_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/gitea"
	"arbor/internal/migration/remote"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// fillGitea makes an organization with a repository in which there is one of each thing.
func fillGitea(t *testing.T, g *giteaServer) {
	t.Helper()
	alice := func(do, send string) map[string]any { t.Helper(); return g.do(t, "alice", do, send) }
	bob := func(do, send string) map[string]any { t.Helper(); return g.do(t, "bob", do, send) }
	const at = "/repos/acme/tool"
	alice("POST /orgs", `{"username":"acme","full_name":"Acme Works","description":"Tools"}`)
	alice("POST /orgs/acme/repos", `{"name":"tool","description":"A tool","private":true,"auto_init":true,
		"default_branch":"trunk"}`)
	for name, level := range map[string]string{"builders": "write", "readers": "read"} {
		team := alice("POST /orgs/acme/teams", fmt.Sprintf(`{"name":%q,"permission":%q,
			"units":["repo.code","repo.issues","repo.pulls","repo.releases"]}`, name, level))
		member := map[string]string{"builders": "bob", "readers": "carol"}[name]
		alice(fmt.Sprintf("PUT /teams/%v/members/%s", team["id"], member), "")
		alice(fmt.Sprintf("PUT /teams/%v/repos/acme/tool", team["id"]), "")
	}
	alice("PATCH "+at, `{"website":"https://tool.example","has_pull_requests":true,"allow_rebase":false}`)
	alice("PUT "+at+"/topics", `{"topics":["tools","garden"]}`)
	alice("POST /orgs/acme/labels", `{"name":"shared","color":"#00ff00","description":"Of all"}`)
	bug := alice("POST "+at+"/labels", `{"name":"bug","color":"#ff0000"}`)["id"]
	first := alice("POST "+at+"/milestones", `{"title":"v0","description":"The first"}`)["id"]
	alice(fmt.Sprintf("PATCH %s/milestones/%v", at, first), `{"state":"closed"}`)
	second := alice("POST "+at+"/milestones", `{"title":"v1","due_on":"2030-01-02T00:00:00Z"}`)["id"]

	// 1: an issue with all that happens to one
	bob("POST "+at+"/issues", fmt.Sprintf(`{"title":"It breks","body":"Ask @alice, see %s/acme/tool/issues/2"}`, g.URL))
	comment := alice("POST "+at+"/issues/1/comments", `{"body":"I saw it, too"}`)
	bob("POST "+at+"/issues/1/comments", `{"body":"Ping @carol and @nobody"}`)
	alice(fmt.Sprintf("PATCH %s/issues/comments/%v", at, comment["id"]), `{"body":"I saw it, too (edited)"}`)
	bob("POST "+at+"/issues/1/reactions", `{"content":"heart"}`)
	alice("POST "+at+"/issues/1/reactions", `{"content":"+1"}`)
	bob(fmt.Sprintf("POST %s/issues/comments/%v/reactions", at, comment["id"]), `{"content":"rocket"}`)
	alice("POST "+at+"/issues/1/labels", fmt.Sprintf(`{"labels":[%v]}`, bug))
	alice("POST "+at+"/issues/1/labels", `{"labels":["shared"]}`)
	alice("PATCH "+at+"/issues/1", fmt.Sprintf(`{"title":"It breaks","milestone":%v,"assignees":["alice","bob"]}`, second))
	alice("PATCH "+at+"/issues/1", `{"state":"closed"}`)
	alice("PUT "+at+"/issues/1/lock", `{"lock_reason":"Resolved"}`)

	// 2: one that is open and pinned, with a file that its text does not name and one that it names
	bob("POST "+at+"/issues", `{"title":"Another","body":"Like #1"}`)
	shown := g.upload(t, "bob", at+"/issues/2/assets", "shown.png", "a picture")
	g.upload(t, "bob", at+"/issues/2/assets", "log.txt", "a log")
	bob("PATCH "+at+"/issues/2", fmt.Sprintf(`{"body":"Like #1\n\n![shown](/attachments/%s)"}`, shown["uuid"]))
	alice("POST "+at+"/issues/2/pin", "")

	// 3: merged; its branch moved on. 4: open, with a review on lines. 5: closed, its branch is gone. 6: from a fork.
	lines := func(change int) string {
		out := []string{}
		for n := 1; n <= 12; n++ {
			out = append(out, fmt.Sprint("line ", n))
		}
		if change > 0 {
			out[change-1] = "changed"
		}
		return strings.Join(out, "\n") + "\n"
	}
	g.file(t, "alice", "acme/tool", "lines.txt", lines(0), "trunk", "trunk")
	g.file(t, "bob", "acme/tool", "merged.txt", "one\n", "trunk", "merged")
	bob("POST "+at+"/pulls", `{"title":"Merged","head":"merged","base":"trunk","body":"Fixes #1"}`)
	alice("POST "+at+"/pulls/3/reviews", `{"event":"APPROVED","body":"Good"}`)
	testkit.Eventually(t, func() bool {
		return alice("GET "+at+"/pulls/3", "")["mergeable"] == true
	}, "Gitea does not say that the pull request can be merged")
	alice("POST "+at+"/pulls/3/merge", `{"Do":"merge"}`)
	g.file(t, "bob", "acme/tool", "later.txt", "later\n", "merged", "merged")

	g.file(t, "bob", "acme/tool", "lines.txt", lines(5), "trunk", "feature")
	bob("POST "+at+"/pulls", `{"title":"WIP: Feature","head":"feature","base":"trunk","body":"See #2"}`)
	review := alice("POST "+at+"/pulls/4/reviews", `{"event":"REQUEST_CHANGES","body":"Not yet","comments":[
		{"path":"lines.txt","body":"On the right","new_position":5},
		{"path":"lines.txt","body":"On the left","old_position":5},
		{"path":"lines.txt","body":"Outside","new_position":12}]}`)
	alice("POST "+at+"/pulls/4/requested_reviewers", `{"reviewers":["carol"]}`)
	bob("POST "+at+"/pulls/4/reviews", `{"event":"COMMENT","body":"Mine"}`)
	var onLines []struct {
		ID   int64
		Body string
	}
	g.list(t, "alice", fmt.Sprintf("%s/pulls/4/reviews/%v/comments", at, review["id"]), &onLines)
	for _, c := range onLines {
		if c.Body == "On the left" {
			alice(fmt.Sprintf("POST %s/pulls/comments/%d/resolve", at, c.ID), "")
		}
		if c.Body == "On the right" {
			bob(fmt.Sprintf("POST %s/issues/comments/%d/reactions", at, c.ID), `{"content":"eyes"}`)
		}
	}

	g.file(t, "bob", "acme/tool", "gone.txt", "gone\n", "trunk", "gone")
	bob("POST "+at+"/pulls", `{"title":"Gone","head":"gone","base":"trunk"}`)
	bob("PATCH "+at+"/pulls/5", `{"state":"closed"}`)
	bob("DELETE "+at+"/branches/gone", "")

	bob("POST "+at+"/forks", `{}`)
	g.file(t, "bob", "bob/tool", "fork.txt", "fork\n", "trunk", "from-fork")
	bob("POST "+at+"/pulls", `{"title":"Of a fork","head":"bob:from-fork","base":"trunk"}`)

	// releases, a large file, rules, a webhook
	content := "a large file"
	sum := sha256.Sum256([]byte(content))
	oid := hex.EncodeToString(sum[:])
	g.lfs(t, "alice", "acme/tool", oid, content)
	g.file(t, "alice", "acme/tool", "large.bin", fmt.Sprintf(
		"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", oid, len(content)), "trunk", "trunk")
	release := alice("POST "+at+"/releases", `{"tag_name":"v1.0","target_commitish":"trunk","name":"One","body":"By @bob"}`)
	g.upload(t, "alice", fmt.Sprintf("%s/releases/%v/assets", at, release["id"]), "tool.tar.gz", "an archive")
	alice("POST "+at+"/releases", `{"tag_name":"v2.0","name":"Two","draft":true}`)
	alice("POST "+at+"/branch_protections", `{"rule_name":"trunk","enable_push":true,"enable_push_whitelist":true,
		"push_whitelist_usernames":["bob"],"required_approvals":2,"enable_status_check":true,
		"status_check_contexts":["build"],"dismiss_stale_approvals":true}`)
	alice("POST "+at+"/hooks", `{"type":"gitea","active":true,"events":["push"],
		"config":{"url":"https://hooks.example/","content_type":"json","secret":"hidden"}}`)
}

// list decodes a list of the API.
func (s *giteaServer) list(t *testing.T, as, path string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/api/v1"+path, nil)
	testkit.NoError(t, err)
	r.Header.Set("Authorization", "token "+s.tokens[as])
	a, err := http.DefaultClient.Do(r)
	testkit.NoError(t, err)
	defer a.Body.Close()
	testkit.NoError(t, json.NewDecoder(a.Body).Decode(into))
}

// What a real Gitea holds comes with its numbers, times, authors and texts; once, however often it is imported.
func TestImportOfGitea(t *testing.T) {
	t.Parallel()
	g := startGitea(t, "alice", "bob", "carol")
	fillGitea(t, g)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bea", "carol")
		s.Org(t, "works", "alice")
		dir := t.TempDir()
		o := remote.Options{Token: g.tokens["alice"], Git: s.Git, Dir: dir, Progress: func(string, int64, int64) {}}
		if !gitea.Is(t.Context(), g.URL+"/acme/tool", o) || gitea.Is(t.Context(), s.URL+"/works/tool", o) {
			t.Error("Gitea is not known from Arbor")
		}
		people := map[string]string{"alice": "alice", "bob": "bea"}
		into := migration.ImportOptions{To: "works/tool", People: people, Progress: func(string, int64, int64) {}}
		before := inboxes(t, s)
		for stop := 3; stop < 30; stop += 9 { // killed here and there
			from, err := gitea.Open(t.Context(), g.URL+"/acme/tool.git", o)
			testkit.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			steps, stopped := 0, into
			stopped.Progress = func(string, int64, int64) {
				if steps++; steps == stop {
					cancel()
				}
			}
			_, _ = migrations(s).Import(ctx, from, stopped)
			cancel()
			testkit.NoError(t, from.Close())
		}
		from, err := gitea.Open(t.Context(), g.URL+"/acme/tool", o)
		testkit.NoError(t, err)
		report, err := migrations(s).Import(t.Context(), from, into)
		testkit.NoError(t, err)
		testkit.NoError(t, from.Close())
		for k, c := range report.Counts {
			if c.Failed > 0 && k != migration.Hooks {
				t.Errorf("%d %s did not come", c.Failed, k)
			}
		}
		t.Logf("the report: %q", report.Problems)
		sound(t, s)
		if after := inboxes(t, s); after != before {
			t.Errorf("the import told somebody: %d rows, before %d", after, before)
		}
		compareGitea(t, g, s)
		testkit.Eventually(t, func() bool { // Gitea changes pull requests by itself, when it has compared them
			again, err := gitea.Open(t.Context(), g.URL+"/acme/tool", o)
			testkit.NoError(t, err)
			report, err = migrations(s).Import(t.Context(), again, into)
			testkit.NoError(t, err)
			testkit.NoError(t, again.Close())
			for k, c := range report.Counts {
				if c.New > 0 {
					t.Errorf("another import brought %d new %s", c.New, k)
				}
				if c.Changed > 0 && k != migration.Assets { // reading them counts as a download
					return false
				}
			}
			return true
		}, "another import brings nothing")
		compareGitea(t, g, s)
		organizationOfGitea(t, g, s, o)
		left, err := os.ReadDir(dir)
		if testkit.NoError(t, err); len(left) > 0 {
			t.Errorf("%v stays in the folder", left)
		}
	})
}

// organizationOfGitea imports the organization into another one here.
func organizationOfGitea(t *testing.T, g *giteaServer, s *apitest.Server, o remote.Options) {
	t.Helper()
	from, err := gitea.ReadOrganization(t.Context(), g.URL+"/acme", o)
	testkit.NoError(t, err)
	slices.SortFunc(from.Teams, func(a, b migration.Team) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(from.Members)
	want := &migration.Organization{Login: "acme", Name: "Acme Works", Description: "Tools", Permission: "none", Owners: []string{"alice"},
		Members: []string{"bob", "carol"}, Repositories: []string{"tool"}, Teams: []migration.Team{
			{Slug: "builders", Name: "builders", Members: []string{"bob"}, Roles: map[string]string{"tool": "push"}},
			{Slug: "readers", Name: "readers", Members: []string{"carol"}, Roles: map[string]string{"tool": "pull"}}}}
	if fmt.Sprintf("%+v", from) != fmt.Sprintf("%+v", want) {
		t.Errorf("the organization is\n%+v\nwant\n%+v", from, want)
	}
	im := migrations(s).NewOrganizationImport(from, "works", map[string]string{"alice": "alice", "bob": "bea"})
	testkit.NoError(t, im.Found(t.Context()))
	if im.Teams(t.Context()); len(im.Left) > 0 {
		t.Errorf("left: %q", im.Left)
	}
	s.Check(t, apitest.Case{Do: "GET /orgs/works/teams/builders/repos/works/tool", As: "alice", Status: 200, Headers: map[string]string{
		"Accept": "application/vnd.github.v3.repository+json"}, Want: `{"permissions":{"push":true,"admin":false}}`})
}

// compareGitea compares what Arbor's API answers with what Gitea's does.
func compareGitea(t *testing.T, g *giteaServer, s *apitest.Server) {
	t.Helper()
	const here = "/repos/works/tool"
	login := func(there string) string {
		return map[string]string{"alice": "alice", "bob": "bea"}[there]
	}
	type text struct {
		Number    int64
		ID        int64
		Title     string
		Body      string
		State     string
		CreatedAt string `json:"created_at"`
		UpdatedAt string `json:"updated_at"`
		ClosedAt  string `json:"closed_at"`
		User      struct{ Login string }
	}
	utc := func(at string) string {
		if at == "" {
			return ""
		}
		when, err := time.Parse(time.RFC3339, at)
		testkit.NoError(t, err)
		return when.UTC().Format(time.RFC3339)
	}
	line := func(x text, who string) string {
		return fmt.Sprintf("%d %q %s by %s, %s %s %s", x.Number, x.Title, x.State, who, utc(x.CreatedAt), utc(x.UpdatedAt),
			utc(x.ClosedAt))
	}
	lines := func(list []text, who func(string) string, of func(text, string) string) []string {
		var out []string
		for _, x := range list {
			out = append(out, of(x, who(x.User.Login)))
		}
		slices.Sort(out)
		return out
	}
	same := func(l string) string { return l }
	var there, came []text
	g.list(t, "alice", "/repos/acme/tool/issues?state=all", &there)
	s.Ask(t, "alice", "GET "+here+"/issues?state=all", "", 200).JSON(t, &came)
	compareLines(t, migration.Issues, lines(there, login, line), lines(came, same, line))
	there, came = nil, nil
	g.list(t, "alice", "/repos/acme/tool/issues/comments", &there)
	s.Ask(t, "alice", "GET "+here+"/issues/comments", "", 200).JSON(t, &came)
	onTime := func(x text, who string) string { return who + " " + utc(x.CreatedAt) + " " + utc(x.UpdatedAt) }
	compareLines(t, migration.Comments, lines(there, login, onTime), lines(came, same, onTime))
	merged := g.do(t, "alice", "GET /repos/acme/tool/pulls/3", "")
	s.Run(t, []apitest.Case{
		{Do: "GET " + here, As: "alice", Status: 200, Want: `{"private":true,"description":"A tool","default_branch":"trunk",
			"homepage":"https://tool.example","topics":["garden","tools"],"allow_rebase_merge":false,
			"allow_merge_commit":true}`},
		{Do: "GET " + here, Status: 404},
		{Do: "GET " + here + "/issues/1", As: "alice", Headers: reactionsPreview, Status: 200, Want: `{"body":"Ask @alice, see #2","locked":true,
			"active_lock_reason":"resolved","closed_by":{"login":"alice"},"milestone":{"title":"v1"},
			"labels":[{"name":"bug"},{"name":"shared","color":"00ff00"}],"assignees":[{"login":"alice"},{"login":"bea"}],
			"reactions":{"heart":1,"+1":1,"total_count":2}}`},
		{Do: "GET " + here + "/issues/1/comments", As: "alice", Headers: reactionsPreview, Status: 200, Want: `[{"body":"I saw it, too (edited)",
			"user":{"login":"alice"},"reactions":{"rocket":1}},
			{"body":"Ping carol at ` + strings.Replace(strings.TrimPrefix(g.URL, "http://"), ":", "-", 1) + ` and @nobody",
			"user":{"login":"bea"}}]`},
		{Do: "GET " + here + "/pulls/3", As: "alice", Status: 200, Want: fmt.Sprintf(`{"merged":true,"commits":1,
			"additions":1,"changed_files":1,"merged_by":{"login":"alice"},"merge_commit_sha":%q,"merged_at":%q,
			"head":{"ref":"merged"},"base":{"ref":"trunk"}}`, merged["merge_commit_sha"],
			utc(merged["merged_at"].(string)))},
		{Do: "GET " + here + "/pulls/3/files", As: "alice", Status: 200, Want: `[{"filename":"merged.txt"}]`},
		{Do: "GET " + here + "/pulls/3/reviews", As: "alice", Status: 200, Want: `[{"state":"APPROVED","body":"Good",
			"user":{"login":"alice"}}]`},
		{Do: "GET " + here + "/pulls/4", As: "alice", Status: 200, Want: `{"draft":true,"state":"open","merged":false,
			"head":{"ref":"feature"},"review_comments":3,"user":{"login":"bea"}}`},
		{Do: "GET " + here + "/pulls/4/reviews", As: "alice", Status: 200, Want: `[{"state":"CHANGES_REQUESTED",
			"body":"Not yet"},{"state":"COMMENTED","body":"Mine","user":{"login":"bea"}}]`},
		{Do: "GET " + here + "/pulls/5", As: "alice", Status: 200, Want: `{"state":"closed","merged":false,"commits":1,
			"head":{"ref":"gone"}}`},
		{Do: "GET " + here + "/pulls/6", As: "alice", Status: 200, Want: `{"state":"open","head":{"ref":"bob/from-fork"}}`},
		{Do: "GET " + here + "/milestones/1", As: "alice", Status: 200, Want: `{"title":"v0","state":"closed",
			"description":"The first"}`},
		{Do: "GET " + here + "/milestones/2", As: "alice", Status: 200, Want: `{"title":"v1","state":"open",
			"due_on":"2030-01-02T00:00:00Z"}`},
		{Do: "GET " + here + "/releases/tags/v1.0", As: "alice", Status: 200, Want: `{"name":"One","body":"By @bea",
			"author":{"login":"alice"},"assets":[{"name":"tool.tar.gz","size":10}]}`},
		{Do: "GET " + here + "/branches/trunk/protection", As: "alice", Status: 200, Want: `{
			"required_status_checks":{"contexts":["build"]},"required_pull_request_reviews":{
			"required_approving_review_count":2,"dismiss_stale_reviews":true,
			"bypass_pull_request_allowances":{"users":[{"login":"bea"}]}},"allow_force_pushes":{"enabled":false}}`},
	})
	placesOfGitea(t, s)
	var second struct{ Body string }
	s.Ask(t, "alice", "GET "+here+"/issues/2", "", 200).JSON(t, &second)
	for _, part := range []string{"![shown](/works/tool/attachments/", "\n\n[log.txt](/works/tool/attachments/"} {
		if !strings.Contains(second.Body, part) {
			t.Errorf("the text of the second issue is %q, without %q", second.Body, part)
		}
	}
	at := second.Body[strings.LastIndex(second.Body, "(")+1:]
	if a := s.Visit(t, "alice", "GET "+strings.TrimSuffix(at, ")")); string(a.Body) != "a log" {
		t.Errorf("the attachment is %d %q", a.Status, a.Body)
	}
}

// placesOfGitea checks where comments on lines are, and the events of the first issue.
func placesOfGitea(t *testing.T, s *apitest.Server) {
	t.Helper()
	var comments []struct {
		Body             string
		Side             string
		Line             *int64
		Position         *int64
		OriginalPosition *int64 `json:"original_position"`
		DiffHunk         string `json:"diff_hunk"`
	}
	s.Ask(t, "alice", "GET /repos/works/tool/pulls/4/comments", "", 200).JSON(t, &comments)
	found := map[string]string{}
	for _, c := range comments {
		place := c.Side
		for _, n := range []*int64{c.Line, c.Position, c.OriginalPosition} {
			if n == nil {
				place += " -"
			} else {
				place += fmt.Sprint(" ", *n)
			}
		}
		found[c.Body] = place + " " + c.DiffHunk[strings.LastIndexByte(c.DiffHunk, '\n')+1:]
	}
	for body, want := range map[string]string{"On the right": "RIGHT 5 5 5 +changed", "On the left": "LEFT 5 4 4 -line 5"} {
		if found[body] != want {
			t.Errorf("%q is at %q, want %q", body, found[body], want)
		}
	}
	if !strings.HasPrefix(found["Outside"], "RIGHT - - ") {
		t.Errorf("what is on no line of the changes is at %q", found["Outside"])
	}
	var events []struct{ Event string }
	s.Ask(t, "alice", "GET /repos/works/tool/issues/1/timeline", "", 200).JSON(t, &events)
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, e.Event)
	}
	for _, want := range []string{"commented", "labeled", "renamed", "milestoned", "assigned", "closed", "locked",
		"cross-referenced"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("the timeline has no %s: %q", want, kinds)
		}
	}
	var threads struct {
		Data struct {
			Repository struct {
				PullRequest struct {
					ReviewThreads struct{ Nodes []struct{ IsResolved bool } }
				}
			}
		}
	}
	s.Ask(t, "alice", "POST /graphql", `{"query":"{ repository(owner: \"works\", name: \"tool\") { pullRequest(number: 4) { reviewThreads(first: 9) { nodes { isResolved } } } } }"}`, 200).JSON(t, &threads)
	resolved := 0
	for _, n := range threads.Data.Repository.PullRequest.ReviewThreads.Nodes {
		if n.IsResolved {
			resolved++
		}
	}
	if resolved != 1 {
		t.Errorf("%d conversations are resolved", resolved)
	}
}
