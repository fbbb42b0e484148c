package graphql

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"arbor/internal/web"
)

func createIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	body, err := m.equipment(ctx, in)
	if err != nil {
		return nil, err
	}
	if body["milestone"] == nil {
		delete(body, "milestone")
	}
	m.copy(body, "title", "title")
	m.copy(body, "body", "body")
	data, err := m.change(ctx, http.MethodPost, in.path("issues"), body)
	if err != nil {
		return nil, err
	}
	return issuePayload(in, data)
}

func issuePayload(in *object, data payload) (map[string]any, error) {
	o, err := newIssue(in, data, "raw")
	if err != nil {
		return nil, err
	}
	o.whole = true
	return map[string]any{"issue": o}, nil
}

// setIssue changes an issue that an input names.
func setIssue(ctx context.Context, m *mutation, name string, body map[string]any) (map[string]any, error) {
	o, err := m.target(ctx, name, "Issue")
	if err != nil {
		return nil, err
	}
	changed, err := m.patch(ctx, o, body)
	return map[string]any{"issue": changed}, err
}

func closeIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	body := map[string]any{"state": "closed"}
	if m.given("stateReason") {
		body["state_reason"] = strings.ToLower(m.text("stateReason"))
	}
	return setIssue(ctx, m, "issueId", body)
}

func reopenIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	return setIssue(ctx, m, "issueId", map[string]any{"state": "open"})
}

func updateIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "id", "Issue")
	if err != nil {
		return nil, err
	}
	body, err := m.equipment(ctx, o.repo)
	if err != nil {
		return nil, err
	}
	if err := checkRelations(ctx, o.repo, body); err != nil {
		return nil, err
	}
	m.copy(body, "title", "title")
	m.copy(body, "body", "body")
	if m.given("state") {
		body["state"] = strings.ToLower(m.text("state"))
	}
	changed, err := m.patch(ctx, o, body)
	return map[string]any{"issue": changed}, err
}

// special changes something by a handler for which REST has no address.
func special(ctx context.Context, m *mutation, kind, name string, handler web.Handler, body map[string]any) (
	*object, payload, error,
) {
	o, err := m.target(ctx, name, kind)
	if err != nil {
		return nil, nil, err
	}
	data, err := m.changeBy(ctx, Question{Method: http.MethodPatch, Path: o.source.Path, Handler: handler},
		body)
	return o, data, err
}

func pinIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	return setPinned(ctx, m, true)
}
func unpinIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	return setPinned(ctx, m, false)
}

func setPinned(ctx context.Context, m *mutation, pinned bool) (map[string]any, error) {
	o, _, err := special(ctx, m, "Issue", "issueId", m.with.Pin, map[string]any{"pinned": pinned})
	if err != nil {
		return nil, err
	}
	o, err = m.again(ctx, o)
	return map[string]any{"issue": o}, err
}

func deleteIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	o, _, err := special(ctx, m, "Issue", "issueId", m.with.Delete, map[string]any{})
	if err != nil {
		return nil, err
	}
	return map[string]any{"repository": repositoryAt(o.repo.source.Path)}, nil
}

func transferIssue(ctx context.Context, m *mutation) (map[string]any, error) {
	to, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	owner, name, _ := strings.Cut(to.text(ctx, "full_name"), "/")
	body := map[string]any{"owner": owner, "name": name,
		"create_labels": m.input["createLabelsIfMissing"] == true}
	_, data, err := special(ctx, m, "Issue", "issueId", m.with.Transfer, body)
	if err != nil {
		return nil, err
	}
	return issuePayload(to, data)
}

func addComment(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "subjectId", "Issue", "PullRequest")
	if err != nil {
		return nil, err
	}
	data, err := m.change(ctx, http.MethodPost, numbered(o, "issues", "comments"),
		map[string]any{"body": m.text("body")})
	if err != nil {
		return nil, err
	}
	made := newComment(o.repo, o, data, "raw")
	subject, err := m.again(ctx, o)
	if err != nil {
		return nil, err
	}
	count, _ := subject.value(ctx, "comments")
	number, _ := count.(json.Number)
	place, _ := number.Int64()
	return map[string]any{"subject": subject, "commentEdge": &edge{kind: "IssueCommentEdge", node: made,
		cursor: cursor{int(place), byID(false).of(data)}.String()}}, nil
}

func updateIssueComment(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "id", "IssueComment")
	if err != nil {
		return nil, err
	}
	changed, err := m.patch(ctx, o, map[string]any{"body": m.text("body")})
	return map[string]any{"issueComment": changed}, err
}

func deleteIssueComment(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "id", "IssueComment")
	if err != nil {
		return nil, err
	}
	_, err = m.change(ctx, http.MethodDelete, o.source.Path, nil)
	return map[string]any{}, err
}

// lists changes labels or assignees of what an input names, and gives it as it is then.
func (m *mutation) lists(ctx context.Context, target, payload string,
	change func(o *object) error) (map[string]any, error) {
	o, err := m.target(ctx, target, "Issue", "PullRequest")
	if err != nil {
		return nil, err
	}
	if err := change(o); err != nil {
		return nil, err
	}
	o, err = m.again(ctx, o)
	return map[string]any{payload: o}, err
}

func addLabels(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.lists(ctx, "labelableId", "labelable", func(o *object) error {
		names, err := m.labelNames(ctx, o.repo, "labelIds")
		if err != nil {
			return err
		}
		_, err = m.change(ctx, http.MethodPost, numbered(o, "issues", "labels"),
			map[string]any{"labels": names})
		return err
	})
}

func removeLabels(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.lists(ctx, "labelableId", "labelable", func(o *object) error {
		names, err := m.labelNames(ctx, o.repo, "labelIds")
		if err != nil {
			return err
		}
		for _, name := range names {
			if !has(ctx, o, "labels", "name", name) {
				continue // it is off already
			}
			if _, err := m.change(ctx, http.MethodDelete, numbered(o, "issues", "labels", name),
				nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// has reports that a list in a payload has an object with a member of that value.
func has(ctx context.Context, o *object, list, member, value string) bool {
	all, _ := o.list(ctx, list)
	for _, data := range all {
		if textOf(data, member) == value {
			return true
		}
	}
	return false
}

func clearLabels(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.lists(ctx, "labelableId", "labelable", func(o *object) error {
		_, err := m.change(ctx, http.MethodDelete, numbered(o, "issues", "labels"), nil)
		return err
	})
}

func addAssignees(ctx context.Context, m *mutation) (map[string]any, error) {
	return setAssignees(ctx, m, http.MethodPost)
}

func removeAssignees(ctx context.Context, m *mutation) (map[string]any, error) {
	return setAssignees(ctx, m, http.MethodDelete)
}

func setAssignees(ctx context.Context, m *mutation, method string) (map[string]any, error) {
	return m.lists(ctx, "assignableId", "assignable", func(o *object) error {
		logins, err := m.logins(ctx, "assigneeIds")
		if err != nil {
			return err
		}
		_, err = m.change(ctx, method, numbered(o, "issues", "assignees"),
			map[string]any{"assignees": logins})
		return err
	})
}

// lockReasons are REST's words for why a conversation is locked.
var lockReasons = map[string]string{"OFF_TOPIC": "off-topic", "TOO_HEATED": "too heated",
	"RESOLVED": "resolved", "SPAM": "spam"}

func lock(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.lists(ctx, "lockableId", "lockedRecord", func(o *object) error {
		body := map[string]any{}
		if reason := lockReasons[m.text("lockReason")]; reason != "" {
			body["lock_reason"] = reason
		}
		_, err := m.change(ctx, http.MethodPut, numbered(o, "issues", "lock"), body)
		return err
	})
}

func unlock(ctx context.Context, m *mutation) (map[string]any, error) {
	return m.lists(ctx, "lockableId", "unlockedRecord", func(o *object) error {
		_, err := m.change(ctx, http.MethodDelete, numbered(o, "issues", "lock"), nil)
		return err
	})
}
