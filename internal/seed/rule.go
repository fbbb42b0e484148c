package seed

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"arbor/internal/account"
	"arbor/internal/rule"
	"arbor/internal/team"
	"arbor/internal/web"
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
	Pushers       []string `seed:"pushers"` // logins and ORG/TEAM, as in the next two
	Bypass        []string `seed:"bypass"`
	Dismissers    []string `seed:"dismissers"`
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
	Bypass      []Bypass `seed:"bypass"`
}

// Bypass is who may bypass a ruleset: a user, a team or a role. It is a login or ORG/TEAM, or a mapping.
type Bypass struct {
	position
	Actor string `seed:"actor"` // a login or ORG/TEAM
	Role  string `seed:"role" enum:"write,maintain,admin,owner"`
	Mode  string `seed:"mode" enum:"always,pull_request"`
}

func (b *Bypass) fromYAML(d *decoder, n *yaml.Node, path string) {
	if !d.brief(n, path, &b.Actor, &b.position) {
		d.mapping(n, path, reflect.ValueOf(b).Elem())
	}
}

// checkRules checks whom the rules of a repository name.
func (c *checker) checkRules(r *Repo) {
	for i := range r.Protections {
		p := &r.Protections[i]
		c.actors(r, &p.position, "pushers", p.Pushers...)
		c.actors(r, &p.position, "bypass", p.Bypass...)
		c.actors(r, &p.position, "dismissers", p.Dismissers...)
		if p.Approvals == nil && len(p.Bypass)+len(p.Dismissers) > 0 {
			c.wrong(&p.position, "approvals", "is missing: bypass and dismissers are about reviews")
		}
	}
	for i := range r.Rulesets {
		for k := range r.Rulesets[i].Bypass {
			b := &r.Rulesets[i].Bypass[k]
			switch {
			case (b.Actor == "") == (b.Role == ""):
				c.wrong(&b.position, "", "want an actor or a role")
			case b.Actor != "":
				c.actors(r, &b.position, "actor", b.Actor)
			}
		}
	}
}

// actors checks users and teams of the repository's organization.
func (c *checker) actors(r *Repo, p *position, key string, names ...string) {
	for _, name := range names {
		org, slug, isTeam := strings.Cut(name, "/")
		if !isTeam {
			c.known(p, key, name)
			continue
		}
		o := c.orgs[account.Fold(org)]
		if o == nil || account.Fold(org) != account.Fold(r.owner) || !slices.ContainsFunc(o.Teams, func(t Team) bool {
			return team.Slug(t.Name) == account.Fold(slug)
		}) {
			c.wrong(p, key, "team %q of the repository's organization not found", name)
		}
	}
}

// actorsOf are users and teams as protections name them.
func actorsOf(names []string) fields {
	n := rule.ParseActors(names)
	return fields{"users": append([]string{}, n.Users...), "teams": append([]string{}, n.Teams...)}
}

// GitHub's numbers of roles.
var roleNumbers = map[string]int64{"maintain": 2, "write": 4, "admin": 5}

// bypass makes the bypass actors of a ruleset.
func (a *applier) bypass(ctx context.Context, r *Repo, list []Bypass) ([]fields, error) {
	made := make([]fields, len(list))
	for n, b := range list {
		f := fields{"bypass_mode": "always"}.text("bypass_mode", b.Mode)
		path, kind := web.Path("users", b.Actor), "User"
		if org, slug, is := strings.Cut(b.Actor, "/"); is {
			path, kind = web.Path("orgs", org, "teams", slug), "Team"
		}
		switch {
		case b.Role == "owner":
			f["actor_type"], f["actor_id"] = "OrganizationAdmin", 1
		case b.Role != "":
			f["actor_type"], f["actor_id"] = "RepositoryRole", roleNumbers[b.Role]
		default:
			var found struct{ ID int64 }
			if err := a.send(ctx, r.admin, "GET", path, nil, &found); err != nil {
				return nil, err
			}
			f["actor_type"], f["actor_id"] = kind, found.ID
		}
		made[n] = f
	}
	return made, nil
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
			reviews := fields{"required_approving_review_count": *p.Approvals,
				"dismiss_stale_reviews": p.DismissStale, "require_last_push_approval": p.LastPush}
			if len(p.Bypass) > 0 {
				reviews["bypass_pull_request_allowances"] = actorsOf(p.Bypass)
			}
			if p.lines["dismissers"] > 0 {
				reviews["dismissal_restrictions"] = actorsOf(p.Dismissers)
			}
			body["required_pull_request_reviews"] = reviews
		}
		if p.lines["pushers"] > 0 {
			body["restrictions"] = actorsOf(p.Pushers)
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
		bypass, err := a.bypass(ctx, r, s.Bypass)
		if err != nil {
			return a.s.errorAt(&s.position, err)
		}
		if len(bypass) > 0 {
			body["bypass_actors"] = bypass
		}
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
