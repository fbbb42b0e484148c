package graphql

import (
	"context"

	"arbor/internal/commitcomment"
	"arbor/internal/errs"
	"arbor/internal/reaction"
	"arbor/internal/release"
	"arbor/internal/repo"
)

// reactionRoutes are the routes of reactions by the kind of their subject.
var reactionRoutes = map[string]string{
	"Issue":                    "/repos/{owner}/{repo}/issues/{number}/reactions",
	"PullRequest":              "/repos/{owner}/{repo}/issues/{number}/reactions",
	"IssueComment":             "/repos/{owner}/{repo}/issues/comments/{id}/reactions",
	"PullRequestReviewComment": "/repos/{owner}/{repo}/pulls/comments/{id}/reactions",
	commitcomment.Resource:     "/repos/{owner}/{repo}/comments/{id}/reactions",
	release.Resource:           "/repos/{owner}/{repo}/releases/{release_id}/reactions",
}

// subject finds what an input names for a reaction.
func (m *mutation) subject(ctx context.Context, a *repo.Access, o *object) (reaction.Subject, error) {
	switch o.kind {
	case "IssueComment":
		return m.do.Comments.Subject(ctx, a, byID(o))
	case "PullRequestReviewComment":
		return m.do.Reviews.Subject(ctx, a, byID(o))
	case commitcomment.Resource:
		return m.load.OnCommits.Subject(ctx, a, byID(o))
	case release.Resource:
		return m.load.Releases.Subject(ctx, a, byID(o))
	}
	return m.do.Issues.Subject(ctx, a, byNumber(o))
}

// react changes the caller's reaction to what an input names. method and below make the route's address.
func react(ctx context.Context, m *mutation, method, below string,
	change func(context.Context, *repo.Access, reaction.Subject, string) (reaction.Payload, error),
) (map[string]any, error) {
	o, err := m.target(ctx, "subjectId", "Issue", "PullRequest", "IssueComment", "PullRequestReviewComment",
		commitcomment.Resource, release.Resource)
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, o.repo, method+" "+reactionRoutes[o.kind]+below)
	if err != nil {
		return nil, err
	}
	subject, err := m.subject(to, a, o)
	if err != nil {
		return nil, err
	}
	changed, err := change(to, a, subject, contentOf(m.text("content")))
	if err != nil {
		return nil, err
	}
	if o, err = m.again(ctx, o); err != nil {
		return nil, err
	}
	return map[string]any{"subject": o, "reaction": newReaction(o, changed)}, nil
}

func addReaction(ctx context.Context, m *mutation) (map[string]any, error) {
	return react(ctx, m, "POST", "",
		func(ctx context.Context, a *repo.Access, s reaction.Subject, content string) (reaction.Payload, error) {
			made, _, err := reaction.Add(ctx, m.do.DB, a, s, content)
			return made, err
		})
}

// removeReaction takes the caller's own reaction away.
func removeReaction(ctx context.Context, m *mutation) (map[string]any, error) {
	return react(ctx, m, "DELETE", "/{reaction_id}",
		func(ctx context.Context, a *repo.Access, s reaction.Subject, content string) (reaction.Payload, error) {
			was, err := reaction.Remove(ctx, m.do.DB, a, s, content)
			if errs.Is(err, errs.NotFound) {
				err = unresolved("a reaction of yours to it")
			}
			return was, err
		})
}
