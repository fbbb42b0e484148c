package graphql

import (
	"context"
	"strings"

	"arbor/internal/graphql/exec"
)

// missing maps parts of mutations' names to the features that Arbor lacks. The first match counts.
var missing = [...]struct{ part, feature string }{
	{"Sponsor", "sponsors"}, {"Enterprise", "enterprises"}, {"UserNamespace", "enterprises"}, {"Project", "projects"},
	{"Discussion", "discussions"}, {"Upvote", "discussions"}, {"Migrat", "migrations"},
	{"IpAllowList", "IP allow lists"}, {"VerifiableDomain", "verified domains"},
	{"InteractionLimit", "interaction limits"}, {"UserList", "lists of stars"},
	{"Package", "packages"}, {"SubIssue", "sub-issues"}, {"Duplicate", "links between duplicates"},
	{"IssueIssueType", "types of issues"}, {"IssueField", "fields of issues"}, {"BlockedBy", "issue dependencies"},
	{"TopicSuggestion", "suggestions of topics"}, {"VulnerabilityAlert", "alerts of vulnerabilities"},
	{"UserStatus", "statuses of people"}, {"Attribution", "mannequins"}, {"Signoff", "required sign-offs"},
	{"ReviewAssignment", "assignment of reviews in teams"}, {"NotificationRestriction", "restrictions of notifications"},
	{"PrivateRepositoryForking", "rules for forks of private repositories"},
	{"approveDeployments", "reviews of deployments"},
	{"rejectDeployments", "reviews of deployments"}, {"pinEnvironment", "pins of environments"},
	{"reorderEnvironment", "pins of environments"},
}

// missingFeature returns the feature of a mutation that Arbor lacks, or "".
func missingFeature(name string) string {
	for _, m := range missing {
		if strings.Contains(name, m.part) {
			return m.feature
		}
	}
	return ""
}

// refusing returns the resolver for mutations without one of their own: an error that names the missing feature.
func refusing(name string) exec.Resolver {
	message := "Arbor does not have the mutation " + name + "."
	if feature := missingFeature(name); feature != "" {
		message = "Arbor has no " + feature + "."
	}
	return root(func(context.Context, *exec.Field) (any, error) { return nil, refused(message) })
}
