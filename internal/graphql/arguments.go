package graphql

import (
	"context"
	"reflect"

	"arbor/internal/graphql/exec"
)

// unread lists unsupported arguments of supported fields, by type and field.
var unread = map[string][]string{
	"Issue.closedByPullRequestsReferences": {"orderByState", "userLinkedOnly"},
	"PullRequest.closingIssuesReferences":  {"orderBy", "userLinkedOnly"},
	"Ref.associatedPullRequests":           {"labels", "headRefName", "baseRefName"},
	"Label.pullRequests":                   {"labels", "headRefName", "baseRefName"},
	"Milestone.pullRequests":               {"labels", "headRefName", "baseRefName"},
	"Label.issues":                         {"filterBy", "labels"},
	"Milestone.issues":                     {"filterBy", "labels"},
	"PullRequestReviewThread.comments":     {"skip"},
	"Ref.rules":                            {"orderBy"},
	"Repository.environments":              {"pinnedEnvironmentFilter", "names"},
	"Repository.forks":                     {"ownerAffiliations"},
	"Query.rateLimit":                      {"dryRun"},
	"User.starredRepositories":             {"ownedByViewer"},
	"User.watching": {"affiliations", "hasIssuesEnabled", "isLocked", "orderBy", "ownerAffiliations", "privacy",
		"visibility"},
	"User.contributionsCollection": {"organizationID"},
	"Topic.repositories": {"affiliations", "hasIssuesEnabled", "isLocked", "ownerAffiliations",
		"sponsorableOnly"},
	"Organization.teams": {"ldapMapped", "notificationSetting"},
	"Team.childTeams":    {"immediateOnly"},
	"Team.members":       {"orderBy"},
	"Team.repositories":  {"orderBy"},
	"ContributionsCollection.totalIssueContributions":                      {"excludeFirst", "excludePopular"},
	"ContributionsCollection.totalPullRequestContributions":                {"excludeFirst", "excludePopular"},
	"ContributionsCollection.totalRepositoryContributions":                 {"excludeFirst"},
	"ContributionsCollection.totalRepositoriesWithContributedIssues":       {"excludeFirst", "excludePopular"},
	"ContributionsCollection.totalRepositoriesWithContributedPullRequests": {"excludeFirst", "excludePopular"},
}

// refusingArguments wraps next so that values of unsupported arguments other than null and the default are errors.
func refusingArguments(names []string, next exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		for _, name := range names {
			if v := f.Args[name]; v != nil && !isDefault(f, name, v) {
				err := refused("Arbor does not support the argument " + name + " of " + f.Type + "." + f.Name + ".")
				return failed(err, len(parents))
			}
		}
		return next(ctx, f, parents)
	}
}

// isDefault reports whether a value is the default of an argument.
func isDefault(f *exec.Field, name string, value any) bool {
	d := f.Definition().Arguments.ForName(name)
	if d == nil || d.DefaultValue == nil {
		return value == false
	}
	if list, ok := value.([]any); ok && len(list) == 0 {
		return len(d.DefaultValue.Children) == 0
	}
	otherwise, err := d.DefaultValue.Value(nil)
	return err == nil && reflect.DeepEqual(otherwise, value)
}
