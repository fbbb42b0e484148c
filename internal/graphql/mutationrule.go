package graphql

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/rule"
)

const editProtections = "PUT /repos/{owner}/{repo}/branches/{branch...}/protection"

func createProtection(ctx context.Context, m *mutation) (map[string]any, error) {
	edit, err := m.protectionEdit(ctx)
	if err != nil {
		return nil, err
	}
	var made *rule.Ruleset
	in, err := m.act(ctx, "repositoryId", "Repository", editProtections,
		func(ctx context.Context, a *repo.Access, _ *object) (err error) {
			p := &rule.Protection{}
			edit(p)
			made, err = m.do.Rules.AddProtection(ctx, a, p)
			return err
		})
	if err != nil {
		return nil, err
	}
	return m.protectionPayload(ctx, in, made.ID)
}

func updateProtection(ctx context.Context, m *mutation) (map[string]any, error) {
	edit, err := m.protectionEdit(ctx)
	if err != nil {
		return nil, err
	}
	o, err := m.act(ctx, "branchProtectionRuleId", "BranchProtectionRule", editProtections,
		func(ctx context.Context, a *repo.Access, o *object) error {
			_, err := m.do.Rules.EditProtectionByID(ctx, a, o.id, func(_ *db.Tx, p *rule.Protection) error {
				edit(p)
				return nil
			})
			return err
		})
	if err != nil {
		return nil, err
	}
	return m.protectionPayload(ctx, o.repo, o.id)
}

func deleteProtection(ctx context.Context, m *mutation) (map[string]any, error) {
	_, err := m.act(ctx, "branchProtectionRuleId", "BranchProtectionRule",
		"DELETE /repos/{owner}/{repo}/branches/{branch...}/protection",
		func(ctx context.Context, a *repo.Access, o *object) error {
			return m.do.Rules.RemoveProtection(ctx, a, o.id)
		})
	return map[string]any{}, err
}

func (m *mutation) protectionPayload(ctx context.Context, in *object, id int64) (map[string]any, error) {
	m.forget()
	rules, err := protectedIn(m.query).get(ctx, m.query, in)
	if err != nil {
		return nil, err
	}
	set := rules.Find(id, true)
	if set == nil {
		return nil, errs.Absent()
	}
	return map[string]any{"branchProtectionRule": newProtection(in, set, rules)}, nil
}

// protectionEdit returns a function that changes a protection by what the input has. Errors: NOT_FOUND for unknown
// users; UNPROCESSABLE for what Arbor does not enforce.
func (m *mutation) protectionEdit(ctx context.Context) (func(p *rule.Protection), error) {
	for _, name := range [...]string{"reviewDismissalActorIds", "bypassForcePushActorIds",
		"requiredDeploymentEnvironments"} {
		if len(m.ids(name)) > 0 {
			return nil, refused(name + " is not supported.")
		}
	}
	for _, name := range [...]string{"restrictsReviewDismissals", "requiresDeployments"} {
		if m.flag(name).Value {
			return nil, refused(name + " is not supported.")
		}
	}
	pushers, err := m.users(ctx, "pushActorIds")
	if err != nil {
		return nil, err
	}
	exempt, err := m.users(ctx, "bypassPullRequestActorIds")
	if err != nil {
		return nil, err
	}
	checks, err := m.requiredChecks()
	if err != nil {
		return nil, err
	}
	return func(p *rule.Protection) {
		if m.given("pattern") {
			p.Pattern = m.text("pattern")
		}
		m.flags(map[string]*bool{"allowsDeletions": &p.Deletions, "allowsForcePushes": &p.ForcePushes,
			"blocksCreations": &p.NoCreations, "isAdminEnforced": &p.Admins, "lockBranch": &p.Locked,
			"lockAllowsFetchAndMerge": &p.ForkSyncing, "requiresCommitSignatures": &p.Signatures,
			"requiresConversationResolution": &p.Conversations, "requiresLinearHistory": &p.Linear,
			"restrictsPushes": &p.Restricted})
		if pushers != nil {
			p.Pushers = pushers
		}
		m.editReviews(p, exempt)
		m.editChecks(p, checks)
	}, nil
}

// flags sets the booleans that the input has.
func (m *mutation) flags(to map[string]*bool) {
	for name, is := range to {
		if v := m.flag(name); v.Set {
			*is = v.Value
		}
	}
}

func (m *mutation) editReviews(p *rule.Protection, exempt []account.ID) {
	if v := m.flag("requiresApprovingReviews"); v.Set && !v.Value {
		p.Reviews = nil
	} else if v.Value && p.Reviews == nil {
		p.Reviews = &rule.PullRequestRule{Approvals: 1}
	}
	if p.Reviews == nil {
		return
	}
	r := *p.Reviews
	m.flags(map[string]*bool{"dismissesStaleReviews": &r.DismissStale, "requiresCodeOwnerReviews": &r.CodeOwners,
		"requireLastPushApproval": &r.LastPush})
	if n, ok := m.input["requiredApprovingReviewCount"].(int); ok {
		r.Approvals = int64(n)
	}
	if exempt != nil {
		if r.Exempt = nil; len(exempt) > 0 {
			r.Exempt = &rule.Actors{Users: exempt, Apps: []account.AppID{}}
		}
	}
	p.Reviews = &r
}

func (m *mutation) editChecks(p *rule.Protection, checks []rule.Check) {
	if v := m.flag("requiresStatusChecks"); v.Set && !v.Value {
		p.Checks = nil
	} else if v.Value && p.Checks == nil {
		p.Checks = &rule.ChecksRule{Checks: []rule.Check{}}
	}
	if p.Checks == nil {
		return
	}
	c := *p.Checks
	m.flags(map[string]*bool{"requiresStrictStatusChecks": &c.Strict})
	if m.given("requiredStatusCheckContexts") {
		c.SetContexts(m.ids("requiredStatusCheckContexts"))
	}
	if checks != nil {
		c.Checks = checks
	}
	p.Checks = &c
}

// requiredChecks returns the status checks of the input, nil without any. appId is an App's node id; "any" is none.
func (m *mutation) requiredChecks() ([]rule.Check, error) {
	given, is := m.input["requiredStatusChecks"].([]any)
	if !is {
		return nil, nil
	}
	list := make([]rule.Check, len(given))
	for n, one := range given {
		fields := one.(map[string]any)
		list[n].Context, _ = fields["context"].(string)
		id, _ := fields["appId"].(string)
		if id == "" || id == "any" {
			continue
		}
		kind, number, _, ok := parseNode(id)
		if !ok || kind != "Integration" {
			return nil, unresolvedNode(id)
		}
		list[n].App = account.AppID(number)
	}
	return list, nil
}

// mostActors limits the users that an input names.
const mostActors = 100

// users returns the ids of users by their node ids; nil: the input has none.
func (m *mutation) users(ctx context.Context, name string) ([]account.ID, error) {
	if !m.given(name) {
		return nil, nil
	}
	ids := m.ids(name)
	if len(ids) > mostActors {
		return nil, refused(name + " has 100 items at most.")
	}
	list := []account.ID{}
	for _, found := range m.findAll(ctx, ids, "User") {
		if found.err != nil {
			return nil, found.err
		}
		list = append(list, account.ID(found.value.(*object).id))
	}
	return db.Unique(list), nil
}
