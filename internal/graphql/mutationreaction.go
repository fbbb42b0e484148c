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
	return o, reactionsPath(o), contentOf(m.text("content")), nil
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
	o, err := m.again(ctx, o)
	if err != nil {
		return nil, err
	}
	reaction, err := newReaction(o, data)
	return map[string]any{"subject": o, "reaction": reaction}, err
}
