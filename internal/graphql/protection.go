package graphql

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/rule"
	"arbor/internal/web"
)

// protectionOf is a protection as an object shows it.
type protectionOf struct {
	*rule.Protection
	set   *rule.Ruleset
	rules *rule.Rules
}

// rulesIn loads the rules of repositories for those who may read them, and protectedIn for administrators.
func rulesIn(q *query) loader[string, *rule.Rules] {
	return perRepository("rules", "/rulesets", q.load.Rules.RulesOf)
}

func protectedIn(q *query) loader[string, *rule.Rules] {
	return perRepository("protections", "/branches/{branch...}/protection", q.load.Rules.RulesOf)
}

// protections returns the rules of repositories to show their protections: nil to those who may not see them, for
// clients ask for protections of everybody.
func protections(ctx context.Context, q *query, in *object) (*rule.Rules, error) {
	rules, err := protectedIn(q).get(ctx, q, &object{repo: in})
	if errs.Is(err, errs.Forbidden) || errs.Is(err, errs.NotFound) {
		return nil, nil
	}
	return rules, err
}

func newProtection(in *object, set *rule.Ruleset, rules *rule.Rules) *object {
	return &object{kind: "BranchProtectionRule", id: set.ID, repo: in, whole: true,
		value: protectionOf{rule.AsProtection(set), set, rules}}
}

// repositoryRules returns the fields of a repository about rules.
func repositoryRules() map[string]exec.Resolver {
	return map[string]exec.Resolver{"rulesets": rulesets, "ruleset": ruleset,
		"branchProtectionRules": func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
			q := queryOf(ctx)
			protectedIn(q).load(ctx, q, objectsOf(parents))
			return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
				rules, err := protections(ctx, q, o)
				if err != nil {
					return nil, err
				}
				var all []any
				if rules != nil {
					for _, set := range rules.Sets {
						if set.Protection {
							all = append(all, newProtection(o, set, rules))
						}
					}
				}
				return connectAll(f, "BranchProtectionRuleConnection", all)
			})(ctx, f, parents)
		}}
}

// protectionOfRefs resolves the protections of branches.
func protectionOfRefs(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q := queryOf(ctx)
	protectedIn(q).load(ctx, q, objectsOf(parents))
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		rules, err := protections(ctx, q, o.repo)
		branch, is := strings.CutPrefix(o.name, heads)
		if err != nil || rules == nil || !is {
			return nil, err
		}
		if set := rules.Protection(branch); set != nil {
			return newProtection(o.repo, set, rules), nil
		}
		return nil, nil
	})(ctx, f, parents)
}

// updateRules resolves what the protections of branches mean for the caller.
func updateRules(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	q := queryOf(ctx)
	return rulesIn(q).values(ctx, parents, func(o *object, rules *rule.Rules) (any, error) {
		branch, is := strings.CutPrefix(o.name, heads)
		if rules == nil || !is {
			return nil, nil
		}
		set := rules.Protection(branch)
		if set == nil {
			return nil, nil
		}
		p := rule.AsProtection(set)
		mayPush := rules.In.Role >= account.Push
		fields := map[string]any{"pattern": p.Pattern, "allowsDeletions": p.Deletions,
			"allowsForcePushes": p.ForcePushes, "blocksCreations": p.NoCreations, "requiresLinearHistory": p.Linear,
			"requiresSignatures": p.Signatures, "requiresConversationResolution": p.Conversations,
			"viewerCanPush":                 mayPush && !p.Locked && (!p.Restricted || rules.Names(&p.Pushers)),
			"viewerAllowedToDismissReviews": mayPush, "requiresCodeOwnerReviews": false}
		if r := p.Reviews; r != nil {
			fields["requiredApprovingReviewCount"], fields["requiresCodeOwnerReviews"] = r.Approvals, r.CodeOwners
			if r.Dismissers != nil {
				fields["viewerAllowedToDismissReviews"] = rules.In.Role >= account.Admin ||
					mayPush && rules.Names(r.Dismissers)
			}
		}
		if p.Checks != nil {
			fields["requiredStatusCheckContexts"] = anyTexts(p.Checks.Contexts())
		}
		return bare{"RefUpdateRule", fields}, nil
	})
}

func anyTexts(list []string) []any {
	all := make([]any, len(list))
	for n, s := range list {
		all[n] = s
	}
	return all
}

func protectionFields() map[string]exec.Resolver {
	is := func(part func(p protectionOf) bool) exec.Resolver {
		return pick(func(p protectionOf) any { return part(p) })
	}
	review := func(part func(r *rule.PullRequestRule) bool) exec.Resolver {
		return is(func(p protectionOf) bool { return p.Reviews != nil && part(p.Reviews) })
	}
	return map[string]exec.Resolver{
		"id": key(nodeOf), "databaseId": key(func(o *object) any { return o.id }), "repository": inRepository,
		"pattern":                        pick(func(p protectionOf) any { return p.Pattern }),
		"allowsDeletions":                is(func(p protectionOf) bool { return p.Deletions }),
		"allowsForcePushes":              is(func(p protectionOf) bool { return p.ForcePushes }),
		"blocksCreations":                is(func(p protectionOf) bool { return p.NoCreations }),
		"isAdminEnforced":                is(func(p protectionOf) bool { return p.Admins }),
		"lockBranch":                     is(func(p protectionOf) bool { return p.Locked }),
		"lockAllowsFetchAndMerge":        is(func(p protectionOf) bool { return p.ForkSyncing }),
		"requiresCommitSignatures":       is(func(p protectionOf) bool { return p.Signatures }),
		"requiresConversationResolution": is(func(p protectionOf) bool { return p.Conversations }),
		"requiresLinearHistory":          is(func(p protectionOf) bool { return p.Linear }),
		"restrictsPushes":                is(func(p protectionOf) bool { return p.Restricted }),
		"requiresApprovingReviews":       is(func(p protectionOf) bool { return p.Reviews != nil }),
		"dismissesStaleReviews":          review(func(r *rule.PullRequestRule) bool { return r.DismissStale }),
		"requiresCodeOwnerReviews":       review(func(r *rule.PullRequestRule) bool { return r.CodeOwners }),
		"requireLastPushApproval":        review(func(r *rule.PullRequestRule) bool { return r.LastPush }),
		"restrictsReviewDismissals":      review(func(r *rule.PullRequestRule) bool { return r.Dismissers != nil }),
		"requiredApprovingReviewCount":   pick(requiredApprovals),
		"requiresStatusChecks":           is(func(p protectionOf) bool { return p.Checks != nil }),
		"requiresStrictStatusChecks":     is(func(p protectionOf) bool { return p.Checks != nil && p.Checks.Strict }),
		"requiredStatusCheckContexts": pick(func(p protectionOf) any {
			if p.Checks == nil {
				return []any{}
			}
			return anyTexts(p.Checks.Contexts())
		}),
		"creator": protectionCreators, "requiredStatusChecks": one(requiredChecks), "matchingRefs": matchingRefs,
		"branchProtectionRuleConflicts": protectionConflicts,
		"pushAllowances":                allowances("PushAllowance", func(p protectionOf) *rule.Actors { return &p.Pushers }),
		"bypassPullRequestAllowances": allowances("BypassPullRequestAllowance", func(p protectionOf) *rule.Actors {
			if p.Reviews == nil {
				return nil
			}
			return p.Reviews.Exempt
		}),
		"bypassForcePushAllowances": allowances("BypassForcePushAllowance",
			func(p protectionOf) *rule.Actors { return p.ForcePushers }),
		"reviewDismissalAllowances": allowances("ReviewDismissalAllowance", func(p protectionOf) *rule.Actors {
			if p.Reviews == nil {
				return nil
			}
			return p.Reviews.Dismissers
		}),
	}
}

// protectionCreators resolves who created protections, of all of them together. It is null if that is not known.
func protectionCreators(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	values := make([]any, len(parents))
	var ids []int64
	for _, o := range objectsOf(parents) {
		if by := o.value.(protectionOf).set.CreatorID; by != 0 {
			ids = append(ids, int64(by))
		}
	}
	if len(ids) == 0 {
		return values
	}
	found, err := queryOf(ctx).accountsByID(ctx, ids)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	for n, o := range objectsOf(parents) {
		if a, there := found[o.value.(protectionOf).set.CreatorID]; there {
			values[n] = fullAccount(a)
		}
	}
	return values
}

func requiredApprovals(p protectionOf) any {
	if p.Reviews == nil {
		return nil
	}
	return p.Reviews.Approvals
}

// allowances resolves a connection of actors that a protection names, as far as the caller may see them.
func allowances(kind string, of func(p protectionOf) *rule.Actors) exec.Resolver {
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		p := o.value.(protectionOf)
		var all []any
		for _, a := range actorsOf(ctx, p.rules.Known.Show(p.rules.In, of(p))) {
			all = append(all, bare{kind, map[string]any{"id": account.NodeID(kind, o.id) + a.id, "actor": a.value,
				"branchProtectionRule": o}})
		}
		return connectAll(f, kind+"Connection", all)
	})
}

// ruleActor is a user, a team or an App that a rule names. Its id distinguishes it among them.
type ruleActor struct {
	id    string
	value any
}

func actorsOf(ctx context.Context, s rule.Shown) (list []ruleActor) {
	for _, one := range s.Users {
		list = append(list, ruleActor{decimal(int64(one.ID)), person(ctx, one)})
	}
	for _, one := range s.Teams {
		list = append(list, ruleActor{"T" + decimal(int64(one.ID)), newTeam(one)})
	}
	for _, one := range s.Apps {
		list = append(list, ruleActor{"A" + decimal(int64(one.ID)),
			&object{kind: "App", value: app.JSON(one, web.From(ctx)), whole: true}})
	}
	return list
}

// findRules finds protections and rulesets of repositories by their node ids.
func (q *query) findRules(ctx context.Context, ids []nodeID) []lookup {
	var places map[int64]repo.ID
	var orgs map[int64]account.ID
	err := q.do.DB.Read(ctx, func(tx *db.Tx) (err error) {
		orgs = nil
		if places, err = rule.Places(tx, db.Unique(numbersOf(ids))); err == nil && ids[0].kind == "RepositoryRuleset" {
			orgs, err = rule.OrgPlaces(tx, db.Unique(numbersOf(ids)))
		}
		return err
	})
	spots := map[int64]spot{}
	for id, in := range places {
		spots[id] = spot{repo: in}
	}
	repos := map[int64]*object{}
	if err == nil {
		repos, err = q.repositoriesOf(ctx, spots)
	}
	if err != nil {
		return failures(err, len(ids))
	}
	protection, l := ids[0].kind == "BranchProtectionRule", rulesIn(q)
	if protection {
		l = protectedIn(q)
	}
	var in []*object
	for _, r := range repos {
		in = append(in, r)
	}
	l.load(ctx, q, in)
	found, ofOrgs := make([]lookup, len(ids)), q.findOrgRules(ctx, orgs)
	for n, id := range ids {
		r := repos[int64(spots[id.number].repo)]
		if r == nil {
			if set := ofOrgs[id.number]; set != nil {
				found[n].value = set
			}
			continue
		}
		rules, err := l.get(ctx, q, r)
		if err != nil {
			found[n].err = err
		} else if set := rules.Find(id.number, protection); set != nil && protection {
			found[n].value = newProtection(r, set, rules)
		} else if set != nil {
			found[n].value = newRuleset(r, set, rules)
		}
	}
	return found
}

// requiredChecks resolves the status checks that a protection requires, and the Apps that must report them.
func requiredChecks(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	p, all := o.value.(protectionOf), []any{}
	if p.Checks == nil {
		return all, nil
	}
	for _, c := range p.Checks.Checks {
		fields := map[string]any{"context": c.Context, "app": nil}
		of := &rule.Actors{Apps: []account.AppID{c.App}}
		for _, one := range actorsOf(ctx, p.rules.Known.Show(p.rules.In, of)) {
			fields["app"] = one.value
		}
		all = append(all, bare{"RequiredStatusCheckDescription", fields})
	}
	return all, nil
}
