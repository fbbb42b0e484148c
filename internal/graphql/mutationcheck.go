package graphql

import (
	"context"
	"maps"
	"strings"

	"arbor/internal/account"
	"arbor/internal/checkrun"
	"arbor/internal/issue/subscription"
	"arbor/internal/star"
	"arbor/internal/web"
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

// run returns the fields of a check run that an input has, under the names of REST.
func (m *mutation) run() (*web.Object, error) {
	body := renamed(m.input, map[string]string{"name": "name", "headSha": "head_sha", "detailsUrl": "details_url",
		"externalId": "external_id", "startedAt": "started_at", "completedAt": "completed_at", "actions": "actions"})
	for _, name := range [...]string{"status", "conclusion"} {
		if m.given(name) {
			body[name] = strings.ToLower(m.text(name))
		}
	}
	if output, ok := m.input["output"].(map[string]any); ok {
		body["output"] = outputOf(output)
	}
	return bodyOf(checkrun.Resource, body)
}

// renamed returns the given fields of an input, or of an object in it, under other names.
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
	to, a, err := m.change(ctx, in, "POST /repos/{owner}/{repo}/check-runs")
	if err != nil {
		return nil, err
	}
	body, err := m.run()
	if err != nil {
		return nil, err
	}
	sha, change, err := checkrun.ReadNew(body)
	if err != nil {
		return nil, err
	}
	made, err := m.do.Checks.Create(to, a, sha, change)
	if err != nil {
		return nil, err
	}
	run, err := m.shown(ctx, "CheckRun", in, spot{}, made.ID)
	return map[string]any{"checkRun": run}, err
}

func updateCheckRun(ctx context.Context, m *mutation) (map[string]any, error) {
	o, in, err := m.below(ctx, "checkRunId", "CheckRun")
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, in, "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}")
	if err != nil {
		return nil, err
	}
	body, err := m.run()
	if err != nil {
		return nil, err
	}
	change, err := checkrun.ReadChange(body)
	if err != nil {
		return nil, err
	}
	if _, err := m.do.Checks.Edit(to, a, byIdentity(o), change); err != nil {
		return nil, err
	}
	run, err := m.shown(ctx, "CheckRun", in, spot{}, byIdentity(o))
	return map[string]any{"checkRun": run}, err
}

func createCheckSuite(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, in, "POST /repos/{owner}/{repo}/check-suites")
	if err != nil {
		return nil, err
	}
	sha, err := checkrun.ParseSHA(m.text("headSha"))
	if err != nil {
		return nil, err
	}
	made, _, err := m.do.Checks.CreateSuite(to, a, sha)
	if err != nil {
		return nil, err
	}
	suite, err := m.shown(ctx, "CheckSuite", in, spot{}, made.ID)
	return map[string]any{"checkSuite": suite}, err
}

func rerequestCheckSuite(ctx context.Context, m *mutation) (map[string]any, error) {
	o, in, err := m.below(ctx, "checkSuiteId", "CheckSuite")
	if err != nil {
		return nil, err
	}
	to, a, err := m.change(ctx, in, "POST /repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest")
	if err != nil {
		return nil, err
	}
	if err := m.do.Checks.RerequestSuite(to, a, byIdentity(o)); err != nil {
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
	var all []checkrun.Preference
	for _, v := range list {
		one, _ := v.(map[string]any)
		id, _ := one["appId"].(string)
		kind, number, _, ok := parseNode(id)
		if !ok || kind != "Integration" {
			return nil, unresolvedNode(id)
		}
		all = append(all, checkrun.Preference{AppID: account.AppID(number), Auto: one["setting"] == true})
	}
	to, a, err := m.change(ctx, in, "PATCH /repos/{owner}/{repo}/check-suites/preferences")
	if err != nil {
		return nil, err
	}
	_, err = m.do.Checks.Prefer(to, a, all)
	return map[string]any{"repository": in}, err
}

// updateSubscription changes the caller's subscription to a repository, an issue or a pull request.
func updateSubscription(ctx context.Context, m *mutation) (map[string]any, error) {
	o, err := m.target(ctx, "subscribableId", "Repository", "Issue", "PullRequest")
	if err != nil {
		return nil, err
	}
	method, watch, wish := "PUT ", star.Everything, subscription.Subscribe
	switch m.text("state") {
	case "UNSUBSCRIBED":
		method, watch, wish = "DELETE ", star.NoWish, subscription.Unsubscribe
	case "IGNORED":
		watch, wish = star.Nothing, subscription.Ignore
	}
	if o.kind == "Repository" {
		to, a, err := m.change(ctx, o, method+"/repos/{owner}/{repo}/subscription")
		if err == nil {
			_, err = m.do.Stars.Subscribe(to, a, watch)
		}
		if err != nil {
			return nil, err
		}
	} else {
		to, a, err := m.change(ctx, o.repo, method+"/repos/{owner}/{repo}/issues/{number}/subscription")
		if err == nil {
			_, err = m.do.Subscriptions.Subscribe(to, a, byNumber(o), wish)
		}
		if err != nil {
			return nil, err
		}
	}
	fresh, err := m.again(ctx, o)
	return map[string]any{"subscribable": fresh}, err
}
