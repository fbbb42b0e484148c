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
func organizationRules() accountsPager[*rule.Ruleset] {
	return accountsPager[*rule.Ruleset]{"rulesets", "GET /orgs/{org}/rulesets", func(
		ctx context.Context, q *query, of []account.ID, _ web.Page,
	) (map[account.ID]*web.List[*rule.Ruleset], error) {
		may, err := q.load.Accounts.AccessTo(ctx, viewer(ctx), of)
		if err != nil {
			return nil, err
		}
		owned := slices.DeleteFunc(slices.Clone(of), func(id account.ID) bool { return !may[id].Owner })
		found, err := q.load.Rules.OfOrgs(ctx, owned)
		out := map[account.ID]*web.List[*rule.Ruleset]{}
		for id, sets := range found {
			out[id] = &web.List[*rule.Ruleset]{Rows: sets}
		}
		return out, err
	}}
}

// loadingRulesets wraps next so that the rulesets of all organizations are loaded together before.
func loadingRulesets(next func(ctx context.Context, f *exec.Field, o *object) (any, error)) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		organizationRules().loadPage(ctx, queryOf(ctx), objectsOf(parents), 1, 1)
		return one(next)(ctx, f, parents)
	}
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
