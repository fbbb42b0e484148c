package graphql_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/app"
	"arbor/internal/test/apitest"
)

// twin is one thing by REST and by GraphQL.
type twin struct {
	kind, path string
	member     string // of REST's answer, where the thing stands within: "statuses.0"
	source     string // where GraphQL finds it, with {} in place of the fields; empty: by its node id

	// same are fields by the member with the same value, where inner ones stand behind dots. ^ before a
	// member is that REST writes it as a word, # that it is a list, which GraphQL
	// counts. An empty member is not compared.
	same map[string]string
}

var person = map[string]string{"id": "node_id", "login": "login", "avatarUrl": "avatar_url",
	"url": "html_url"}

// behind puts names before fields and members.
func behind(field, member string, fields map[string]string) map[string]string {
	out := map[string]string{}
	for f, m := range fields {
		out[field+"."+f] = member + "." + m
	}
	return out
}

func joined(tables ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, t := range tables {
		for f, m := range t {
			out[f] = m
		}
	}
	return out
}

var written = joined(map[string]string{"id": "node_id", "databaseId": "id", "body": "body",
	"bodyHTML": "body_html", "bodyText": "body_text",
	"createdAt": "created_at", "updatedAt": "updated_at", "url": "html_url",
	"authorAssociation":             "author_association",
	"reactions(first:5).totalCount": "reactions.total_count"}, behind("author", "user", person))

var issueFields = joined(written, behind("milestone", "milestone", map[string]string{"id": "node_id",
	"title": "title", "number": "number"}),
	map[string]string{"number": "number", "title": "title", "locked": "locked",
		"activeLockReason": "^active_lock_reason",
		"closedAt":         "closed_at", "comments.totalCount": "comments", "labels(first:9).totalCount": "#labels",
		"assignees(first:9).totalCount": "#assignees"})

func twins() []twin {
	const at = "/repos/alice/bed"
	return []twin{
		{kind: "User", path: "/users/bob",
			same: joined(person, map[string]string{"databaseId": "id", "name": "name",
				"createdAt": "created_at",
				"updatedAt": "updated_at", "bio": "bio", "company": "company", "location": "location",
				"isSiteAdmin": "site_admin"})},
		{kind: "Organization", path: "/orgs/guild",
			same: map[string]string{"id": "node_id", "databaseId": "id",
				"login":     "login",
				"avatarUrl": "avatar_url", "url": "html_url", "name": "name", "description": "description",
				"createdAt": "created_at",
				"updatedAt": "updated_at", "location": "location"}},
		{kind: "Repository", path: at, same: joined(behind("owner", "owner", person),
			map[string]string{"id": "node_id", "databaseId": "id",
				"name": "name", "nameWithOwner": "full_name", "description": "description", "url": "html_url",
				"sshUrl":      "ssh_url",
				"homepageUrl": "homepage", "createdAt": "created_at", "updatedAt": "updated_at",
				"pushedAt":  "pushed_at",
				"diskUsage": "size",
				"isPrivate": "private", "isFork": "fork", "isArchived": "archived",
				"isTemplate":     "is_template",
				"forkCount":      "forks_count",
				"stargazerCount": "stargazers_count", "watchers.totalCount": "subscribers_count",
				"hasIssuesEnabled": "has_issues",
				"hasWikiEnabled":   "has_wiki", "visibility": "^visibility", "defaultBranchRef.name": "default_branch",
				"mergeCommitAllowed":  "allow_merge_commit",
				"deleteBranchOnMerge": "delete_branch_on_merge"})},
		{kind: "Issue", path: at + "/issues/1", same: joined(issueFields, map[string]string{"state": "^state",
			"stateReason": "^state_reason"})},
		{kind: "PullRequest", path: at + "/pulls/5",
			same: joined(issueFields, map[string]string{"isDraft": "draft",
				"merged":   "merged",
				"mergedAt": "merged_at", "additions": "additions", "deletions": "deletions",
				"changedFiles":     "changed_files",
				"files.totalCount": "changed_files", "commits.totalCount": "commits",
				"headRefName": "head.ref",
				"headRefOid":  "head.sha",
				"baseRefName": "base.ref", "baseRefOid": "base.sha",
				"headRepository.nameWithOwner": "head.repo.full_name",
				"maintainerCanModify":          "maintainer_can_modify", "reviewRequests(first:5).totalCount": "#requested_reviewers",
				"potentialMergeCommit.oid": "merge_commit_sha", "reactions(first:5).totalCount": "",
				"state": "^state"})},
		{kind: "IssueComment", path: at + "/issues/comments/1", same: written},
		{kind: "PullRequestReview", path: at + "/pulls/5/reviews/1",
			same: joined(behind("author", "user", person),
				map[string]string{"id": "node_id",
					"databaseId": "id", "body": "body", "bodyHTML": "body_html", "state": "^state",
					"submittedAt": "submitted_at", "url": "html_url",
					"commit.oid": "commit_id", "authorAssociation": "author_association"})},
		{kind: "PullRequestReviewComment", path: at + "/pulls/comments/1", same: joined(written,
			map[string]string{"path": "path",
				"diffHunk": "diff_hunk", "position": "position", "line": "line",
				"originalLine":                 "original_line",
				"commit.oid":                   "commit_id",
				"originalCommit.oid":           "original_commit_id",
				"pullRequestReview.databaseId": "pull_request_review_id",
				"subjectType":                  "^subject_type"})},
		{kind: "Commit", path: at + "/commits/fix", same: map[string]string{"id": "node_id", "oid": "sha",
			"message": "commit.message",
			"url":     "html_url", "author.name": "commit.author.name", "author.email": "commit.author.email",
			"authoredDate":   "commit.author.date",
			"committer.name": "commit.committer.name", "committedDate": "commit.committer.date",
			"author.user.login": "author.login",
			"tree.oid":          "commit.tree.sha", "parents(first:5).totalCount": "#parents"}},
		{kind: "Ref", path: at + "/git/ref/heads/fix", same: map[string]string{"id": "node_id",
			"target.oid": "object.sha"}},
		{kind: "Label", path: at + "/labels/bug",
			same: map[string]string{"id": "node_id", "name": "name", "color": "color",
				"description": "description", "isDefault": "default"}},
		{kind: "Milestone", path: at + "/milestones/1", same: joined(behind("creator", "creator", person),
			map[string]string{"id": "node_id",
				"number": "number", "title": "title", "description": "description", "dueOn": "due_on",
				"state":     "^state",
				"url":       "html_url",
				"createdAt": "created_at", "updatedAt": "updated_at", "closedAt": "closed_at"})},
		{kind: "Release", path: at + "/releases/1", same: joined(behind("author", "author", person),
			map[string]string{"id": "node_id",
				"databaseId": "id", "name": "name", "tagName": "tag_name", "description": "body",
				"isDraft":      "draft",
				"isPrerelease": "prerelease",
				"createdAt":    "created_at", "publishedAt": "published_at", "updatedAt": "updated_at", "url": "html_url",
				"descriptionHTML": "body_html", "releaseAssets(first:5).totalCount": "#assets"})},
		{kind: "StatusContext", path: at + "/commits/fix/statuses", member: "0",
			same: joined(behind("creator",
				"creator", person),
				map[string]string{"id": "node_id", "context": "context", "state": "^state",
					"description": "description",
					"targetUrl":   "target_url",
					"createdAt":   "created_at", "avatarUrl": "avatar_url"})},
		{kind: "Status", path: at + "/commits/fix/status",
			source: `{repository(owner:"alice",name:"bed"){object(expression:"fix"){...on Commit{status{}}}}}`,
			same:   map[string]string{"state": "^state", "commit.oid": "sha", "contexts.0.id": "statuses.0.node_id"}},
		{kind: "CheckRun", path: at + "/check-runs/1",
			same: map[string]string{"id": "node_id", "databaseId": "id",
				"name":   "name",
				"status": "^status", "conclusion": "^conclusion", "detailsUrl": "details_url",
				"externalId": "external_id",
				"url":        "html_url",
				"startedAt":  "started_at", "completedAt": "completed_at", "title": "output.title",
				"summary": "output.summary",
				"text":    "output.text", "checkSuite.databaseId": "check_suite.id", "checkSuite.app.id": "app.node_id",
				"checkSuite.commit.oid": "head_sha"}},
		{kind: "CheckSuite", path: at + "/check-suites/1", same: map[string]string{"id": "node_id",
			"databaseId": "id", "status": "^status",
			"conclusion": "^conclusion", "createdAt": "created_at", "updatedAt": "updated_at",
			"commit.oid":  "head_sha",
			"branch.name": "head_branch",
			"app.name":    "app.name", "app.slug": "app.slug", "app.url": "app.html_url",
			"checkRuns(first:5).totalCount": "latest_check_runs_count"}},
	}
}

// grown is the bed with one of everything.
func grown(t *testing.T, s *apitest.Server) {
	t.Helper()
	bed(t, s)
	s.Org(t, "guild", "alice")
	made := s.NewApp(t, "alice", app.Manifest{Name: "Robot",
		Permissions: apitest.Permissions("checks=write,statuses=write,contents=read")})
	s.SetToken("robot", made.Token(t, made.Install(t, "alice").ID, ""))
	head := member(t, s, "alice", "/repos/alice/bed/commits/fix", "sha")
	for _, c := range []apitest.Case{
		{Do: "POST /repos/alice/bed/milestones",
			Send:   `{"title": "Spring", "description": "Early", "due_on": "2030-03-01T00:00:00Z"}`,
			Status: 201},
		{Do: "PATCH /repos/alice/bed/issues/1",
			Send:   `{"body": "See **this** and #2.", "milestone": 1, "labels": ["bug"], "assignees": ["bob"]}`,
			Status: 200},
		{Do: "POST /repos/alice/bed/issues/1/comments", As: "bob", Send: `{"body": "I *agree*."}`,
			Status: 201},
		{Do: "POST /repos/alice/bed/issues/1/reactions", As: "bob", Send: `{"content": "heart"}`,
			Status: 201},
		{Do: "POST /repos/alice/bed/issues/1/reactions", As: "alice", Send: `{"content": "heart"}`,
			Status: 201},
		{Do: "POST /repos/alice/bed/issues/comments/1/reactions", Send: `{"content": "rocket"}`, Status: 201},
		{Do: "PUT /repos/alice/bed/issues/1/lock", Send: `{"lock_reason": "too heated"}`, Status: 204},
		{Do: "PATCH /repos/alice/bed/issues/1", Send: `{"state": "closed", "state_reason": "not_planned"}`,
			Status: 200},
		{Do: "PATCH /repos/alice/bed/issues/5",
			Send:   `{"milestone": 1, "labels": ["bug"], "assignees": ["bob"]}`,
			Status: 200},
		{Do: "POST /repos/alice/bed/pulls/5/reviews", As: "bob",
			Send: `{"body": "So *so*", "event": "REQUEST_CHANGES", "comments": [{"path": "b", "line": 1,
				"body": "Why?"}]}`, Status: 200},
		{Do: "POST /repos/alice/bed/pulls/5/requested_reviewers", Send: `{"reviewers": ["bob"]}`,
			Status: 201},
		{Do: "POST /repos/alice/bed/pulls/comments/1/reactions", Send: `{"content": "eyes"}`, Status: 201},
		{Do: "POST /repos/alice/bed/releases", Send: `{"tag_name": "v1", "name": "First", "body": "It *is*.",
			"target_commitish": "fix"}`, Status: 201},
		{Do: "POST /repos/alice/bed/statuses/" + head,
			Send:   `{"state": "success", "context": "lint", "description": "Fine", "target_url": "https://ci.example/1"}`,
			Status: 201},
		{Do: "POST /repos/alice/bed/check-runs", As: "robot", Send: `{"head_sha": "` + head +
			`", "name": "test", "external_id": "7",
			"conclusion": "action_required", "output": {"title": "T", "summary": "S", "text": "X"}}`, Status: 201},
	} {
		if c.As == "" {
			c.As = "alice"
		}
		if strings.HasSuffix(c.Do, "/reactions") || strings.HasSuffix(c.Do, "/lock") {
			c.Headers = map[string]string{"Accept": "application/vnd.github.squirrel-girl-preview+json, " +
				"application/vnd.github.sailor-v-preview+json"}
		}
		s.Check(t, c)
	}
}

// What one thing is does not depend on how it is asked for.
func TestOneThingByRESTAndByGraphQL(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		grown(t, s)
		for _, w := range twins() {
			plain := s.Check(t, apitest.Case{Do: "GET " + w.path, As: "alice", Status: 200,
				Headers: map[string]string{"Accept": "application/vnd.github.full+json"}}).Body
			rest := within(parsed(t, plain), w.member)
			fields := "{"
			for f := range w.same {
				names := strings.Split(strings.ReplaceAll(f, ".0", ""), ".")
				fields += fmt.Sprintf(" f%x:%s", f, names[0])
				for _, name := range names[1:] {
					fields += "{" + fragment(names[0], name)
				}
				fields += strings.Repeat("}", len(names)-1)
			}
			fields += "}"
			source := w.source
			if source == "" {
				source = fmt.Sprintf(`{node(id:%q){__typename ...on %s{}}}`, within(rest, "node_id"), w.kind)
			}
			query := strings.Replace(source, "{}", fields, 1)
			body := run(t, s, "alice", query, nil)
			if strings.Contains(body, `"errors"`) {
				t.Errorf("%s: %s\n%s", w.kind, query, body)
				continue
			}
			found := flat(parsed(t, []byte(body)))
			for f, m := range w.same {
				checkSame(t, w.kind, f, m, found, rest)
			}
		}
	})
}

// fragment is a field of what an interface may be.
func fragment(of, name string) string {
	switch {
	case (of == "author" || of == "creator") && name == "id":
		return "...on User{id}"
	case of == "target" && name == "oid":
		return "...on Commit{oid}"
	}
	return name
}

func parsed(t *testing.T, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// within finds a member behind dots; nil: there is none.
func within(v any, path string) any {
	if path == "" {
		return v
	}
	name, rest, _ := strings.Cut(path, ".")
	switch of := v.(type) {
	case map[string]any:
		return within(of[name], rest)
	case []any:
		var n int
		if _, err := fmt.Sscan(name, &n); err == nil && n < len(of) {
			return within(of[n], rest)
		}
	}
	return nil
}

// flat finds the object that has the fields, wherever it stands.
func flat(v any) map[string]any {
	of, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	for name, inner := range of {
		if strings.HasPrefix(name, "f") && len(name) > 4 {
			return of
		}
		if found := flat(inner); found != nil {
			return found
		}
	}
	return nil
}

func checkSame(t *testing.T, kind, field, member string, found map[string]any, rest any) {
	t.Helper()
	if member == "" {
		return
	}
	got := found[fmt.Sprintf("f%x", field)]
	if _, inner, ok := strings.Cut(field, "."); ok {
		got = within(got, inner)
	}
	word, isWord := strings.CutPrefix(member, "^")
	list, isList := strings.CutPrefix(word, "#")
	want := within(rest, list)
	if text, ok := want.(string); ok && isWord {
		want = strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(text))
	}
	if all, ok := want.([]any); ok && isList {
		want = json.Number(fmt.Sprint(len(all)))
	}
	if _, there := found[fmt.Sprintf("f%x", field)]; !there || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s.%s is %v, but REST's %s is %v", kind, field, got, member, want)
	}
}
