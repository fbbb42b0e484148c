package graphql

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// executable returns a schema with the resolvers of the fields that Arbor answers; see lacking for the others.
func (api *API) executable(s *ast.Schema) *exec.Schema {
	types := api.tables()
	out := map[string]exec.Resolver{}
	for _, f := range s.Mutation.Fields {
		if types["Mutation"][f.Name] == nil {
			out["Mutation."+f.Name] = refusing(f.Name)
		}
	}
	for name, d := range s.Types {
		if d.Kind != ast.Object || strings.HasPrefix(name, "__") {
			continue
		}
		fields := types[name]
		switch {
		case fields != nil:
		case name == "StatusCheckRollupContextConnection":
			fields = merge(connectionFields(name), rollupCounts())
		case name == "LanguageConnection":
			fields = merge(connectionFields(name), map[string]exec.Resolver{
				"totalSize": each(func(c *connection) any { return c.sum })})
		case name == "ComparisonCommitConnection":
			fields = merge(connectionFields(name), map[string]exec.Resolver{"authorCount": authorsCompared})
		case name == "ReactionConnection":
			fields = merge(connectionFields(name),
				map[string]exec.Resolver{"viewerHasReacted": viewerReacted})
		case strings.HasSuffix(name, "TimelineItemsConnection"):
			fields = merge(connectionFields(name), timelineTotals())
		case strings.HasSuffix(name, "Connection"):
			fields = connectionFields(name)
		case strings.HasSuffix(name, "Edge"):
			fields = edgeFields()
		case slices.Contains(slices.Collect(maps.Values(eventTypes)), name):
			fields = eventFields()
		}
		for _, f := range d.Fields {
			if r := fields[f.Name]; r != nil {
				out[name+"."+f.Name] = r
			}
		}
	}
	return &exec.Schema{Schema: s, Resolvers: out, Otherwise: lacking(s, types)}
}

// tables returns the resolvers of the types that Arbor has, by type and field.
func (api *API) tables() map[string]map[string]exec.Resolver {
	return map[string]map[string]exec.Resolver{
		"Query": {
			"viewer": root(viewerAccount), "repository": root(repositoryByName),
			"repositoryOwner": nullIfNotFound(accountOf("", "a RepositoryOwner")),
			"user":            accountOf("User", "a User"), "organization": accountOf("Organization", "an Organization"),
			"node": root(node), "nodes": root(nodes), "search": root(searchResults),
			"rateLimit": root(api.rateLimit),
			"resource":  root(resource),
			"topic":     root(topicByName), "license": root(licenseByKey), "licenses": root(licenses),
			"codesOfConduct": always([]any{}), "relay": always(bare{kind: "Query"}), "id": always(idOfName("Query", "0")),
			"meta": always(bare{"GitHubMetadata", map[string]any{"gitHubServicesSha": string(git.ZeroSHA)}}),
		},
		"Mutation": mutations(),
		"User":     userFields(), "Organization": organizationFields(), "Bot": botFields(), "Mannequin": mannequinFields(),
		"Team": teamFields(), "SavedReply": savedReplyFields(), "ProfileItemShowcase": showcaseFields(),
		"ContributionsCollection": contributionFields(), "CommitContributionsByRepository": contributedPages(),
		"IssueContributionsByRepository":             contributedInFields(),
		"PullRequestContributionsByRepository":       contributedInFields(),
		"PullRequestReviewContributionsByRepository": contributedInFields(),
		"GitActor": gitActorFields(), "Deployment": deploymentFields(), "Environment": environmentFields(),
		"DeploymentStatus":         deploymentStatusFields(),
		"DeploymentProtectionRule": protectionRuleFields(),
		"Topic":                    topicFields(), "License": licenseFields(),
		"Repository": repositoryFields(),
		"Issue":      issueFields(), "PullRequest": pullFields(), "IssueComment": commentFields(),
		"PullRequestReview": reviewFields(), "PullRequestReviewThread": reviewThreadFields(),
		"PullRequestReviewComment": reviewCommentFields(), "Label": labelFields(),
		"CommitComment": commitCommentFields(),
		"LinkedBranch":  linkedBranchFields(), "Milestone": milestoneFields(),
		"Ref": refFields(), "Commit": commitFields(), "Tree": treeFields(), "Blob": blobFields(),
		"Tag":        tagFields(),
		"Comparison": comparisonFields(), "BranchProtectionRule": protectionFields(), "RepositoryRuleset": rulesetFields(),
		"MergeQueue": mergeQueueFields(), "MergeQueueEntry": mergeQueueEntryFields(),
		"ReactionGroup":     reactionGroupFields(),
		"StatusCheckRollup": rollupFields(),
		"StatusContext":     statusContextFields(),
		"CheckRun":          checkRunFields(), "CheckSuite": checkSuiteFields(), "App": appFields(),
		"Status":                 combinedFields(),
		"PullRequestChangedFile": changedFileFields(), "ReleaseAsset": releaseAssetFields(),
		"Release":                    releaseFields(),
		"SearchResultItemConnection": searchFields(),
	}
}

// nullIfNotFound wraps the resolver of a root field: if next returns NOT_FOUND, the result is null without an error.
func nullIfNotFound(next exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		values := next(ctx, f, parents)
		if e, ok := values[0].(*exec.Error); ok && e.Type == "NOT_FOUND" {
			values[0] = nil
		}
		return values
	}
}

// siteOf returns the scheme and host of pages.
func siteOf(ctx context.Context) string { return web.From(ctx).Site }
