package graphql

import (
	"context"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// editIssue is the route whose right several mutations of issues need.
const editIssue = "PATCH /repos/{owner}/{repo}/issues/{number}"

func createIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	e, err := m.relations(ctx, in)
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, in, "POST /repos/{owner}/{repo}/issues")
	if err != nil {
		return nil, err
	}
	made, err := m.do.Issues.Create(to, a, issue.NewIssue{Title: m.text("title"), Text: issue.NewText(m.text("body")),
		Assignees: e.Assignees.Value, Milestone: e.Milestone.Value, Labels: e.Labels.Value})
	if err != nil {
		return nil, err
	}
	return m.issuePayload(ctx, in, made)
}

func (m *mutation) issuePayload(ctx context.Context, in *object, i *issue.Issue) (map[string]any, error) {
	o, err := m.shown(ctx, "Issue", in, spot{number: i.Number}, int64(i.ID))
	return map[string]any{"issue": o}, err
}

// edit returns an operation for act that changes an issue or a pull request's issue.
func (m *mutation) edit(e issue.Edit) func(context.Context, *repo.Access, *object) error {
	return func(ctx context.Context, a *repo.Access, o *object) error {
		i, err := m.do.Issues.ByNumber(ctx, a, byNumber(o))
		if err == nil {
			_, err = m.do.Issues.Update(ctx, a, i, e)
		}
		return err
	}
}

// setIssue changes an issue or a pull request's issue.
func (m *mutation) setIssue(ctx context.Context, o *object, e issue.Edit) error {
	to, a, err := m.change(ctx, o.repo, editIssue)
	if err != nil {
		return err
	}
	return m.edit(e)(to, a, o)
}

func closeIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	e := issue.Edit{State: web.Some("closed"), Reason: m.opt("stateReason")}
	e.Reason.Value = strings.ToLower(e.Reason.Value)
	return m.actShown(ctx, "issue", "issueId", "Issue", editIssue, m.edit(e))
}

func reopenIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.actShown(ctx, "issue", "issueId", "Issue", editIssue, m.edit(issue.Edit{State: web.Some("open")}))
}

func updateIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "id", "Issue")
	if err != nil {
		return nil, err
	}
	e, err := m.relations(ctx, o.repo)
	if err != nil {
		return nil, err
	}
	if err := mayRelate(ctx, o.repo, e); err != nil {
		return nil, err
	}
	e.Title, e.Body, e.State = m.opt("title"), m.opt("body"), m.opt("state")
	e.State.Value = strings.ToLower(e.State.Value)
	if err := m.setIssue(ctx, o, e); err != nil {
		return nil, err
	}
	o, err = m.again(ctx, o)
	return map[string]any{"issue": o}, err
}

func pinIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	return setPinned(ctx, m, m.do.Issues.Pin)
}

func unpinIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	return setPinned(ctx, m, m.do.Issues.Unpin)
}

func setPinned(
	ctx context.Context, m *mutation, pin func(context.Context, *repo.Access, int64) (*issue.Issue, error),
) (map[string]any, error) {
	return m.actShown(ctx, "issue", "issueId", "Issue", editIssue,
		func(ctx context.Context, a *repo.Access, o *object) error {
			_, err := pin(ctx, a, byNumber(o))
			return err
		})
}

func deleteIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "issueId", "Issue")
	if err != nil {
		return nil, err
	}
	to, a, err := m.changeAs(ctx, o.repo, editIssue, account.Admin)
	if err != nil {
		return nil, err
	}
	if err := m.do.Issues.Delete(to, a, byNumber(o)); err != nil {
		return nil, err
	}
	in, err := m.again(ctx, o.repo)
	return map[string]any{"repository": in}, err
}

func transferIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	to, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	o, err := m.target(ctx, "issueId", "Issue")
	if err != nil {
		return nil, err
	}
	granted, a, err := m.changeAs(ctx, o.repo, editIssue, account.Push)
	if err != nil {
		return nil, err
	}
	target, err := m.accessTo(granted, a.Caller, to)
	if err != nil {
		return nil, err
	}
	moved, err := m.do.Issues.Transfer(granted, a, byNumber(o),
		issue.Transfer{To: target, CreateLabels: m.flag("createLabelsIfMissing").Value})
	if err != nil {
		return nil, err
	}
	return m.issuePayload(ctx, to, moved)
}

func addComment(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "subjectId", "Issue", "PullRequest")
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, o.repo, "POST /repos/{owner}/{repo}/issues/{number}/comments")
	if err != nil {
		return nil, err
	}
	text, err := comment.NewText(m.text("body"))
	if err != nil {
		return nil, err
	}
	added, err := m.do.Comments.Create(to, a, byNumber(o), text)
	if err != nil {
		return nil, err
	}
	subject, err := m.again(ctx, o)
	if err != nil {
		return nil, err
	}
	made, err := m.whole(ctx, spot{}.object("IssueComment", o.repo, added.ID))
	if err != nil {
		return nil, err
	}
	made.of = subject
	place := int(viewOf(subject).Comments)
	return map[string]any{"subject": subject, "commentEdge": &edge{kind: "IssueCommentEdge", node: made,
		cursor: cursor{place, rankByID(idOfComment).of(made.value.(*comment.Payload))}.String()}}, nil
}

func updateIssueComment(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.actShown(ctx, "issueComment", "id", "IssueComment", "PATCH /repos/{owner}/{repo}/issues/comments/{id}",
		func(ctx context.Context, a *repo.Access, o *object) error {
			c, err := m.do.Comments.ByID(ctx, a, byID(o))
			if err != nil {
				return err
			}
			text, err := comment.NewText(m.text("body"))
			if err == nil {
				_, err = m.do.Comments.Edit(ctx, a, c, text)
			}
			return err
		})
}

func deleteIssueComment(ctx context.Context, m *mutation) (map[string]any, error) {
	_, err := m.act(ctx, "id", "IssueComment", "DELETE /repos/{owner}/{repo}/issues/comments/{id}",
		func(ctx context.Context, a *repo.Access, o *object) error {
			c, err := m.do.Comments.ByID(ctx, a, byID(o))
			if err == nil {
				err = m.do.Comments.Delete(ctx, a, c)
			}
			return err
		})
	return map[string]any{}, err
}

// onIssue changes an issue or a pull request that an input names by an operation of issues, and returns it as
// it is then. prepare, if not nil, looks at the input before.
func (m *mutation) onIssue(
	ctx context.Context, target, payload, address string, prepare func(o *object) error,
	change func(ctx context.Context, a *repo.Access, number int64) error,
) (map[string]any, error) {
	o, err := m.target(ctx, target, "Issue", "PullRequest")
	if err != nil {
		return nil, err
	}
	if prepare != nil {
		if err := prepare(o); err != nil {
			return nil, err
		}
	}
	to, a, err := m.change(ctx, o.repo, address)
	if err != nil {
		return nil, err
	}
	if err := change(to, a, byNumber(o)); err != nil {
		return nil, err
	}
	o, err = m.again(ctx, o)
	return map[string]any{payload: o}, err
}

// labels reads the names of the labels in the input.
func (m *mutation) labels(ctx context.Context, names *[]string) func(o *object) error {
	return func(o *object) (err error) {
		*names, err = m.labelNames(ctx, o.repo, "labelIds")
		return err
	}
}

func addLabels(ctx context.Context, m *mutation) (map[string]any, error) {
	var names []string
	return m.onIssue(ctx, "labelableId", "labelable", "POST /repos/{owner}/{repo}/issues/{number}/labels",
		m.labels(ctx, &names), func(ctx context.Context, a *repo.Access, number int64) error {
			_, err := m.do.Issues.AddLabels(ctx, a, number, names)
			return err
		})
}

// removeLabels takes labels off. One that is off already is left.
func removeLabels(ctx context.Context, m *mutation) (map[string]any, error) {
	var names []string
	return m.onIssue(ctx, "labelableId", "labelable", "DELETE /repos/{owner}/{repo}/issues/{number}/labels/{name}",
		m.labels(ctx, &names), func(ctx context.Context, a *repo.Access, number int64) error {
			for _, name := range names {
				_, err := m.do.Issues.RemoveLabel(ctx, a, number, name)
				if err != nil && !errs.Is(err, errs.NotFound) {
					return err
				}
			}
			return nil
		})
}

func clearLabels(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.onIssue(ctx, "labelableId", "labelable", "DELETE /repos/{owner}/{repo}/issues/{number}/labels", nil,
		func(ctx context.Context, a *repo.Access, number int64) error {
			_, err := m.do.Issues.SetLabels(ctx, a, number, nil)
			return err
		})
}

func addAssignees(ctx context.Context, m *mutation) (map[string]any, error) {
	return setAssignees(ctx, m, "POST /repos/{owner}/{repo}/issues/{number}/assignees", m.do.Issues.Assign)
}

func removeAssignees(ctx context.Context, m *mutation) (map[string]any, error) {
	return setAssignees(ctx, m, "DELETE /repos/{owner}/{repo}/issues/{number}/assignees", m.do.Issues.Unassign)
}

func setAssignees(ctx context.Context, m *mutation, address string,
	change func(context.Context, *repo.Access, int64, []string) (*issue.Issue, error),
) (map[string]any, error) {
	var logins []string
	return m.onIssue(ctx, "assignableId", "assignable", address, func(*object) (err error) {
		logins, err = m.logins(ctx, "assigneeIds")
		return err
	}, func(ctx context.Context, a *repo.Access, number int64) error {
		_, err := change(ctx, a, number, logins)
		return err
	})
}

// replaceActors sets the assignees to the named accounts.
func replaceActors(ctx context.Context, m *mutation) (map[string]any, error) {
	if m.given("agentAssignment") {
		return nil, refused("Arbor has no agents to assign.")
	}
	o, err := m.target(ctx, "assignableId", "Issue", "PullRequest")
	if err != nil {
		return nil, err
	}
	logins, err := m.logins(ctx, "actorIds")
	if err != nil {
		return nil, err
	}
	for _, login := range m.ids("actorLogins") {
		if !slices.ContainsFunc(logins, func(l string) bool { return strings.EqualFold(l, login) }) {
			logins = append(logins, login)
		}
	}
	if len(logins) > issue.MaxAssignees {
		return nil, tooManyAssignees()
	}
	if err := m.assignable(ctx, o.repo, logins); err != nil {
		return nil, err
	}
	e := issue.Edit{Assignees: web.Some(logins)}
	if err := mayRelate(ctx, o.repo, e); err != nil {
		return nil, err
	}
	if err := m.setIssue(ctx, o, e); err != nil {
		return nil, err
	}
	o, err = m.again(ctx, o)
	return map[string]any{"assignable": o}, err
}

// assignable returns an error for the first login that cannot be assigned.
func (m *mutation) assignable(ctx context.Context, in *object, logins []string) error {
	to, a, err := m.access(ctx, in, "GET /repos/{owner}/{repo}/assignees/{assignee}", account.Pull)
	for _, login := range logins {
		if err == nil {
			err = m.do.Issues.CheckAssignee(to, a, login)
		}
		if errs.Is(err, errs.NotFound) {
			return unresolved("a Bot or User with the login of '" + clip(login) + "'")
		}
	}
	return err
}

// lockReasons are REST's words for why a conversation is locked.
var lockReasons = map[string]string{"OFF_TOPIC": "off-topic", "TOO_HEATED": "too heated",
	"RESOLVED": "resolved", "SPAM": "spam"}

func lock(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.onIssue(ctx, "lockableId", "lockedRecord", "PUT /repos/{owner}/{repo}/issues/{number}/lock", nil,
		func(ctx context.Context, a *repo.Access, number int64) error {
			reason := web.OrNil(lockReasons[m.text("lockReason")])
			return m.do.Issues.SetLock(ctx, a, number, true, reason)
		})
}

func unlock(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.onIssue(ctx, "lockableId", "unlockedRecord", "DELETE /repos/{owner}/{repo}/issues/{number}/lock", nil,
		func(ctx context.Context, a *repo.Access, number int64) error {
			return m.do.Issues.SetLock(ctx, a, number, false, nil)
		})
}
