package graphql

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/graphql/exec"
	"arbor/internal/rule"
)

// rulesetOf is a ruleset as an object shows it.
type rulesetOf struct {
	*rule.Ruleset
	rules *rule.Rules
}

func newRuleset(in *object, set *rule.Ruleset, rules *rule.Rules) *object {
	return &object{kind: "RepositoryRuleset", id: set.ID, repo: in, whole: true, value: rulesetOf{set, rules}}
}

// rulesets resolves the rulesets of repositories, those of their owners included unless includeParents is false.
func rulesets(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	var targets []any
	if list, ok := f.Args["targets"].([]any); ok {
		targets = list
	}
	return rulesIn(queryOf(ctx)).values(ctx, parents, func(o *object, rules *rule.Rules) (any, error) {
		var all []any
		for _, set := range shownSets(f, rules) {
			if targets == nil || slices.Contains(targets, any(enumName(set.Target.String()))) {
				all = append(all, newRuleset(o, set, rules))
			}
		}
		return connectAll(f, "RepositoryRulesetConnection", all)
	})
}

// ruleset resolves one ruleset of repositories by its database id, or null.
func ruleset(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	return rulesIn(queryOf(ctx)).values(ctx, parents, func(o *object, rules *rule.Rules) (any, error) {
		for _, set := range shownSets(f, rules) {
			if set.ID == int64(f.Args["databaseId"].(int)) {
				return newRuleset(o, set, rules), nil
			}
		}
		return nil, nil
	})
}

func shownSets(f *exec.Field, rules *rule.Rules) (list []*rule.Ruleset) {
	if rules == nil {
		return nil
	}
	for _, set := range rules.Sets {
		if rules.Find(set.ID, false) == set && (set.OrgID == 0 || f.Args["includeParents"] != false) {
			list = append(list, set)
		}
	}
	return list
}

func rulesetFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id": key(nodeOf), "databaseId": key(func(o *object) any { return o.id }),
		"name":        pick(func(s rulesetOf) any { return s.Name }),
		"createdAt":   pick(func(s rulesetOf) any { return s.CreatedAt }),
		"updatedAt":   pick(func(s rulesetOf) any { return s.UpdatedAt }),
		"target":      pick(func(s rulesetOf) any { return enumName(s.Target.String()) }),
		"enforcement": pick(func(s rulesetOf) any { return enumName(s.Enforcement.String()) }),
		"conditions":  pick(func(s rulesetOf) any { return conditionsOf(s.Ruleset) }),
		"source": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			s := o.value.(rulesetOf)
			if s.rules == nil { // of an organization's list
				return o.of, nil
			}
			if s.OrgID != 0 {
				return person(ctx, &s.rules.In.Owner), nil
			}
			return o.repo, nil
		}),
		"rules": one(func(_ context.Context, f *exec.Field, o *object) (any, error) {
			var all []any
			for _, r := range o.value.(rulesetOf).Rules {
				kind := enumName(string(r.Kind))
				if wanted := f.Args["type"]; wanted == nil || wanted == kind {
					all = append(all, ruleOf(o, r))
				}
			}
			return connectAll(f, "RepositoryRuleConnection", all)
		}),
		"bypassActors": one(bypassActors),
	}
}

// ruleOf returns a rule of a ruleset.
func ruleOf(set *object, r rule.Rule) bare {
	return bare{"RepositoryRule", map[string]any{"type": enumName(string(r.Kind)), "repositoryRuleset": set,
		"id": account.NodeID("RepositoryRule", set.id) + string(r.Kind), "parameters": parametersOf(r)}}
}

// rulesOfRefs resolves the rules of active rulesets that apply to refs.
func rulesOfRefs(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	return rulesIn(queryOf(ctx)).values(ctx, parents, func(o *object, rules *rule.Rules) (any, error) {
		var list []ruleIn
		for _, set := range rules.On(o.name) {
			for _, r := range set.Rules {
				list = append(list, ruleIn{set, r})
			}
		}
		sortRules(f, list)
		all := make([]any, len(list))
		for n, r := range list {
			all[n] = ruleOf(newRuleset(o.repo, r.set, rules), r.rule)
		}
		return connectAll(f, "RepositoryRuleConnection", all)
	})
}

// ruleIn is a rule with its ruleset.
type ruleIn struct {
	set  *rule.Ruleset
	rule rule.Rule
}

// sortRules sorts rules by orderBy: by the times of their rulesets, for rules have none, or by types.
func sortRules(f *exec.Field, list []ruleIn) {
	order, ok := f.Args["orderBy"].(map[string]any)
	if !ok || isDefault(f, "orderBy", f.Args["orderBy"]) {
		return
	}
	slices.SortStableFunc(list, func(a, b ruleIn) int {
		if order["direction"] == "DESC" {
			a, b = b, a
		}
		switch order["field"] {
		case "TYPE":
			return strings.Compare(string(a.rule.Kind), string(b.rule.Kind))
		case "CREATED_AT":
			return cmp.Or(cmp.Compare(a.set.CreatedAt, b.set.CreatedAt), cmp.Compare(a.set.ID, b.set.ID))
		}
		return cmp.Or(cmp.Compare(a.set.UpdatedAt, b.set.UpdatedAt), cmp.Compare(a.set.ID, b.set.ID))
	})
}

func conditionsOf(s *rule.Ruleset) any {
	fields := map[string]any{}
	if s.Target != rule.AllRefs {
		fields["refName"] = bare{"RefNameConditionTarget", map[string]any{"include": anyTexts(s.Refs.Include),
			"exclude": anyTexts(s.Refs.Exclude)}}
	}
	if s.Repos != nil {
		fields["repositoryName"] = bare{"RepositoryNameConditionTarget", map[string]any{"protected": false,
			"include": anyTexts(s.Repos.Include), "exclude": anyTexts(s.Repos.Exclude)}}
	}
	return bare{"RepositoryRuleConditions", fields}
}

// roleNames are GitHub's names of roles by their numbers.
var roleNames = map[int64]string{1: "read", 2: "maintain", 3: "triage", 4: "write", 5: "admin"}

// bypassActors resolves the field of that name: null unless the viewer may change the ruleset. Users are left out,
// since GitHub's type has none.
func bypassActors(ctx context.Context, f *exec.Field, o *object) (any, error) {
	s := o.value.(rulesetOf)
	if s.rules == nil || s.rules.In.Role < account.Admin || s.OrgID != 0 {
		return nil, nil
	}
	all := make([]any, len(s.Bypass))
	for n, a := range s.Bypass {
		fields := map[string]any{"id": account.NodeID("RepositoryRulesetBypassActor", o.id) + decimal(int64(n)),
			"repositoryRuleset": o, "bypassMode": enumName(a.Mode), "deployKey": a.Type == rule.ByKey,
			"enterpriseOwner": false, "organizationAdmin": a.Type == rule.ByOwner}
		if a.Type == rule.ByRole {
			fields["repositoryRoleDatabaseId"], fields["repositoryRoleName"] = a.ID, roleNames[a.ID]
		}
		if a.Type == rule.ByTeam || a.Type == rule.ByApp {
			for _, one := range actorsOf(ctx, s.rules.Known.ShowBypasser(s.rules.In, a)) {
				fields["actor"] = one.value
			}
		}
		all[n] = bare{"RepositoryRulesetBypassActor", fields}
	}
	return connectAll(f, "RepositoryRulesetBypassActorConnection", all)
}

// patternTypes are the types of parameters of rules that compare texts.
var patternTypes = map[rule.Kind]string{rule.Message: "CommitMessagePatternParameters",
	rule.AuthorEmail: "CommitAuthorEmailPatternParameters", rule.CommitterEmail: "CommitterEmailPatternParameters",
	rule.BranchName: "BranchNamePatternParameters", rule.TagName: "TagNamePatternParameters"}

// parametersOf returns the parameters of a rule, or nil.
func parametersOf(r rule.Rule) any {
	switch p := r.Parameters.(type) {
	case *rule.PatternRule:
		return bare{patternTypes[r.Kind], map[string]any{"name": orNil(p.Name), "negate": p.Negate,
			"operator": p.Operator, "pattern": p.Pattern}}
	case *rule.PullRequestRule:
		fields := map[string]any{"dismissStaleReviewsOnPush": p.DismissStale, "requireCodeOwnerReview": p.CodeOwners,
			"requireLastPushApproval": p.LastPush, "requiredApprovingReviewCount": p.Approvals,
			"requiredReviewThreadResolution": p.Conversations}
		if len(p.Methods) > 0 {
			fields["allowedMergeMethods"] = anyTexts(strings.Split(strings.ToUpper(strings.Join(p.Methods, " ")), " "))
		}
		return bare{"PullRequestParameters", fields}
	case *rule.ChecksRule:
		checks := make([]any, len(p.Checks))
		for n, c := range p.Checks {
			fields := map[string]any{"context": c.Context}
			if c.App != 0 {
				fields["integrationId"] = int64(c.App)
			}
			checks[n] = bare{"StatusCheckConfiguration", fields}
		}
		return bare{"RequiredStatusChecksParameters", map[string]any{"requiredStatusChecks": checks,
			"strictRequiredStatusChecksPolicy": p.Strict, "doNotEnforceOnCreate": p.NotOnCreation}}
	case *rule.UpdateRule:
		return bare{"UpdateParameters", map[string]any{"updateAllowsFetchAndMerge": p.FetchAndMerge}}
	case *rule.QueueRule:
		return queueParameters(p)
	case *rule.PathsRule:
		return bare{"FilePathRestrictionParameters", map[string]any{"restrictedFilePaths": anyTexts(p.Paths)}}
	case *rule.ExtensionsRule:
		return bare{"FileExtensionRestrictionParameters",
			map[string]any{"restrictedFileExtensions": anyTexts(p.Extensions)}}
	case *rule.PathLengthRule:
		return bare{"MaxFilePathLengthParameters", map[string]any{"maxFilePathLength": p.Max}}
	case *rule.FileSizeRule:
		return bare{"MaxFileSizeParameters", map[string]any{"maxFileSize": p.Max}}
	}
	return nil
}
