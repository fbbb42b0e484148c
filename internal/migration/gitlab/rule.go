package gitlab

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// GitLab's levels of access.
const (
	nobody     = 0
	reporter   = 20
	developer  = 30
	maintainer = 40
	owner      = 50
)

// protectionAnswer is GitLab's protection of the branches that a pattern names.
type protectionAnswer struct {
	Name       string  `json:"name"`
	Push       []level `json:"push_access_levels"`
	Merge      []level `json:"merge_access_levels"`
	ForcePush  bool    `json:"allow_force_push"`
	CodeOwners bool    `json:"code_owner_approval_required"`
}

// level says who may do something: all from a level on, or one user, group or key.
type level struct {
	Level  int64  `json:"access_level"`
	User   *int64 `json:"user_id"`
	Group  *int64 `json:"group_id"`
	Key    *int64 `json:"deploy_key_id"`
	Member *int64 `json:"member_role_id"`
}

// named reports whether the level is that of one user, group, role or key.
func (l *level) named() bool {
	return l.User != nil || l.Group != nil || l.Key != nil || l.Member != nil
}

// lowest returns the lowest level in a list, nobody if there is none, and whether the list names others
// besides.
func lowest(list []level) (at int64, others bool) {
	for _, l := range list {
		switch {
		case l.named():
			others = true
		case l.Level > nobody && (at == nobody || l.Level < at):
			at = l.Level
		}
	}
	return at, others
}

// rules reads protections of branches and tags.
func (s *Source) rules(ctx context.Context) error {
	err := each(ctx, s.Client, s.path+"/protected_branches", func(p *protectionAnswer) error {
		body, err := json.Marshal(s.body(p))
		if err != nil {
			return err
		}
		return s.Out.Add(migration.Rulesets, &migration.Ruleset{ID: "protection " + p.Name, Protection: true,
			Name: p.Name, Target: "branch", Enforcement: "active", Body: body})
	})
	if err = s.LeaveAbsent("protections of branches", err); err != nil {
		return err
	}
	type tag struct {
		Name string `json:"name"`
	}
	err = each(ctx, s.Client, s.path+"/protected_tags", func(t *tag) error {
		s.Leave("the protection of the tags %.100q: make a ruleset for them", t.Name)
		return nil
	})
	if remote.Absent(err) { // the line about branches says why
		err = nil
	}
	return err
}

// body converts a protection to rules. Whoever may write may push where developers may at GitLab, else
// everybody needs a pull request. A right that the rules cannot express is refused, a condition is dropped;
// Left lists these.
func (s *Source) body(p *protectionAnswer) remote.Entry {
	rules := []remote.Entry{remote.Rule("deletion", nil)}
	push, pushers := lowest(p.Push)
	merge, mergers := lowest(p.Merge)
	free := push != nobody && push <= developer
	if !free || p.CodeOwners {
		rules = append(rules, remote.Rule("pull_request", remote.Entry{"dismiss_stale_reviews_on_push": false,
			"required_approving_review_count": 0, "require_code_owner_review": p.CodeOwners,
			"require_last_push_approval": false}))
	}
	if !p.ForcePush {
		rules = append(rules, remote.Rule("non_fast_forward", nil))
	}
	if s.about.Resolved {
		rules = append(rules, remote.Rule("required_conversation_resolution", nil))
	}
	for _, left := range []struct {
		is   bool
		what string
	}{
		{push > developer, "that maintainers may push without a pull request"},
		{free && p.CodeOwners, "that everybody may push without a pull request"},
		{pushers && !free, "single users, groups and keys who may push without a pull request"},
		{merge > developer || merge == nobody && len(p.Merge) > 0, "that only some may merge"},
		{mergers, "single users and groups who may merge"},
		{s.about.Pipeline, "that a pipeline must succeed"},
	} {
		if left.is {
			s.Leave("protection of %.100q: %s", p.Name, left.what)
		}
	}
	return remote.Protection(rules)
}

// hooks reads webhooks, whose secrets no server tells.
func (s *Source) hooks(ctx context.Context) error {
	names := map[string]string{"push_events": "push", "tag_push_events": "create", "issues_events": "issues",
		"note_events": "issue_comment", "merge_requests_events": "pull_request", "releases_events": "release",
		"wiki_page_events": "gollum"}
	err := each(ctx, s.Client, s.path+"/hooks", func(h *map[string]any) error {
		id, _ := (*h)["id"].(float64)
		address, _ := (*h)["url"].(string)
		verified, said := (*h)["enable_ssl_verification"].(bool)
		out := &migration.Hook{ID: strconv.FormatInt(int64(id), 10), URL: address, ContentType: "json",
			Insecure: said && !verified, Active: true}
		for there, here := range names {
			if on, _ := (*h)[there].(bool); on {
				out.Events = append(out.Events, here)
			}
		}
		slices.Sort(out.Events)
		return s.Out.Add(migration.Hooks, out)
	})
	return s.LeaveAbsent("webhooks", err)
}
