package graphql

import (
	"context"
	"net/http"
	"net/url"
)

// reactable finds what an input names for a reaction, and where REST has its reactions.
func (m *mutation) reactable(ctx context.Context) (o *object, path, content string, err error) {
	o, err = m.target(ctx, "subjectId", "Issue", "PullRequest", "IssueComment", "PullRequestReviewComment")
	if err != nil {
		return nil, "", "", err
	}
	for _, r := range reactions {
		if r[1] == m.text("content") {
			content = r[0]
		}
	}
	path = o.source.Path + "/reactions"
	if o.kind == "Issue" || o.kind == "PullRequest" {
		path = numbered(o, "issues", "reactions")
	}
	return o, path, content, nil
}

func addReaction(ctx context.Context, m *mutation) (map[string]any, error) {
	o, path, content, err := m.reactable(ctx)
	if err != nil {
		return nil, err
	}
	data, err := m.change(ctx, http.MethodPost, path, map[string]any{"content": content})
	if err != nil {
		return nil, err
	}
	return m.reactionPayload(ctx, o, data)
}

// removeReaction takes the caller's own reaction away.
func removeReaction(ctx context.Context, m *mutation) (map[string]any, error) {
	o, path, content, err := m.reactable(ctx)
	if err != nil {
		return nil, err
	}
	list, err := m.all(ctx, Question{Path: path, Query: url.Values{"content": {content}}}, 100)
	if err != nil {
		return nil, err
	}
	for _, data := range list {
		who, err := members(data.get("user"))
		if err != nil {
			return nil, err
		}
		if textOf(who, "login") != viewer(ctx).Login {
			continue
		}
		if _, err := m.change(ctx, http.MethodDelete, path+"/"+string(data.get("id")), nil); err != nil {
			return nil, err
		}
		return m.reactionPayload(ctx, o, data)
	}
	return nil, unresolved("a reaction of yours to it")
}

func (m *mutation) reactionPayload(ctx context.Context, o *object, data payload) (map[string]any, error) {
	who, err := members(data.get("user"))
	if err != nil {
		return nil, err
	}
	o, err = m.again(ctx, o)
	return map[string]any{"subject": o, "reaction": bare{"Reaction", map[string]any{"id": data.get("node_id"), "databaseId": data.get("id"),
		"content": m.text("content"), "createdAt": data.get("created_at"), "user": newAccount(who), "reactable": o}}}, err
}
