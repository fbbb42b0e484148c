package graphql

import (
	"context"
	"slices"
	"strings"

	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// The routes of pull requests whose rights several mutations need.
const (
	createPull = "POST /repos/{owner}/{repo}/pulls"
	editPull   = "PATCH /repos/{owner}/{repo}/pulls/{number}"
	mergePull  = "PUT /repos/{owner}/{repo}/pulls/{number}/merge"
)

func createPullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	n := pull.NewPull{Head: m.text("headRefName"), Base: m.text("baseRefName"), Title: m.text("title"),
		Text: issue.NewText(m.text("body")), Draft: m.flag("draft").Value,
		Modifiable: m.flag("maintainerCanModify").Or(true)}
	if m.given("headRepositoryId") {
		head, err := m.target(ctx, "headRepositoryId", "Repository")
		if err != nil {
			return nil, err
		}
		owner, name, _ := strings.Cut(head.name, "/")
		_, branch, whose := strings.Cut(n.Head, ":")
		if !whose {
			branch = n.Head
		}
		n.Head, n.HeadRepo = owner+":"+branch, name
	}
	made, err := m.createPull(ctx, in, n)
	return map[string]any{"pullRequest": made}, err
}

// createPull creates a pull request and returns it.
func (m *mutation) createPull(ctx context.Context, in *object, n pull.NewPull) (*object, error) {
	to, a, err := m.change(ctx, in, createPull)
	if err != nil {
		return nil, err
	}
	made, err := m.do.Pulls.Create(to, a, n)
	if err != nil {
		return nil, err
	}
	return m.shown(ctx, "PullRequest", in, spot{number: made.Number}, 0)
}

// onPull changes a pull request that an input names by an operation, and returns it as it is then.
func (m *mutation) onPull(
	ctx context.Context, address string, change func(ctx context.Context, a *repo.Access, number int64) error,
) (map[string]any, error) {
	return m.actShown(ctx, "pullRequest", "pullRequestId", "PullRequest", address,
		func(ctx context.Context, a *repo.Access, o *object) error { return change(ctx, a, byNumber(o)) })
}

// setPull changes a pull request by an operation.
func (m *mutation) setPull(
	ctx context.Context, o *object, address string,
	change func(ctx context.Context, a *repo.Access, number int64) error,
) error {
	to, a, err := m.change(ctx, o.repo, address)
	if err != nil {
		return err
	}
	return change(to, a, byNumber(o))
}

// edited returns an operation for setPull.
func (m *mutation) edited(e pull.Edit) func(context.Context, *repo.Access, int64) error {
	return func(ctx context.Context, a *repo.Access, number int64) error {
		return m.do.Pulls.Edit(ctx, a, number, e)
	}
}

func closePullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.onPull(ctx, editPull, m.edited(pull.Edit{State: web.Some("closed")}))
}

func reopenPullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.onPull(ctx, editPull, m.edited(pull.Edit{State: web.Some("open")}))
}

// updatePullRequest changes the pull request first, then its labels, assignees and milestone, whose right is that of
// issues.
func updatePullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	relations, err := m.relations(ctx, o.repo)
	if err != nil {
		return nil, err
	}
	if err := mayRelate(ctx, o.repo, relations); err != nil {
		return nil, err
	}
	e := pull.Edit{Title: m.opt("title"), State: m.opt("state"), Base: m.opt("baseRefName"),
		Modifiable: m.flag("maintainerCanModify")}
	e.State.Value = strings.ToLower(e.State.Value)
	if m.given("body") {
		text := issue.NewText(m.text("body"))
		e.Text = &text
	}
	if e != (pull.Edit{}) {
		if err := m.setPull(ctx, o, editPull, m.edited(e)); err != nil {
			return nil, err
		}
	}
	if relates(relations) {
		if err := m.setIssue(ctx, o, relations); err != nil {
			return nil, err
		}
	}
	o, err = m.again(ctx, o)
	return map[string]any{"pullRequest": o}, err
}

func mergePullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.onPull(ctx, mergePull, func(ctx context.Context, a *repo.Access, number int64) error {
		o, err := m.mergeOptions()
		if err == nil {
			_, err = m.do.Pulls.Merge(ctx, a, number, o)
		}
		return err
	})
}

// mergeOptions reads how a pull request is merged.
func (m *mutation) mergeOptions() (o pull.MergeOptions, err error) {
	o = pull.MergeOptions{SHA: m.text("expectedHeadOid"), Title: m.textOrNil("commitHeadline"),
		Message: m.textOrNil("commitBody")}
	if m.given("mergeMethod") {
		o.Method, err = pull.ParseMethod(strings.ToLower(m.text("mergeMethod")))
	}
	return o, err
}

func enableAutoMerge(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.onAutoMerge(ctx, mergePull, func(ctx context.Context, a *repo.Access, number int64) error {
		o, err := m.mergeOptions()
		if o.Email = m.textOrNil("authorEmail"); err == nil {
			err = m.do.Pulls.EnableAutoMerge(ctx, a, number, o)
		}
		return err
	})
}

func disableAutoMerge(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.onAutoMerge(ctx, editPull, m.do.Pulls.DisableAutoMerge)
}

// onAutoMerge is onPull for a payload with the caller.
func (m *mutation) onAutoMerge(
	ctx context.Context, address string, change func(ctx context.Context, a *repo.Access, number int64) error,
) (map[string]any, error) {
	payload, err := m.onPull(ctx, address, change)
	if err == nil {
		payload["actor"], err = viewerAccount(ctx, nil)
	}
	return payload, err
}

func markReady(ctx context.Context, m *mutation) (map[string]any, error) {
	return setDraft(ctx, m, false)
}
func convertToDraft(ctx context.Context, m *mutation) (map[string]any, error) {
	return setDraft(ctx, m, true)
}

func setDraft(ctx context.Context, m *mutation, draft bool) (map[string]any, error) {
	return m.onPull(ctx, editPull, func(ctx context.Context, a *repo.Access, number int64) error {
		return m.do.Pulls.SetDraft(ctx, a, number, draft)
	})
}

func updatePullRequestBranch(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	if m.text("updateMethod") == "REBASE" {
		return nil, refused("Arbor updates branches of pull requests by merging, and does not rebase them.")
	}
	err = m.setPull(ctx, o, "PUT /repos/{owner}/{repo}/pulls/{number}/update-branch",
		func(ctx context.Context, a *repo.Access, number int64) error {
			return m.do.Pulls.Update(ctx, a, number, m.text("expectedHeadOid"))
		})
	if err != nil {
		return nil, err
	}
	o, err = m.again(ctx, o)
	return map[string]any{"pullRequest": o}, err
}

// revertPullRequest creates a branch that reverts a pull request, and a pull request of it.
func revertPullRequest(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	var made *pull.Reverted
	err = m.setPull(ctx, o, mergePull, func(ctx context.Context, a *repo.Access, number int64) (err error) {
		made, err = m.do.Pulls.Revert(ctx, a, number)
		return err
	})
	if err != nil {
		return nil, err
	}
	n := pull.NewPull{Head: made.Branch, Base: made.Base, Title: m.opt("title").Or(made.Title),
		Text: issue.NewText(m.opt("body").Or(made.Body)), Draft: m.flag("draft").Value, Modifiable: true}
	reverting, err := m.createPull(ctx, o.repo, n)
	return map[string]any{"pullRequest": o, "revertPullRequest": reverting}, err
}

// requestReviews asks people for reviews; without union it removes the other requests.
func requestReviews(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	if err != nil {
		return nil, err
	}
	if len(m.ids("botIds")) > 0 {
		return nil, refused("Bots do not review here.")
	}
	logins, err := m.logins(ctx, "userIds")
	if err != nil {
		return nil, err
	}
	var teams []string
	for n, found := range m.findAll(ctx, m.ids("teamIds"), "Team") {
		if found.err != nil {
			return nil, found.err
		}
		t, ok := found.value.(*object)
		if !ok {
			return nil, unresolvedNode(m.ids("teamIds")[n])
		}
		teams = append(teams, t.name)
	}
	return m.requestReviews(ctx, o, logins, teams)
}

// requestReviewsByLogin is requestReviews of people by their logins.
func requestReviewsByLogin(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "pullRequestId", "PullRequest")
	switch {
	case err != nil:
		return nil, err
	case len(m.ids("botLogins")) > 0:
		return nil, refused("Bots do not review here.")
	}
	return m.requestReviews(ctx, o, m.ids("userLogins"), m.ids("teamSlugs"))
}

// requestReviews requests reviews of people and of teams, ORGANIZATION/SLUG or SLUG.
func (m *mutation) requestReviews(
	ctx context.Context, o *object, logins, teams []string,
) (map[string]any, error) {
	const path = " /repos/{owner}/{repo}/pulls/{number}/requested_reviewers"
	slugs := make([]string, len(teams))
	for n, name := range teams {
		slugs[n] = name[strings.LastIndexByte(name, '/')+1:]
	}
	if m.input["union"] != true {
		p, err := pullOf(ctx, o)
		if err != nil {
			return nil, err
		}
		var gone []string
		for _, who := range p.Reviewers {
			if !slices.ContainsFunc(logins, func(l string) bool { return strings.EqualFold(l, who.Login) }) {
				gone = append(gone, who.Login)
			}
		}
		var goneTeams []string
		for _, t := range p.Teams {
			if !slices.ContainsFunc(slugs, func(s string) bool { return strings.EqualFold(s, t.Slug) }) {
				goneTeams = append(goneTeams, t.Slug)
			}
		}
		if len(gone)+len(goneTeams) > 0 {
			err := m.setReviewers(ctx, o, "DELETE"+path, m.do.Pulls.UnrequestReviews, gone, goneTeams)
			if err != nil {
				return nil, err
			}
		}
	}
	if len(logins)+len(slugs) > 0 {
		if err := m.setReviewers(ctx, o, "POST"+path, m.do.Pulls.RequestReviews, logins, slugs); err != nil {
			return nil, err
		}
	}
	asked, err := m.again(ctx, o)
	return map[string]any{"pullRequest": asked}, err
}

func (m *mutation) setReviewers(ctx context.Context, o *object, address string,
	change func(context.Context, *repo.Access, int64, []string, ...string) error, logins,
	teams []string) error {
	return m.setPull(ctx, o, address, func(ctx context.Context, a *repo.Access, number int64) error {
		return change(ctx, a, number, logins, teams...)
	})
}
