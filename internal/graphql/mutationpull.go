package graphql

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

func createPullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	body := map[string]any{"head": m.text("headRefName"), "base": m.text("baseRefName"),
		"title": m.text("title")}
	m.copy(body, "body", "body")
	m.copy(body, "draft", "draft")
	m.copy(body, "maintainerCanModify", "maintainer_can_modify")
	if m.given("headRepositoryId") {
		head, err := m.target(ctx, "headRepositoryId", "Repository")
		if err != nil {
			return nil, err
		}
		owner, name, _ := strings.Cut(head.text(ctx, "full_name"), "/")
		_, branch, whose := strings.Cut(m.text("headRefName"), ":")
		if !whose {
			branch = m.text("headRefName")
		}
		body["head"], body["head_repo"] = owner+":"+branch, name
	}
	data, err := m.change(ctx, http.MethodPost, in.path("pulls"), body)
	if err != nil {
		return nil, err
	}
	return map[string]any{"pullRequest": newPull(in, data, "raw")}, nil
}

// setPull changes a pull request that an input names.
func setPull(ctx context.Context, m *mutation, body map[string]any) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	changed, err := m.patch(ctx, o, body)
	return map[string]any{"pullRequest": changed}, err
}

func closePullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	return setPull(ctx, m, map[string]any{"state": "closed"})
}

func reopenPullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	return setPull(ctx, m, map[string]any{"state": "open"})
}

// updatePullRequest changes what REST has at two addresses: the pull request first, then what it has of
// issues.
func updatePullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	ofIssue, err := m.equipment(ctx, o.repo)
	if err != nil {
		return nil, err
	}
	if err := checkRelations(ctx, o.repo, ofIssue); err != nil {
		return nil, err
	}
	body := map[string]any{}
	for name, as := range map[string]string{"title": "title", "body": "body", "baseRefName": "base",
		"maintainerCanModify": "maintainer_can_modify"} {
		m.copy(body, name, as)
	}
	if m.given("state") {
		body["state"] = strings.ToLower(m.text("state"))
	}
	if len(body) > 0 {
		if _, err := m.change(ctx, http.MethodPatch, o.source.Path, body); err != nil {
			return nil, err
		}
	}
	if len(ofIssue) > 0 {
		if _, err := m.change(ctx, http.MethodPatch, numbered(o, "issues"), ofIssue); err != nil {
			return nil, err
		}
	}
	changed, err := m.again(ctx, o)
	return map[string]any{"pullRequest": changed}, err
}

func mergePullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	body := map[string]any{"merge_method": "merge"}
	if m.given("mergeMethod") {
		body["merge_method"] = strings.ToLower(m.text("mergeMethod"))
	}
	m.copy(body, "commitHeadline", "commit_title")
	m.copy(body, "commitBody", "commit_message")
	m.copy(body, "expectedHeadOid", "sha")
	if _, err := m.change(ctx, http.MethodPut, numbered(o, "pulls", "merge"), body); err != nil {
		return nil, err
	}
	merged, err := m.again(ctx, o)
	return map[string]any{"pullRequest": merged}, err
}

func markReady(ctx context.Context, m *mutation) (map[string]any, error) {
	return setDraft(ctx, m, false)
}
func convertToDraft(ctx context.Context, m *mutation) (map[string]any, error) {
	return setDraft(ctx, m, true)
}

func setDraft(ctx context.Context, m *mutation, draft bool) (map[string]any, error) {
	o, data, err := special(ctx, m, "PullRequest", "pullRequestId", m.with.Draft,
		map[string]any{"draft": draft})
	if err != nil {
		return nil, err
	}
	return map[string]any{"pullRequest": newPull(o.repo, data, "raw")}, nil
}

func updatePullRequestBranch(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	if m.text("updateMethod") == "REBASE" {
		return nil, refused("Arbor updates branches of pull requests by merging, and does not rebase them.")
	}
	body := map[string]any{}
	m.copy(body, "expectedHeadOid", "expected_head_sha")
	if _, err := m.change(ctx, http.MethodPut, numbered(o, "pulls", "update-branch"), body); err != nil {
		return nil, err
	}
	updated, err := m.again(ctx, o)
	return map[string]any{"pullRequest": updated}, err
}

// revertPullRequest creates a branch that reverts a pull request, and a pull request of it.
func revertPullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	question := Question{Method: http.MethodPut, Path: numbered(o, "pulls", "merge"), Handler: m.with.Revert}
	made, err := m.changeBy(ctx, question, map[string]any{})
	if err != nil {
		return nil, err
	}
	body := map[string]any{"head": textOf(made, "branch"), "base": textOf(made, "base"),
		"title": textOf(made, "title"),
		"body":  textOf(made, "body")}
	for _, name := range [...]string{"title", "body", "draft"} {
		m.copy(body, name, name)
	}
	data, err := m.change(ctx, http.MethodPost, o.repo.path("pulls"), body)
	if err != nil {
		return nil, err
	}
	return map[string]any{"pullRequest": o, "revertPullRequest": newPull(o.repo, data, "raw")}, nil
}

func addPullRequestReview(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	if m.text("event") == "DISMISS" {
		return nil, refused("A new review cannot be dismissed.")
	}
	body := map[string]any{}
	m.copy(body, "body", "body")
	m.copy(body, "event", "event")
	m.copy(body, "commitOID", "commit_id")
	if list := m.drafts(); len(list) > 0 {
		body["comments"] = list
	}
	data, err := m.change(ctx, http.MethodPost, numbered(o, "pulls", "reviews"), body)
	if err != nil {
		return nil, err
	}
	return map[string]any{"pullRequestReview": newReview(o.repo, o, data, "raw")}, nil
}

// draftPlaces are REST's names of what comments say that a review is made with, by input.
var draftPlaces = [...]struct {
	input  string
	fields map[string]string
}{
	{"comments", map[string]string{"body": "body", "path": "path", "position": "position"}},
	{"threads", map[string]string{"body": "body", "path": "path", "line": "line", "side": "side",
		"startLine": "start_line",
		"startSide": "start_side"}},
}

// drafts are the comments that a review is made with.
func (m *mutation) drafts() (list []map[string]any) {
	for _, kind := range draftPlaces {
		given, _ := m.input[kind.input].([]any)
		for _, v := range given {
			one, _ := v.(map[string]any)
			body := map[string]any{}
			for from, to := range kind.fields {
				if one[from] != nil && (from != "startSide" || one["startLine"] != nil) {
					body[to] = one[from]
				}
			}
			list = append(list, body)
		}
	}
	return list
}

// requestReviews asks people for reviews; without union it removes the other requests.
func requestReviews(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	if len(m.ids("teamIds")) > 0 {
		return nil, refused("Arbor has no teams.")
	}
	if len(m.ids("botIds")) > 0 {
		return nil, refused("Bots do not review here.")
	}
	logins, err := m.logins(ctx, "userIds")
	if err != nil {
		return nil, err
	}
	return m.requestReviews(ctx, o, logins)
}

func (m *mutation) requestReviews(ctx context.Context, o *object, logins []string) (map[string]any, error) {
	path := numbered(o, "pulls", "requested_reviewers")
	if m.input["union"] != true {
		list, err := o.list(ctx, "requested_reviewers")
		if err != nil {
			return nil, err
		}
		var gone []string
		for _, data := range list {
			login := textOf(data, "login")
			if !slices.ContainsFunc(logins, func(l string) bool { return strings.EqualFold(l, login) }) {
				gone = append(gone, login)
			}
		}
		if len(gone) > 0 {
			if _, err := m.change(ctx, http.MethodDelete, path,
				map[string]any{"reviewers": gone}); err != nil {
				return nil, err
			}
		}
	}
	if len(logins) > 0 {
		if _, err := m.change(ctx, http.MethodPost, path, map[string]any{"reviewers": logins}); err != nil {
			return nil, err
		}
	}
	asked, err := m.again(ctx, o)
	return map[string]any{"pullRequest": asked}, err
}
