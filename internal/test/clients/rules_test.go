//go:build long

package clients

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-github/v89/github"
)

// A team holds itself to rules: nobody changes main without a review of its owners and a check, and tags are kept.
func ruledTeam(t *testing.T, h *hub) {
	h.Users(t, "alice", "will", "sam")
	keepers(t, h)
	protected(t, h)
	n, head := held(t, h)
	released(t, h, n, head)
	rulesets(t, h)
}

// keepers own all files of garden/plot, in which will writes, too.
func keepers(t *testing.T, h *hub) {
	h.Org(t, "garden", "alice")
	ctx, alice := t.Context(), h.as(t, "alice")
	got[*github.Repository](t)(alice.Repositories.Create(ctx, "garden", &github.Repository{Name: github.Ptr("plot")}))
	for _, login := range []string{"will", "sam"} {
		got[*github.Membership](t)(alice.Organizations.EditOrgMembership(ctx, login, "garden",
			&github.Membership{Role: github.Ptr("member")}))
	}
	team := got[*github.Team](t)
	team(alice.Teams.CreateTeam(ctx, "garden", github.NewTeam{Name: "Keepers", Privacy: github.Ptr("closed")}))
	team(alice.Teams.CreateTeam(ctx, "garden", github.NewTeam{Name: "Writers", Privacy: github.Ptr("closed")}))
	for slug, login := range map[string]string{"keepers": "sam", "writers": "will"} {
		got[*github.Membership](t)(alice.Teams.AddTeamMembershipBySlug(ctx, "garden", slug, login, nil))
		done(t)(alice.Teams.AddTeamRepoBySlug(ctx, "garden", slug, "garden", "plot",
			&github.TeamAddTeamRepoOptions{Permission: "push"}))
	}
	for path, text := range map[string]string{"CODEOWNERS": "* @garden/keepers\n*.txt @nobody\n",
		"README.md": "# Plot\n"} {
		got[*github.RepositoryContentResponse](t)(alice.Repositories.CreateFile(ctx, "garden", "plot", path,
			&github.RepositoryContentFileOptions{Message: github.Ptr("Begin"), Content: []byte(text)}))
	}
	wrong := got[*github.CodeownersErrors](t)(alice.Repositories.GetCodeownersErrors(ctx, "garden", "plot", nil))
	equal(t, "the errors of CODEOWNERS", len(wrong.Errors), 1)
	equal(t, "its line", wrong.Errors[0].Line, 2)
}

// protected is what main is from now on, for administrators as well.
func protected(t *testing.T, h *hub) {
	ctx, alice := t.Context(), h.as(t, "alice")
	p := got[*github.Protection](t)(alice.Repositories.UpdateBranchProtection(ctx, "garden", "plot", "main",
		&github.ProtectionRequest{EnforceAdmins: true, RequireLinearHistory: github.Ptr(true),
			RequiredStatusChecks: &github.RequiredStatusChecks{Checks: &[]*github.RequiredStatusCheck{{Context: "build"}}},
			RequiredPullRequestReviews: &github.PullRequestReviewsEnforcementRequest{RequireCodeOwnerReviews: true,
				RequiredApprovingReviewCount: 1, DismissStaleReviews: true},
			Restrictions: &github.BranchRestrictionsRequest{Users: []string{}, Teams: []string{"writers"},
				Apps: []string{}}}))
	equal(t, "the approvals", p.GetRequiredPullRequestReviews().RequiredApprovingReviewCount, 1)
	equal(t, "who may push", p.GetRestrictions().Teams[0].GetSlug(), "writers")
	equal(t, "the check", (*p.GetRequiredStatusChecks().Checks)[0].Context, "build")
	equal(t, "protected", got[*github.Branch](t)(alice.Repositories.GetBranch(ctx, "garden", "plot", "main", 0)).
		GetProtected(), true)
}

// held is a change that nobody gets past the rules, by whatever way.
func held(t *testing.T, h *hub) (number int, head string) {
	ctx, alice, will := t.Context(), h.as(t, "alice"), h.as(t, "will")
	file := func(branch *string) *github.RepositoryContentFileOptions {
		return &github.RepositoryContentFileOptions{Message: github.Ptr("Sow"), Content: []byte("peas\n"),
			Branch: branch}
	}
	main := got[*github.Reference](t)(will.Git.GetRef(ctx, "garden", "plot", "heads/main")).GetObject().GetSHA()
	for _, c := range []*github.Client{alice, will} {
		_, _, err := c.Repositories.CreateFile(ctx, "garden", "plot", "peas.md", file(nil))
		refused(t, err, http.StatusConflict, "", "")
		_, err = c.Git.DeleteRef(ctx, "garden", "plot", "heads/main")
		refused(t, err, http.StatusUnprocessableEntity, "ref", "invalid")
	}
	got[*github.Reference](t)(will.Git.CreateRef(ctx, "garden", "plot",
		github.CreateRef{Ref: "refs/heads/peas", SHA: main}))
	head = got[*github.RepositoryContentResponse](t)(will.Repositories.CreateFile(ctx, "garden", "plot", "peas.md",
		file(github.Ptr("peas")))).GetSHA()
	pull := got[*github.PullRequest](t)(will.PullRequests.Create(ctx, "garden", "plot", &github.NewPullRequest{
		Title: github.Ptr("Peas"), Head: github.Ptr("peas"), Base: github.Ptr("main")}))
	equal(t, "the state", pull.GetMergeableState(), "blocked")
	equal(t, "the teams asked for a review", len(pull.RequestedTeams), 1)
	equal(t, "the team", pull.RequestedTeams[0].GetSlug(), "keepers")
	for _, c := range []*github.Client{alice, will} {
		_, _, err := c.PullRequests.Merge(ctx, "garden", "plot", pull.GetNumber(), "",
			&github.PullRequestOptions{MergeMethod: "squash"})
		refused(t, err, http.StatusMethodNotAllowed, "", "")
	}
	return pull.GetNumber(), head
}

// released is the change once an owner has approved and the check has succeeded.
func released(t *testing.T, h *hub, n int, head string) {
	ctx, will, sam := t.Context(), h.as(t, "will"), h.as(t, "sam")
	review := got[*github.PullRequestReview](t)(sam.PullRequests.CreateReview(ctx, "garden", "plot", n,
		&github.PullRequestReviewRequest{Event: github.Ptr("APPROVE")}))
	equal(t, "the review", review.GetState(), "APPROVED")
	state := func(want string) {
		t.Helper()
		equal(t, "the state", got[*github.PullRequest](t)(will.PullRequests.Get(ctx, "garden", "plot", n)).
			GetMergeableState(), want)
	}
	state("blocked")
	got[*github.RepoStatus](t)(will.Repositories.CreateStatus(ctx, "garden", "plot", head,
		github.RepoStatus{State: github.Ptr("success"), Context: github.Ptr("build")}))
	state("clean")
	merged := got[*github.PullRequestMergeResult](t)(will.PullRequests.Merge(ctx, "garden", "plot", n, "",
		&github.PullRequestOptions{MergeMethod: "squash"}))
	equal(t, "merged", merged.GetMerged(), true)
}

// violated holds an error against what the client must make of a ref that a rule keeps.
func violated(t *testing.T, err error) {
	t.Helper()
	var answer *github.ErrorResponse
	if !errors.As(err, &answer) || answer.Response.StatusCode != http.StatusUnprocessableEntity ||
		!strings.Contains(answer.Message, "rule") {
		t.Errorf("a rule was violated, and the client was told %v", err)
	}
}

// rulesets of the organization and the repository hold besides protections, and are told with where they are from.
func rulesets(t *testing.T, h *hub) {
	ctx, alice, will := t.Context(), h.as(t, "alice"), h.as(t, "will")
	refs := func(include string) *github.RepositoryRulesetRefConditionParameters {
		return &github.RepositoryRulesetRefConditionParameters{Include: []string{include}, Exclude: []string{}}
	}
	set := got[*github.RepositoryRuleset](t)
	whole := set(alice.Organizations.CreateRepositoryRuleset(ctx, "garden", github.RepositoryRuleset{Name: "history",
		Target: github.Ptr(github.RulesetTargetBranch), Enforcement: github.RulesetEnforcementActive,
		Conditions: &github.RepositoryRulesetConditions{RefName: refs("~ALL"),
			RepositoryName: &github.RepositoryRulesetRepositoryNamesConditionParameters{Include: []string{"pl*"},
				Exclude: []string{}}},
		Rules: &github.RepositoryRulesetRules{NonFastForward: &github.EmptyRuleParameters{}}}))
	writers := got[*github.Team](t)(alice.Teams.GetTeamBySlug(ctx, "garden", "writers"))
	tags := set(alice.Repositories.CreateRuleset(ctx, "garden", "plot", github.RepositoryRuleset{Name: "tags",
		Target: github.Ptr(github.RulesetTargetTag), Enforcement: github.RulesetEnforcementActive,
		BypassActors: []*github.BypassActor{{ActorID: writers.ID, ActorType: github.Ptr(github.BypassActorTypeTeam),
			BypassMode: github.Ptr(github.BypassModeAlways)}},
		Conditions: &github.RepositoryRulesetConditions{RefName: refs("~ALL")},
		Rules: &github.RepositoryRulesetRules{TagNamePattern: &github.PatternRuleParameters{Operator: "starts_with",
			Pattern: "v"}}}))
	seen := set(alice.Repositories.GetRuleset(ctx, "garden", "plot", tags.GetID(), false))
	equal(t, "who may bypass", seen.BypassActors[0].GetActorID(), writers.GetID())
	equal(t, "the pattern", seen.GetRules().TagNamePattern.Pattern, "v")
	list := got[[]*github.RepositoryRuleset](t)(will.Repositories.GetAllRulesets(ctx, "garden", "plot",
		&github.RepositoryListRulesetsOptions{IncludesParents: github.Ptr(true)}))
	equal(t, "the rulesets", len(list), 2)
	rules := got[*github.BranchRules](t)(will.Repositories.ListRulesForBranch(ctx, "garden", "plot", "main", nil))
	equal(t, "the rules against force pushes", len(rules.NonFastForward), 1)
	equal(t, "where it is from", rules.NonFastForward[0].RulesetSource, "garden")
	equal(t, "which it is", rules.NonFastForward[0].RulesetID, whole.GetID())

	main := got[*github.Reference](t)(alice.Git.GetRef(ctx, "garden", "plot", "heads/main")).GetObject().GetSHA()
	tag := github.CreateRef{Ref: "refs/tags/one", SHA: main}
	_, _, err := h.as(t, "sam").Git.CreateRef(ctx, "garden", "plot", tag)
	violated(t, err)
	got[*github.Reference](t)(will.Git.CreateRef(ctx, "garden", "plot", tag))
	_, _, err = will.Git.UpdateRef(ctx, "garden", "plot", "heads/peas",
		github.UpdateRef{SHA: main, Force: github.Ptr(true)})
	violated(t, err)
	off := set(alice.Organizations.UpdateRepositoryRuleset(ctx, "garden", whole.GetID(), github.RepositoryRuleset{
		Name: "history", Target: whole.Target, Enforcement: github.RulesetEnforcementDisabled,
		Conditions: whole.Conditions, Rules: whole.Rules}))
	equal(t, "the enforcement", off.Enforcement, github.RulesetEnforcementDisabled)
	got[*github.Reference](t)(will.Git.UpdateRef(ctx, "garden", "plot", "heads/peas",
		github.UpdateRef{SHA: main, Force: github.Ptr(true)}))
	done(t)(alice.Repositories.DeleteRuleset(ctx, "garden", "plot", tags.GetID()))
	done(t)(alice.Organizations.DeleteRepositoryRuleset(ctx, "garden", whole.GetID()))
	got[*github.Reference](t)(alice.Git.CreateRef(ctx, "garden", "plot",
		github.CreateRef{Ref: "refs/tags/two", SHA: main}))
}
