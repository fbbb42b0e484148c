package graphql

import (
	"context"
	"strings"
	"unicode"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/rule"
	"arbor/internal/web"
)

func createRuleset(ctx context.Context, m *mutation) (map[string]any, error) {
	in, err := m.target(ctx, "sourceId", "Repository", "Organization")
	if err != nil {
		return nil, err
	}
	to, owner, err := m.rulesetOwner(ctx, in, "POST", "")
	if err != nil {
		return nil, err
	}
	body, err := m.rulesetBody()
	if err != nil {
		return nil, err
	}
	set, err := rule.ReadNew(body, in.kind == "Organization")
	if err == nil {
		err = m.do.Rules.Create(to, owner, set)
	}
	if err != nil {
		return nil, err
	}
	return m.rulesetPayload(ctx, in, set.ID)
}

func updateRuleset(ctx context.Context, m *mutation) (map[string]any, error) {
	o, in, err := m.rulesetTarget(ctx)
	if err != nil {
		return nil, err
	}
	to, owner, err := m.rulesetOwner(ctx, in, "PUT", "/{ruleset_id}")
	if err != nil {
		return nil, err
	}
	body, err := m.rulesetBody()
	if err != nil {
		return nil, err
	}
	_, err = m.do.Rules.Edit(to, owner, o.id, func(s *rule.Ruleset) error {
		return rule.ReadChange(body, s, in.kind == "Organization")
	})
	if err != nil {
		return nil, err
	}
	return m.rulesetPayload(ctx, in, o.id)
}

func deleteRuleset(ctx context.Context, m *mutation) (map[string]any, error) {
	o, in, err := m.rulesetTarget(ctx)
	if err != nil {
		return nil, err
	}
	to, owner, err := m.rulesetOwner(ctx, in, "DELETE", "/{ruleset_id}")
	if err == nil {
		err = m.do.Rules.Delete(to, owner, o.id)
	}
	return map[string]any{}, err
}

// rulesetTarget returns the ruleset that an input names, and the repository or organization that it belongs to.
func (m *mutation) rulesetTarget(ctx context.Context) (set, in *object, err error) {
	set, err = m.target(ctx, "repositoryRulesetId", "RepositoryRuleset")
	if err != nil {
		return nil, nil, err
	}
	if set.repo == nil {
		return set, set.of, nil
	}
	return set, set.repo, nil
}

// rulesetOwner returns the owner of rulesets for a change, with the rights of REST's route.
func (m *mutation) rulesetOwner(
	ctx context.Context, in *object, method, rest string,
) (context.Context, rule.Owner, error) {
	if in.kind == "Organization" {
		to, caller, err := m.own(ctx, method+" /orgs/{org}/rulesets"+rest)
		if err != nil {
			return to, rule.Owner{}, err
		}
		owner, err := m.do.Rules.OfOrg(to, caller, in.name)
		return to, owner, err
	}
	to, a, err := m.change(ctx, in, method+" /repos/{owner}/{repo}/rulesets"+rest)
	if err != nil {
		return to, rule.Owner{}, err
	}
	return to, rule.OfRepository(a), nil
}

// rulesetPayload returns a ruleset as it is after a change.
func (m *mutation) rulesetPayload(ctx context.Context, in *object, id int64) (map[string]any, error) {
	m.forget()
	if in.kind == "Organization" {
		list, err := rulesetsOf(ctx, in)
		for _, set := range list {
			if set.id == id {
				return map[string]any{"ruleset": set}, nil
			}
		}
		return nil, err
	}
	rules, err := rulesIn(m.query).get(ctx, m.query, in)
	if err != nil {
		return nil, err
	}
	set := rules.Find(id, false)
	if set == nil {
		return nil, errs.Absent()
	}
	return map[string]any{"ruleset": newRuleset(in, set, rules)}, nil
}

// rulesetBody returns the fields of a ruleset that an input has, under the names of REST.
func (m *mutation) rulesetBody() (*web.Object, error) {
	body := renamed(m.input, map[string]string{"name": "name"})
	for _, name := range [...]string{"enforcement", "target"} {
		if m.given(name) {
			body[name] = strings.ToLower(m.text(name))
		}
	}
	if conditions, given := m.input["conditions"].(map[string]any); given {
		body["conditions"] = snakeCased(conditions)
	}
	var err error
	if list, given := m.input["rules"].([]any); given {
		if body["rules"], err = ruleBodies(list); err != nil {
			return nil, err
		}
	}
	if list, given := m.input["bypassActors"].([]any); given {
		if body["bypass_actors"], err = bypassBodies(list); err != nil {
			return nil, err
		}
	}
	return bodyOf(rule.Resource, body)
}

// ruleBodies returns rules of an input as REST has them. The parameters are in the member of the rule's type.
func ruleBodies(list []any) ([]any, error) {
	out := []any{}
	for _, v := range list {
		one, _ := v.(map[string]any)
		word, _ := one["type"].(string)
		body := map[string]any{"type": strings.ToLower(word)}
		parameters, _ := one["parameters"].(map[string]any)
		for name, given := range parameters {
			if given == nil {
				continue
			}
			if enumName(snakeCase(name)) != word {
				return nil, refused("parameters of " + word + " cannot have " + name + ".")
			}
			body["parameters"] = snakeCased(given)
			if p, is := body["parameters"].(map[string]any); is {
				if methods, is := p["allowed_merge_methods"].([]any); is {
					for n := range methods {
						methods[n] = strings.ToLower(methods[n].(string))
					}
				}
			}
		}
		out = append(out, body)
	}
	return out, nil
}

// bypassBodies returns the actors of an input as REST has them.
func bypassBodies(list []any) ([]any, error) {
	out := []any{}
	for _, v := range list {
		one, _ := v.(map[string]any)
		mode, _ := one["bypassMode"].(string)
		body := map[string]any{"bypass_mode": strings.ToLower(mode)}
		id, _ := one["actorId"].(string)
		role, isRole := one["repositoryRoleDatabaseId"].(int)
		switch {
		case id != "":
			kind, number, _, ok := parseNode(id)
			if !ok || kind != "Team" && kind != "Integration" && kind != "User" {
				return nil, unresolvedNode(id)
			}
			body["actor_type"], body["actor_id"] = kind, number
		case isRole:
			body["actor_type"], body["actor_id"] = "RepositoryRole", role
		case one["organizationAdmin"] == true:
			body["actor_type"] = "OrganizationAdmin"
		case one["deployKey"] == true:
			body["actor_type"] = "DeployKey"
		case one["enterpriseOwner"] == true:
			return nil, refused("Arbor has no enterprises.")
		default:
			return nil, refused("A bypass actor needs actorId, repositoryRoleDatabaseId, organizationAdmin or deployKey.")
		}
		out = append(out, body)
	}
	return out, nil
}

// snakeCased returns a value of an input with the names of REST, without nulls.
func snakeCased(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, value := range v {
			if value != nil {
				out[snakeCase(name)] = snakeCased(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for n := range v {
			out[n] = snakeCased(v[n])
		}
		return out
	}
	return v
}

// snakeCase returns requiredStatusChecks as required_status_checks.
func snakeCase(name string) string {
	var b strings.Builder
	for _, c := range name {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// findOrgRules finds the rulesets of organizations by their ids, for their owners.
func (q *query) findOrgRules(ctx context.Context, places map[int64]account.ID) map[int64]*object {
	var ids []int64
	for _, org := range places {
		ids = append(ids, int64(org))
	}
	orgs, err := q.accountsByID(ctx, ids)
	if err != nil {
		return nil
	}
	var in []*object
	for _, a := range orgs {
		in = append(in, fullAccount(a))
	}
	organizationRules().loadPage(ctx, q, in, 1, 1)
	found := map[int64]*object{}
	for _, org := range in {
		list, err := rulesetsOf(ctx, org)
		if err != nil {
			continue
		}
		for _, set := range list {
			if places[set.id] != 0 {
				found[set.id] = set
			}
		}
	}
	return found
}
