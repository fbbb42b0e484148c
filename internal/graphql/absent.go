package graphql

import (
	"context"
	"strings"

	"arbor/internal/graphql/exec"
)

// absentOfIssues returns fields that newer clients request of each issue and that Arbor does not implement.
func absentOfIssues() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"issueType": always(nil), "parent": always(nil), "subIssues": none("IssueConnection"),
		"blockedBy": none("IssueConnection"), "blocking": none("IssueConnection"),
		"subIssuesSummary": always(bare{"SubIssuesSummary", map[string]any{"total": 0, "completed": 0,
			"percentCompleted": 0}}),
	}
}

// refusals are mutations of what Arbor does not have: what they are about, by its input, and why they are
// refused.
func refusals() map[string]func(context.Context, *mutation) (map[string]any, error) {
	refuse := func(reason, input string, kinds ...string) func(context.Context,
		*mutation) (map[string]any, error) {
		return func(ctx context.Context, m *mutation) (map[string]any, error) {
			if _, err := m.target(ctx, input, kinds...); err != nil {
				return nil, err
			}
			return nil, refused(reason)
		}
	}
	const subIssues, blocking = "Arbor has no sub-issues.", "Arbor's issues do not block each other."
	return map[string]func(context.Context, *mutation) (map[string]any, error){
		"updateIssueIssueType": refuse("Arbor has no types of issues.", "issueId", "Issue"),
		"addSubIssue":          refuse(subIssues, "issueId", "Issue"),
		"removeSubIssue":       refuse(subIssues, "issueId", "Issue"),
		"addBlockedBy":         refuse(blocking, "issueId", "Issue"),
		"removeBlockedBy":      refuse(blocking, "issueId", "Issue"),
		"addProjectV2ItemById": refuse("Arbor has no projects.", "contentId", "Issue", "PullRequest"),
	}
}

// missing names what mutations that Arbor lacks are about, by a part of their names. The first that matches counts.
var missing = [...]struct{ part, feature string }{
	{"Sponsor", "sponsors"}, {"Enterprise", "enterprises"}, {"UserNamespace", "enterprises"}, {"Project", "projects"},
	{"Discussion", "discussions"}, {"Upvote", "discussions"}, {"Migrat", "migrations"}, {"IpAllowList", "lists of allowed addresses"},
	{"VerifiableDomain", "verified domains"}, {"InteractionLimit", "limits of interactions"}, {"UserList", "lists of stars"},
	{"Package", "packages"}, {"SubIssue", "sub-issues"}, {"Duplicate", "links between duplicates"},
	{"TopicSuggestion", "suggestions of topics"}, {"VulnerabilityAlert", "alerts of vulnerabilities"},
	{"UserStatus", "statuses of people"}, {"Attribution", "mannequins"}, {"Signoff", "required sign-offs"},
	{"ReviewAssignment", "assignment of reviews in teams"}, {"NotificationRestriction", "restrictions of notifications"},
	{"PrivateRepositoryForking", "rules for forks of private repositories"}, {"approveDeployments", "reviews of deployments"},
	{"rejectDeployments", "reviews of deployments"}, {"pinEnvironment", "pins of environments"},
	{"reorderEnvironment", "pins of environments"},
}

// missingFeature names what a mutation is about that Arbor lacks, or returns "".
func missingFeature(name string) string {
	for _, m := range missing {
		if strings.Contains(name, m.part) {
			return m.feature
		}
	}
	return ""
}

// refusing returns the resolver of a mutation without one of its own, which names what Arbor does not have.
func refusing(name string) exec.Resolver {
	message := "Arbor does not have the mutation " + name + "."
	if feature := missingFeature(name); feature != "" {
		message = "Arbor has no " + feature + "."
	}
	return root(func(context.Context, *exec.Field) (any, error) { return nil, refused(message) })
}
