package graphql

import (
	"context"
	"maps"
	"strings"

	"arbor/internal/account"
	"arbor/internal/checkrun"
	"arbor/internal/issue/subscription"
	"arbor/internal/repo"
	"arbor/internal/star"
	"arbor/internal/web"
)

// below returns an error unless what an input names is in the repository that the input names, too.
func (m *mutation) below(ctx context.Context, name, kind string) error {
	in, err := m.target(ctx, "repositoryId", "Repository")
	if err != nil {
		return err
	}
	o, err := m.target(ctx, name, kind)
	if err != nil {
		return err
	}
	if err := m.identify(ctx, in); err != nil {
		return err
	}
	if err = m.identify(ctx, o.repo); err == nil && o.repo.id != in.id {
		err = unresolvedNode(m.text(name))
	}
	return err
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
	var made *checkrun.Run
	in, err := m.act(ctx, "repositoryId", "Repository", "POST /repos/{owner}/{repo}/check-runs",
		func(ctx context.Context, a *repo.Access, _ *object) error {
			body, err := m.run()
			if err != nil {
				return err
			}
			sha, change, err := checkrun.ReadNew(body)
			if err == nil {
				made, err = m.do.Checks.Create(ctx, a, sha, change)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	run, err := m.shown(ctx, "CheckRun", in, spot{}, made.ID)
	return map[string]any{"checkRun": run}, err
}

func updateCheckRun(ctx context.Context, m *mutation) (map[string]any, error) {
	if err := m.below(ctx, "checkRunId", "CheckRun"); err != nil {
		return nil, err
	}
	return m.actShown(ctx, "checkRun", "checkRunId", "CheckRun", "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
		func(ctx context.Context, a *repo.Access, o *object) error {
			body, err := m.run()
			if err != nil {
				return err
			}
			change, err := checkrun.ReadChange(body)
			if err == nil {
				_, err = m.do.Checks.Edit(ctx, a, byID(o), change)
			}
			return err
		})
}

func createCheckSuite(ctx context.Context, m *mutation) (map[string]any, error) {
	var made *checkrun.Suite
	in, err := m.act(ctx, "repositoryId", "Repository", "POST /repos/{owner}/{repo}/check-suites",
		func(ctx context.Context, a *repo.Access, _ *object) error {
			sha, err := checkrun.ParseSHA(m.text("headSha"))
			if err == nil {
				made, _, err = m.do.Checks.CreateSuite(ctx, a, sha)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	suite, err := m.shown(ctx, "CheckSuite", in, spot{}, made.ID)
	return map[string]any{"checkSuite": suite}, err
}

func rerequestCheckSuite(ctx context.Context, m *mutation) (map[string]any, error) {
	if err := m.below(ctx, "checkSuiteId", "CheckSuite"); err != nil {
		return nil, err
	}
	return m.actShown(ctx, "checkSuite", "checkSuiteId", "CheckSuite",
		"POST /repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest",
		func(ctx context.Context, a *repo.Access, o *object) error {
			return m.do.Checks.RerequestSuite(ctx, a, byID(o))
		})
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
