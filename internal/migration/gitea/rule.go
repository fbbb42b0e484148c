package gitea

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// protectionAnswer is Gitea's protection of the branches that a pattern names.
type protectionAnswer struct {
	Branch           string   `json:"branch_name"` // of old versions
	Name             string   `json:"rule_name"`
	Push             bool     `json:"enable_push"` // without a pull request
	PushListed       bool     `json:"enable_push_whitelist"`
	Pushers          []string `json:"push_whitelist_usernames"`
	PushTeams        []string `json:"push_whitelist_teams"`
	PushKeys         bool     `json:"push_whitelist_deploy_keys"`
	ForcePush        bool     `json:"enable_force_push"`
	ForcePushListed  bool     `json:"enable_force_push_allowlist"`
	ForcePushers     []string `json:"force_push_allowlist_usernames"`
	ForcePushTeams   []string `json:"force_push_allowlist_teams"`
	MergeListed      bool     `json:"enable_merge_whitelist"`
	Mergers          []string `json:"merge_whitelist_usernames"`
	MergeTeams       []string `json:"merge_whitelist_teams"`
	Checked          bool     `json:"enable_status_check"`
	Contexts         []string `json:"status_check_contexts"`
	Approvals        int64    `json:"required_approvals"`
	ApprovalsListed  bool     `json:"enable_approvals_whitelist"`
	DismissStale     bool     `json:"dismiss_stale_approvals"`
	IgnoreStale      bool     `json:"ignore_stale_approvals"`
	UpToDate         bool     `json:"block_on_outdated_branch"`
	Signed           bool     `json:"require_signed_commits"`
	ProtectedFiles   string   `json:"protected_file_patterns"`
	UnprotectedFiles string   `json:"unprotected_file_patterns"`
	ReviewsRequested bool     `json:"block_on_official_review_requests"`
}

// rules reads protections of branches.
func (s *Source) rules(ctx context.Context) error {
	err := all(ctx, s.Client, s.path+"/branch_protections", func(p *protectionAnswer) error {
		if p.Name == "" {
			p.Name = p.Branch
		}
		body, err := json.Marshal(s.body(p))
		if err != nil {
			return err
		}
		return s.Out.Add(migration.Rulesets, &migration.Ruleset{ID: "protection " + p.Name, Protection: true, Name: p.Name,
			Target: "branch", Enforcement: "active", Body: body})
	})
	if err = s.LeaveAbsent("protections of branches", err); err != nil {
		return err
	}
	err = all(ctx, s.Client, s.path+"/tag_protections", func(p *struct {
		Pattern string `json:"name_pattern"`
	}) error {
		s.Leave("the protection of the tags %.100q: make a ruleset for them", p.Pattern)
		return nil
	})
	if remote.Absent(err) { // an old version has none
		err = nil
	}
	return err
}

// maxApprovals is the most that a rule requires, as at GitHub.
const maxApprovals = 10

// body converts a protection to rules. A right that the rules cannot express is refused. A condition that
// they cannot express is dropped. Left lists these. Nobody bypasses the rules: at Gitea, administrators may
// merge against a protection, but not push against it.
func (s *Source) body(p *protectionAnswer) remote.Entry {
	rules := []remote.Entry{{"type": "deletion"}}
	add := func(kind string, parameters remote.Entry) {
		rules = append(rules, remote.Rule(kind, parameters))
	}
	listed := p.Push && p.PushListed
	if !p.Push || listed || p.Approvals > 0 {
		of := remote.Entry{"dismiss_stale_reviews_on_push": p.DismissStale || p.IgnoreStale,
			"required_approving_review_count": min(max(p.Approvals, 0), maxApprovals), "require_code_owner_review": false,
			"require_last_push_approval": false}
		if listed {
			of["bypass_pull_request_allowances"] = remote.Actors(p.Pushers, p.PushTeams)
		}
		add("pull_request", of)
	}
	if p.MergeListed { // who may push without a pull request needs no other right
		users, teams := slices.Clone(p.Mergers), slices.Clone(p.MergeTeams)
		if listed {
			users, teams = append(users, p.Pushers...), append(teams, p.PushTeams...)
		}
		add("push_restrictions", remote.Actors(users, teams))
	}
	if checks := s.checks(p); len(checks) > 0 {
		add("required_status_checks", remote.Entry{"required_status_checks": checks,
			"strict_required_status_checks_policy": p.UpToDate, "do_not_enforce_on_create": true})
	}
	if !p.ForcePush || p.ForcePushListed {
		rules = append(rules, remote.Entry{"type": "non_fast_forward"})
		if p.ForcePush {
			add("bypass_force_push_allowances", remote.Actors(p.ForcePushers, p.ForcePushTeams))
		}
	}
	if p.Signed {
		rules = append(rules, remote.Entry{"type": "required_signatures"})
	}
	for _, left := range []struct {
		is   bool
		what string
	}{
		{p.Push && !p.PushListed && p.Approvals > 0, "that everybody may push without a pull request"},
		{p.PushKeys && listed, "that deploy keys may push"},
		{p.Approvals > maxApprovals, "more than 10 approvals"},
		{p.ApprovalsListed, "whose approvals count"},
		{p.ReviewsRequested, "that requested reviews must be there"},
		{p.ProtectedFiles+p.UnprotectedFiles != "", "patterns of files"},
		{p.UpToDate && !p.Checked, "that a branch must be up to date, without statuses"},
	} {
		if left.is {
			s.Leave("protection of %.100q: %s", p.Name, left.what)
		}
	}
	return remote.Protection(rules)
}

// checks returns the statuses that a protection requires.
func (s *Source) checks(p *protectionAnswer) (list []remote.Entry) {
	if !p.Checked {
		return nil
	}
	for _, context := range p.Contexts {
		if strings.ContainsAny(context, `*?[{\`) {
			s.Leave("protection of %.100q: statuses by the pattern %.100q", p.Name, context)
			continue
		}
		list = append(list, remote.Entry{"context": context})
	}
	return list
}

// hooks reads webhooks, whose secrets no server tells.
func (s *Source) hooks(ctx context.Context) error {
	return s.LeaveAbsent("webhooks", each(ctx, s.Client, s.path+"/hooks", s.AddHook))
}
