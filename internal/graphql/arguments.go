package graphql

import (
	"context"
	"reflect"

	"arbor/internal/graphql/exec"
)

// unread lists unsupported arguments of supported fields, by type and field.
var unread = map[string][]string{
	"Issue.closedByPullRequestsReferences": {"userLinkedOnly"},
	"PullRequest.closingIssuesReferences":  {"orderBy", "userLinkedOnly"},
	"PullRequestReviewThread.comments":     {"skip"},
	"Ref.rules":                            {"orderBy"},
	"Repository.forks":                     {"ownerAffiliations"},
	"User.watching":                        {"affiliations", "ownerAffiliations"},
	"User.contributionsCollection":         {"organizationID"},
	"Topic.repositories": {"affiliations", "hasIssuesEnabled", "isLocked", "ownerAffiliations",
		"sponsorableOnly"},
	"Organization.teams":                                                   {"ldapMapped", "notificationSetting"},
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
