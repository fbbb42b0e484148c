package seed

import (
	"context"
	"reflect"

	"go.yaml.in/yaml/v4"
)

// Protection protects a branch once everything else has happened in its repository.
type Protection struct {
	position
	Branch        string   `seed:"branch,required"`
	Approvals     *int64   `seed:"approvals"` // nil: pull requests are not required
	DismissStale  bool     `seed:"dismiss_stale"`
	LastPush      bool     `seed:"last_push"`
	Checks        []string `seed:"checks"`
	Strict        bool     `seed:"strict"`
	Linear        bool     `seed:"linear_history"`
	Signatures    bool     `seed:"signatures"`
	Conversations bool     `seed:"conversations"`
	Admins        bool     `seed:"admins"`
	ForcePushes   bool     `seed:"force_pushes"`
	Deletions     bool     `seed:"deletions"`
	Locked        bool     `seed:"locked"`
	Pushers       []string `seed:"pushers"`
}

// Ruleset is a ruleset with rules as in the API.
type Ruleset struct {
	position
	Name        string   `seed:"name,required"`
	Target      string   `seed:"target" enum:"branch,tag,push"`
	Enforcement string   `seed:"enforcement" enum:"disabled,evaluate,active"`
	Include     []string `seed:"include"`
	Exclude     []string `seed:"exclude"`
	Rules       []Rule   `seed:"rules,required"`
}

// Rule is a rule. It is a type, or a mapping.
type Rule struct {
	position
	Type       string     `seed:"type,required"`
	Parameters Parameters `seed:"parameters"`
}

func (r *Rule) fromYAML(d *decoder, n *yaml.Node, path string) {
	if !d.brief(n, path, &r.Type, &r.position) {
		d.mapping(n, path, reflect.ValueOf(r).Elem())
	}
}

// Parameters are the parameters of a rule, which the API knows.
type Parameters struct{ values map[string]any }

func (p *Parameters) fromYAML(d *decoder, n *yaml.Node, path string) {
	if _, ok := d.pairs(n, path); !ok {
		return
	}
	if err := n.Decode(&p.values); err != nil {
		d.wrong(n, path, "must be a mapping")
	}
}

// rules creates the protections and rulesets of a repository.
func (a *applier) rules(ctx context.Context, r *Repo) error {
	for i := range r.Protections {
		p := &r.Protections[i]
		body := fields{"required_status_checks": nil, "required_pull_request_reviews": nil, "restrictions": nil,
			"enforce_admins": p.Admins, "required_linear_history": p.Linear, "required_signatures": p.Signatures,
			"required_conversation_resolution": p.Conversations, "allow_force_pushes": p.ForcePushes,
			"allow_deletions": p.Deletions, "lock_branch": p.Locked}
		if len(p.Checks) > 0 {
			body["required_status_checks"] = fields{"strict": p.Strict, "contexts": p.Checks}
		}
		if p.Approvals != nil {
			body["required_pull_request_reviews"] = fields{"required_approving_review_count": *p.Approvals,
				"dismiss_stale_reviews": p.DismissStale, "require_last_push_approval": p.LastPush}
		}
		if p.lines["pushers"] > 0 {
			body["restrictions"] = fields{"users": append([]string{}, p.Pushers...), "teams": []string{}}
		}
		err := a.send(ctx, r.admin, "PUT", r.path("branches", p.Branch, "protection"), body, nil)
		if err != nil {
			return a.s.errorAt(&p.position, err)
		}
	}
	for i := range r.Rulesets {
		s := &r.Rulesets[i]
		rules := make([]fields, len(s.Rules))
		for k, rule := range s.Rules {
			if rules[k] = (fields{"type": rule.Type}); rule.Parameters.values != nil {
				rules[k]["parameters"] = rule.Parameters.values
			}
		}
		body := fields{"name": s.Name, "enforcement": "active", "rules": rules}.text("target", s.Target).text(
			"enforcement", s.Enforcement)
		if s.Target != "push" {
			body["conditions"] = fields{"ref_name": fields{"include": append([]string{}, s.Include...),
				"exclude": append([]string{}, s.Exclude...)}}
		}
		if err := a.send(ctx, r.admin, "POST", r.path("rulesets"), body, nil); err != nil {
			return a.s.errorAt(&s.position, err)
		}
	}
	return nil
}
