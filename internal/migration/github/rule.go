package github

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// The body of a ruleset in an export is that of GitHub's API, with names in the place of ids. The API gives ids of
// teams and Apps, which nobody can look up, so such actors do not come: they may do less here than there.

// body is the body of a ruleset.
type body struct {
	Refs   any   `json:"refs"`
	Rules  []any `json:"rules"`
	Bypass []any `json:"bypass"`
}

// rules reads rulesets of the repository, and protections of its branches.
func (s *Source) rules(ctx context.Context) error {
	type set struct {
		ID int64 `json:"id"`
	}
	err := each(ctx, s.Client, s.path+"/rulesets?includes_parents=false", func(r *set) error { return s.ruleset(ctx, r.ID) })
	if remote.Absent(err) {
		s.Leave("rulesets: %v", err)
	} else if err != nil {
		return err
	}
	err = each(ctx, s.Client, s.path+"/branches?protected=true", func(b *named) error { return s.protection(ctx, b.Name) })
	if remote.Absent(err) {
		s.Leave("protections of branches: %v", err)
		return nil
	}
	return err
}

func (s *Source) ruleset(ctx context.Context, id int64) error {
	var r struct {
		Name        string         `json:"name"`
		Target      string         `json:"target"`
		Enforcement string         `json:"enforcement"`
		Rules       []remote.Entry `json:"rules"`
		Bypass      []remote.Entry `json:"bypass_actors"`
		Conditions  struct {
			Refs any `json:"ref_name"`
		} `json:"conditions"`
	}
	if err := s.Get(ctx, s.path+"/rulesets/"+strconv.FormatInt(id, 10), &r); err != nil {
		return err
	}
	b := body{Refs: r.Conditions.Refs, Rules: []any{}, Bypass: []any{}}
	if b.Refs == nil {
		b.Refs = remote.Entry{"include": []string{}, "exclude": []string{}}
	}
	for _, rule := range r.Rules {
		delete(rule, "ruleset_source_type")
		delete(rule, "ruleset_source")
		delete(rule, "ruleset_id")
		if p, ok := rule["parameters"].(map[string]any); ok && rule["type"] == "required_status_checks" {
			s.withoutApps(p["required_status_checks"], r.Name)
		}
		b.Rules = append(b.Rules, rule)
	}
	for _, actor := range r.Bypass {
		switch actor["actor_type"] {
		case "RepositoryRole", "OrganizationAdmin", "DeployKey":
			if actor["actor_id"] == nil {
				actor["actor_id"] = 1
			}
			b.Bypass = append(b.Bypass, actor)
		default:
			s.Leave("ruleset %q: who may bypass it, by an id (%v)", r.Name, actor["actor_type"])
		}
	}
	return s.addRules(&migration.Ruleset{ID: strconv.FormatInt(id, 10), Name: r.Name, Target: r.Target,
		Enforcement: r.Enforcement}, b)
}

// withoutApps leaves out which App must set a status: the status itself is required.
func (s *Source) withoutApps(checks any, of string) {
	list, _ := checks.([]any)
	for _, one := range list {
		if check, ok := one.(map[string]any); ok && check["integration_id"] != nil {
			delete(check, "integration_id")
			s.Leave("rules of %q: which App must set the status %v", of, check["context"])
		}
	}
}

func (s *Source) addRules(r *migration.Ruleset, b body) (err error) {
	if r.Body, err = json.Marshal(b); err != nil {
		return err
	}
	return s.Out.Add(migration.Rulesets, r)
}

// actors are users, teams and Apps that a protection names.
type actors struct {
	Users []*remote.User `json:"users"`
	Teams []struct {
		Slug string `json:"slug"`
	} `json:"teams"`
	Apps []struct {
		Slug string `json:"slug"`
	} `json:"apps"`
}

// in writes the names of the actors into the parameters of a rule.
func (a *actors) in(p remote.People) remote.Entry {
	users, teams, apps := []string{}, []string{}, []string{}
	users = append(users, p.Logins(a.Users)...)
	for _, t := range a.Teams {
		teams = append(teams, t.Slug)
	}
	for _, x := range a.Apps {
		apps = append(apps, x.Slug)
	}
	return remote.Entry{"users": users, "teams": teams, "apps": apps}
}

type enabled struct {
	Enabled bool `json:"enabled"`
}

// protectionAnswer is GitHub's protection of a branch.
type protectionAnswer struct {
	Checks *struct {
		Strict   bool     `json:"strict"`
		Contexts []string `json:"contexts"`
	} `json:"required_status_checks"`
	Reviews *struct {
		DismissStale bool    `json:"dismiss_stale_reviews"`
		CodeOwners   bool    `json:"require_code_owner_reviews"`
		Approvals    int64   `json:"required_approving_review_count"`
		LastPush     bool    `json:"require_last_push_approval"`
		Dismissers   *actors `json:"dismissal_restrictions"`
		Exempt       *actors `json:"bypass_pull_request_allowances"`
	} `json:"required_pull_request_reviews"`
	Restrictions  *actors `json:"restrictions"`
	Admins        enabled `json:"enforce_admins"`
	Linear        enabled `json:"required_linear_history"`
	ForcePushes   enabled `json:"allow_force_pushes"`
	Deletions     enabled `json:"allow_deletions"`
	NoCreations   enabled `json:"block_creations"`
	Conversations enabled `json:"required_conversation_resolution"`
	Locked        enabled `json:"lock_branch"`
	ForkSyncing   enabled `json:"allow_fork_syncing"`
	Signatures    enabled `json:"required_signatures"`
}

// protection reads the protection of a branch. A branch that only rulesets protect has none.
func (s *Source) protection(ctx context.Context, branch string) error {
	var p protectionAnswer
	err := s.Get(ctx, s.path+"/branches/"+url.PathEscape(branch)+"/protection", &p)
	if remote.Absent(err) {
		s.Leave("the protection of the branch %q, unless a ruleset protects it: %v", branch, err)
		return nil
	}
	if err != nil {
		return err
	}
	return s.addRules(&migration.Ruleset{ID: "protection " + branch, Protection: true, Name: branch, Target: "branch",
		Enforcement: "active"}, p.body(s.People))
}

// body returns the protection as rules.
func (p *protectionAnswer) body(who remote.People) body {
	b := body{Refs: remote.Entry{"include": []string{}, "exclude": []string{}}, Rules: []any{}, Bypass: []any{}}
	add := func(is bool, kind string, parameters remote.Entry) {
		if !is {
			return
		}
		b.Rules = append(b.Rules, remote.Rule(kind, parameters))
	}
	if r := p.Reviews; r != nil {
		of := remote.Entry{"dismiss_stale_reviews_on_push": r.DismissStale, "require_code_owner_review": r.CodeOwners,
			"require_last_push_approval": r.LastPush, "required_approving_review_count": r.Approvals}
		if r.Dismissers != nil {
			of["dismissal_restrictions"] = r.Dismissers.in(who)
		}
		if r.Exempt != nil {
			of["bypass_pull_request_allowances"] = r.Exempt.in(who)
		}
		add(true, "pull_request", of)
	}
	if c := p.Checks; c != nil {
		checks := []remote.Entry{}
		for _, context := range c.Contexts {
			checks = append(checks, remote.Entry{"context": context})
		}
		add(true, "required_status_checks", remote.Entry{"required_status_checks": checks,
			"strict_required_status_checks_policy": c.Strict, "do_not_enforce_on_create": true})
	}
	if p.Restrictions != nil {
		pushers := p.Restrictions.in(who)
		pushers["block_creations"] = p.NoCreations.Enabled
		add(true, "push_restrictions", pushers)
	}
	add(p.NoCreations.Enabled && p.Restrictions == nil, "creation", nil)
	add(p.Locked.Enabled, "update", remote.Entry{"update_allows_fetch_and_merge": p.ForkSyncing.Enabled})
	add(!p.ForcePushes.Enabled, "non_fast_forward", nil)
	add(!p.Deletions.Enabled, "deletion", nil)
	add(p.Linear.Enabled, "required_linear_history", nil)
	add(p.Conversations.Enabled, "required_conversation_resolution", nil)
	add(p.Signatures.Enabled, "required_signatures", nil)
	if !p.Admins.Enabled {
		b.Bypass = append(b.Bypass, remote.Entry{"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "always"})
	}
	return b
}

// hooks reads webhooks, whose secrets no server tells.
func (s *Source) hooks(ctx context.Context) error {
	return s.LeaveAbsent("webhooks", each(ctx, s.Client, s.path+"/hooks", s.AddHook))
}
