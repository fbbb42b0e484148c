package graphql

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/graphql/exec"
	"arbor/internal/rule"
	"arbor/internal/web"
)

// organizationRules loads the rulesets of organizations, for their owners; others have an empty list.
func organizationRules() accountPager[*rule.Ruleset] {
	return listed("rulesets", "GET /orgs/{org}/rulesets", func(
		ctx context.Context, q *query, caller *account.Caller, org string, _ web.Page,
	) ([]*rule.Ruleset, int64, error) {
		owner, err := q.load.Rules.OfOrg(ctx, caller, org)
		if err != nil {
			return nil, 0, err
		}
		sets, err := q.load.Rules.List(ctx, owner)
		return sets, int64(len(sets)), err
	})
}

// rulesetsOf returns the rulesets of an organization as objects.
func rulesetsOf(ctx context.Context, o *object) ([]*object, error) {
	page, err := organizationRules().pageOf(ctx, queryOf(ctx), o, 1, 1)
	if err != nil || page == nil {
		return nil, err
	}
	list := make([]*object, len(page.Rows))
	for n, set := range page.Rows {
		list[n] = newRuleset(nil, set, nil)
		list[n].of = o
	}
	return list, nil
}

// organizationRulesets resolves the rulesets of an organization. Nothing is above it, so includeParents says nothing.
func organizationRulesets(ctx context.Context, f *exec.Field, o *object) (any, error) {
	list, err := rulesetsOf(ctx, o)
	if err != nil {
		return nil, err
	}
	if targets, ok := f.Args["targets"].([]any); ok {
		list = slices.DeleteFunc(list, func(set *object) bool {
			return !slices.Contains(targets, any(enumName(set.value.(rulesetOf).Target.String())))
		})
	}
	return connectAll(f, "RepositoryRulesetConnection", anyObjects(list))
}

// organizationRuleset resolves one ruleset of an organization by its database id, or null.
func organizationRuleset(ctx context.Context, f *exec.Field, o *object) (any, error) {
	list, err := rulesetsOf(ctx, o)
	for _, set := range list {
		if set.id == int64(f.Args["databaseId"].(int)) {
			return set, nil
		}
	}
	return nil, err
}
