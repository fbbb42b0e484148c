package graphql

import (
	"context"
	"maps"
	"net/http"
	"strings"

	"arbor/internal/errs"
)

// below finds what an input names below the repository that the input names, too.
func (m *mutation) below(ctx context.Context, name, kind string) (o, in *object, err error) {
	if in, err = m.target(ctx, "repositoryId", "Repository"); err != nil {
		return nil, nil, err
	}
	if o, err = m.target(ctx, name, kind); err != nil {
		return nil, nil, err
	}
	ours, err := repositoryID(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	its, err := repositoryID(ctx, o.repo)
	if err == nil && its != ours {
		err = unresolvedNode(m.text(name))
	}
	return o, in, err
}

// run is what an input says of a check run, in a body of REST.
func (m *mutation) run() map[string]any {
	body := map[string]any{}
	for name, as := range map[string]string{"name": "name", "headSha": "head_sha",
		"detailsUrl": "details_url",
		"externalId": "external_id",
		"startedAt":  "started_at", "completedAt": "completed_at", "actions": "actions"} {
		m.copy(body, name, as)
	}
	for _, name := range [...]string{"status", "conclusion"} {
		if m.given(name) {
			body[name] = strings.ToLower(m.text(name))
		}
	}
	if output, ok := m.input["output"].(map[string]any); ok {
		body["output"] = outputOf(output)
	}
	return body
}

// renamed is an input with REST's names, without the fields that were not given.
func renamed(input any, names map[string]string) map[string]any {
	given, _ := input.(map[string]any)
	out := map[string]any{}
	for name, as := range names {
		if given[name] != nil {
			out[as] = given[name]
		}
	}
	return out
}

func outputOf(input map[string]any) map[string]any {
	out := renamed(input, map[string]string{"title": "title", "summary": "summary", "text": "text"})
	if list, ok := input["images"].([]any); ok {
		images := []any{}
		for _, v := range list {
			images = append(images, renamed(v,
				map[string]string{"alt": "alt", "caption": "caption", "imageUrl": "image_url"}))
		}
		out["images"] = images
	}
	if list, ok := input["annotations"].([]any); ok {
		notes := []any{}
		for _, v := range list {
			given, _ := v.(map[string]any)
			note := renamed(given["location"],
				map[string]string{"startLine": "start_line", "endLine": "end_line",
					"startColumn": "start_column", "endColumn": "end_column"})
			maps.Copy(note, renamed(given, map[string]string{"path": "path", "message": "message",
				"title":      "title",
				"rawDetails": "raw_details"}))
			level, _ := given["annotationLevel"].(string)
			note["annotation_level"] = strings.ToLower(level)
			notes = append(notes, note)
		}
		out["annotations"] = notes
	}
	return out
}

func createCheckRun(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	data, err := m.change(ctx, http.MethodPost, in.path("check-runs"), m.run())
	if err != nil {
		return nil, err
	}
	return map[string]any{"checkRun": &object{kind: "CheckRun", data: data, whole: true, repo: in}}, nil
}

func updateCheckRun(ctx context.Context, m *mutation) (map[string]any, error) {
	o, in, err := m.below(ctx, "checkRunId", "CheckRun")
	if err != nil {
		return nil, err
	}
	data, err := m.change(ctx, http.MethodPatch, in.path("check-runs", string(o.data.get("id"))), m.run())
	if err != nil {
		return nil, err
	}
	return map[string]any{"checkRun": &object{kind: "CheckRun", data: data, whole: true, repo: in}}, nil
}

func createCheckSuite(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	data, err := m.change(ctx, http.MethodPost, in.path("check-suites"),
		map[string]any{"head_sha": m.text("headSha")})
	if err != nil {
		return nil, err
	}
	return map[string]any{"checkSuite": newSuite(in, data, true)}, nil
}

func rerequestCheckSuite(ctx context.Context, m *mutation) (map[string]any, error) {
	o, _, err := m.below(ctx, "checkSuiteId", "CheckSuite")
	if err != nil {
		return nil, err
	}
	if _, err := m.change(ctx, http.MethodPost, o.source.Path+"/rerequest", nil); err != nil {
		return nil, err
	}
	suite, err := m.again(ctx, o)
	return map[string]any{"checkSuite": suite}, err
}

func updateCheckSuitePreferences(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	list, _ := m.input["autoTriggerPreferences"].([]any)
	all := []any{}
	for _, v := range list {
		one, _ := v.(map[string]any)
		id, _ := one["appId"].(string)
		kind, number, _, ok := parseNode(id)
		if !ok || kind != "Integration" {
			return nil, unresolvedNode(id)
		}
		all = append(all, map[string]any{"app_id": number, "setting": one["setting"]})
	}
	_, err = m.change(ctx, http.MethodPatch, in.path("check-suites", "preferences"),
		map[string]any{"auto_trigger_checks": all})
	return map[string]any{"repository": in}, err
}

// updateSubscription changes the caller's subscription to a repository, an issue or a pull request.
func updateSubscription(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "subscribableId", "Repository", "Issue", "PullRequest")
	if err != nil {
		return nil, err
	}
	path := o.source.Path + "/subscription"
	if o.kind != "Repository" {
		path = numbered(o, "issues", "subscription")
	}
	switch m.text("state") {
	case "UNSUBSCRIBED":
		if _, err = m.change(ctx, http.MethodDelete, path, nil); errs.Is(err, errs.NotFound) {
			err = nil // there was none
		}
	case "IGNORED":
		_, err = m.change(ctx, http.MethodPut, path, map[string]any{"ignored": true})
	default:
		_, err = m.change(ctx, http.MethodPut, path, map[string]any{"subscribed": true, "ignored": false})
	}
	if err != nil {
		return nil, err
	}
	fresh, err := m.again(ctx, o)
	return map[string]any{"subscribable": fresh}, err
}
