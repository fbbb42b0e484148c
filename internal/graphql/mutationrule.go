package graphql

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/rule"
	"arbor/internal/team"
)

const editProtections = "PUT /repos/{owner}/{repo}/branches/{branch...}/protection"

func createProtection(ctx context.Context, m *mutation) (map[string]any, error) {
	var made *rule.Ruleset
	in, err := m.act(ctx, "repositoryId", "Repository", editProtections,
		func(ctx context.Context, a *repo.Access, _ *object) (err error) {
			p := &rule.Protection{}
			edit, err := m.protectionEdit(ctx, a)
			if err != nil {
				return err
			}
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
	o, err := m.act(ctx, "branchProtectionRuleId", "BranchProtectionRule", editProtections,
		func(ctx context.Context, a *repo.Access, o *object) error {
			edit, err := m.protectionEdit(ctx, a)
			if err != nil {
				return err
			}
			_, err = m.do.Rules.EditProtectionByID(ctx, a, o.id, func(_ *db.Tx, p *rule.Protection) error {
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

// protectionEdit returns a function that changes a protection by what the input has. Errors: NOT_FOUND for node ids
// that are none of a user, a team or an App; UNPROCESSABLE for unknown ones, and for what Arbor does not enforce.
func (m *mutation) protectionEdit(ctx context.Context, a *repo.Access) (func(p *rule.Protection), error) {
	if len(m.ids("requiredDeploymentEnvironments")) > 0 {
		return nil, refused("requiredDeploymentEnvironments is not supported.")
	}
	if m.flag("requiresDeployments").Value {
		return nil, refused("requiresDeployments is not supported.")
	}
	pushers, err := m.actors(ctx, a, "pushActorIds")
	if err != nil {
		return nil, err
	}
	exempt, err := m.actors(ctx, a, "bypassPullRequestActorIds")
	if err != nil {
		return nil, err
	}
	forcing, err := m.actors(ctx, a, "bypassForcePushActorIds")
	if err != nil {
		return nil, err
	}
	dismissers, err := m.actors(ctx, a, "reviewDismissalActorIds")
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
			p.Pushers = *pushers
		}
		if forcing != nil {
			p.ForcePushers = forcing
		}
		m.editReviews(p, exempt, dismissers)
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

func (m *mutation) editReviews(p *rule.Protection, exempt, dismissers *rule.Actors) {
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
		if r.Exempt = nil; !exempt.Empty() {
			r.Exempt = exempt
		}
	}
	m.editDismissers(&r, dismissers)
	p.Reviews = &r
}

// editDismissers applies the arguments that restrict who can dismiss reviews.
func (m *mutation) editDismissers(r *rule.PullRequestRule, to *rule.Actors) {
	restricted := m.flag("restrictsReviewDismissals")
	switch {
	case restricted.Set && !restricted.Value:
		r.Dismissers = nil
	case to != nil && (restricted.Value || r.Dismissers != nil):
		r.Dismissers = to
	case restricted.Value && r.Dismissers == nil:
		r.Dismissers = &rule.Actors{Users: []account.ID{}, Apps: []account.AppID{}}
	}
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

// mostActors limits the actors that an input names.
const mostActors = 100

// actors returns users, teams and Apps by their node ids; nil: the input has none.
func (m *mutation) actors(ctx context.Context, a *repo.Access, name string) (*rule.Actors, error) {
	if !m.given(name) {
		return nil, nil
	}
	ids := m.ids(name)
	if len(ids) > mostActors {
		return nil, refused(name + " has 100 items at most.")
	}
	list := &rule.Actors{Users: []account.ID{}, Apps: []account.AppID{}}
	for _, id := range ids {
		kind, number, _, ok := parseNode(id)
		switch {
		case ok && kind == "User":
			list.Users = append(list.Users, account.ID(number))
		case ok && kind == "Team":
			list.Teams = append(list.Teams, team.ID(number))
		case ok && kind == "Integration":
			list.Apps = append(list.Apps, account.AppID(number))
		default:
			return nil, unresolvedNode(id)
		}
	}
	list.Users, list.Teams, list.Apps = db.Unique(list.Users), db.Unique(list.Teams), db.Unique(list.Apps)
	return list, m.do.Rules.CheckIDs(ctx, a, name, list)
}
