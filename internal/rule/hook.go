package rule

import (
	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/hook"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// branchRuleJSON is GitHub's branch_protection_rule of webhooks.
type branchRuleJSON struct {
	ID            int64    `json:"id"`
	RepoID        repo.ID  `json:"repository_id"`
	Name          string   `json:"name"`
	CreatedAt     db.Time  `json:"created_at"`
	UpdatedAt     db.Time  `json:"updated_at"`
	Reviews       string   `json:"pull_request_reviews_enforcement_level"`
	Approvals     int64    `json:"required_approving_review_count"`
	DismissStale  bool     `json:"dismiss_stale_reviews_on_push"`
	CodeOwners    bool     `json:"require_code_owner_review"`
	Dismissers    bool     `json:"authorized_dismissal_actors_only"`
	Ignore        bool     `json:"ignore_approvals_from_contributors"`
	Contexts      []string `json:"required_status_checks"`
	Checks        string   `json:"required_status_checks_enforcement_level"`
	Strict        bool     `json:"strict_required_status_checks_policy"`
	Signatures    string   `json:"signature_requirement_enforcement_level"`
	Linear        string   `json:"linear_history_requirement_enforcement_level"`
	Admins        bool     `json:"admin_enforced"`
	ForcePushes   string   `json:"allow_force_pushes_enforcement_level"`
	Deletions     string   `json:"allow_deletions_enforcement_level"`
	MergeQueue    string   `json:"merge_queue_enforcement_level"`
	Deployments   string   `json:"required_deployments_enforcement_level"`
	Conversations string   `json:"required_conversation_resolution_level"`
	Restricted    bool     `json:"authorized_actors_only"`
	Pushers       []string `json:"authorized_actor_names"`
}

// tell records the webhook events of a change. before is nil for a new ruleset, after for a deleted one.
func tell(tx *db.Tx, o Owner, before, after *Ruleset) error {
	some, e := after, hook.Event{Name: "repository_ruleset", Action: "edited", Actor: o.by}
	switch {
	case before == nil:
		e.Action = "created"
	case after == nil:
		some, e.Action = before, "deleted"
	}
	if some.Protection {
		e.Name = "branch_protection_rule"
	}
	info, err := o.listening(tx, e.Name)
	if err != nil || info == nil {
		return err
	}
	if some.Protection {
		var rule *branchRuleJSON
		if rule, err = newBranchRule(tx, some); err == nil {
			e.About.Parts, err = hook.Part("rule", rule)
		}
	} else {
		e.About.Parts, err = hook.Part("repository_ruleset", newFullRulesetJSON(some, o.source, false, info))
	}
	if err != nil {
		return err
	}
	if o.org != 0 {
		return hook.RecordForOwner(tx, o.org, 0, e)
	}
	return hook.Record(tx, o.repo, e)
}

// listening returns how addresses in payloads begin if somebody wants to know of an event, else nil.
func (o *Owner) listening(tx *db.Tx, event string) (*web.Info, error) {
	if o.org != 0 {
		return hook.ListeningOwner(tx, o.org, event)
	}
	return hook.Listening(tx, o.repo, event)
}

func newBranchRule(tx *db.Tx, r *Ruleset) (*branchRuleJSON, error) {
	p := AsProtection(r)
	level := func(is bool) string {
		switch {
		case !is:
			return "off"
		case p.Admins:
			return "everyone"
		}
		return "non_admins"
	}
	out := &branchRuleJSON{ID: r.ID, RepoID: r.RepoID, Name: r.Name, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		Reviews: level(p.Reviews != nil), Contexts: []string{}, Checks: level(p.Checks != nil),
		Signatures: level(p.Signatures), Linear: level(p.Linear), Admins: p.Admins, ForcePushes: level(p.ForcePushes),
		Deletions: level(p.Deletions), MergeQueue: "off", Deployments: "off", Conversations: level(p.Conversations),
		Restricted: p.Restricted, Pushers: []string{}}
	if v := p.Reviews; v != nil {
		out.Approvals, out.DismissStale, out.CodeOwners = v.Approvals, v.DismissStale, v.CodeOwners
		out.Dismissers = v.Dismissers != nil
	}
	if p.Checks != nil {
		out.Contexts, out.Strict = p.Checks.Contexts(), p.Checks.Strict
	}
	people, err := account.ByIDs(tx, p.Pushers.Users)
	for _, id := range p.Pushers.Users {
		if user := people[id]; user != nil {
			out.Pushers = append(out.Pushers, user.Login)
		}
	}
	if err != nil {
		return nil, err
	}
	teams, err := team.Closed(tx, p.Pushers.Teams)
	for _, id := range p.Pushers.Teams {
		if one := teams[id]; one != nil {
			out.Pushers = append(out.Pushers, one.Slug)
		}
	}
	if err != nil {
		return nil, err
	}
	apps, err := app.ByIDs(tx, p.Pushers.Apps)
	for _, id := range p.Pushers.Apps {
		if one := apps[id]; one != nil {
			out.Pushers = append(out.Pushers, one.Slug)
		}
	}
	return out, err
}
