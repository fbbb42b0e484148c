package graphql

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/posting"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// repositoryPulls returns the fields of a repository about pull requests.
func repositoryPulls() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"pullRequests": connections(pullRequests),
		"pullRequest": func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
			number, media := strconv.Itoa(f.Args["number"].(int)), textMedia(f)
			pulls := make([]*object, len(parents))
			for n, in := range objectsOf(parents) {
				pulls[n] = pullAt(in, number, media)
			}
			return resolved(ctx, numberedPulls(queryOf(ctx), pulls[0]), pulls,
				"a PullRequest with the number of "+number, itself)
		},
	}
}

// resolved loads objects, whole, and returns them as show does, or the error that what could not be resolved.
func resolved[K comparable](
	ctx context.Context, l loader[K, payload], objects []*object, what string, show func(o *object) *object,
) []any {
	q, values := queryOf(ctx), make([]any, len(objects))
	l.load(ctx, q, objects)
	for n, o := range objects {
		data, err := l.get(ctx, q, o)
		if err == nil && data == nil {
			err = errs.Absent()
		}
		if err != nil {
			values[n] = asError(orUnresolved(err, what))
			continue
		}
		o.data, o.whole = data, true
		values[n] = show(o)
	}
	return values
}

// pullRequests lists the pull requests of a repository.
func pullRequests(ctx context.Context, f *exec.Field, o *object) (pages, error) {
	q, media := queryOf(ctx), textMedia(f)
	options := pull.ListOptions{Order: posting.Order{Asc: true}}
	states, _ := f.Args["states"].([]any)
	options.States = namesIn(states)
	options.Base, _ = f.Args["baseRefName"].(string)
	options.Head, _ = f.Args["headRefName"].(string)
	var err error
	if options.Order, err = orderOf(f, options.Order, map[string]posting.Sort{"CREATED_AT": posting.Created,
		"UPDATED_AT": posting.Updated, "COMMENTS": posting.Comments}); err != nil {
		return pages{}, err
	}
	l := loader[string, *web.List[payload]]{name: fmt.Sprintf("pulls %+v", options), route: "/pulls", media: media}
	rows := func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[*pull.Payload], error) {
		return q.load.Pulls.ListMany(ctx, list, options, at)
	}
	by := map[posting.Sort][]string{posting.Updated: {"updated_at"}, posting.Comments: {"comments"}}[options.Order.Sort]
	return pages{kind: "PullRequestConnection", many: ofRepositories(l, rows),
		rank: byMembers(!options.Order.Asc, append(by, "number")...),
		node: func(data payload) (any, error) { return newPull(o, data, media), nil }}, nil
}

// newPull returns a pull request for its full payload.
func newPull(in *object, data payload, media string) *object {
	return &object{kind: "PullRequest", data: data, whole: true, repo: in,
		source: source{Path: in.path("pulls", string(data.get("number"))), Media: media}}
}

// pullAt returns a pull request by its number. media is the form of its texts.
func pullAt(in *object, number, media string) *object {
	return &object{kind: "PullRequest", data: payload{}.with("number", json.RawMessage(number)), repo: in,
		source: source{Path: in.path("pulls", number), Media: media}}
}

// numberedPulls loads full pull requests by number. Of a single one it makes a missing test merge.
func numberedPulls(q *query, o *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "pulls", route: "/pulls/{number}", media: o.source.Media, key: byNumber}
	return full(l, q.load.Pulls.Numbered)
}

func pullFields() map[string]exec.Resolver {
	fields := merge(tracked(), map[string]exec.Resolver{
		"fullDatabaseId": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			id, err := o.member(ctx, "id")
			return string(id), err
		}),
		"state": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			merged, err := o.value(ctx, "merged_at")
			if merged != nil {
				return "MERGED", err
			}
			return strings.ToUpper(o.text(ctx, "state")), err
		}),
		"merged": isNull("merged_at", false), "mergedAt": same("merged_at"),
		"mergedBy": accountField("merged_by"),
		"isDraft":  same("draft"), "maintainerCanModify": same("maintainer_can_modify"),
		"additions": same("additions"),
		"deletions": same("deletions"), "changedFiles": same("changed_files"),
		"baseRefName": side("base", "ref"), "baseRefOid": side("base", "sha"),
		"headRefName": side("head", "ref"), "headRefOid": side("head", "sha"),
		"baseRepository": inRepository, "headRepository": one(headRepository),
		"headRepositoryOwner": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			head, err := o.inner(ctx, "head")
			if err != nil {
				return nil, err
			}
			owner, err := members(head.get("user"))
			return newAccount(owner), err
		}),
		"isCrossRepository": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			head, err := headRepository(ctx, nil, o)
			if head == nil || err != nil {
				return true, err
			}
			return textOf(head.(*object).data, "full_name") != o.repo.text(ctx, "full_name"), nil
		}),
		"baseRef": branchOf("base"), "headRef": branchOf("head"),
		"mergeable": one(mergeable), "mergeStateStatus": one(mergeState),
		"mergeCommit": merging(true), "potentialMergeCommit": merging(false),
		"reviewDecision": withReviews(one(reviewDecision)),
		"reviewRequests": one(reviewRequests), "reviews": connections(reviews),
		"latestReviews":            withReviews(one(latestReviews)),
		"latestOpinionatedReviews": withReviews(one(latestOpinionatedReviews)),
		"commits":                  pullCommits, "files": connections(pullFiles),
		"reviewThreads":           connections(reviewThreads),
		"closingIssuesReferences": closingIssues, "suggestedReviewers": always([]any{}),
		"suggestedReviewerActors": suggested("SuggestedReviewerActorConnection", repositoryOf, asReviewer),
		"viewerMergeHeadlineText": mergeText(func(t pull.MergeText) string { return t.Headline }),
		"viewerMergeBodyText":     mergeText(func(t pull.MergeText) string { return t.Body }),
		"isInMergeQueue":          always(false), "isMergeQueueEnabled": always(false),
		"autoMergeRequest": always(nil),
		"statusCheckRollup": rollups(func(ctx context.Context, o *object) (*object, error) {
			head, err := o.inner(ctx, "head")
			return gitObject(o.repo, "commit", textOf(head, "sha")), err
		}, whole),
		"titleHTML": one(titleHTML),
	})
	for name, r := range fields {
		fields[name] = filled(numberedPulls, anyObject, r)
	}
	return fields
}

// side resolves a member of the head or the base.
func side(which, member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		data, err := o.inner(ctx, which)
		return decode(data.get(member)), err
	})
}

// headRepository resolves the head's repository. It is null if the repository was deleted or is hidden from
// the caller.
func headRepository(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	head, err := o.inner(ctx, "head")
	if err != nil {
		return nil, err
	}
	data, err := members(head.get("repo"))
	if data == nil || err != nil {
		return nil, err
	}
	return newRepository(data), nil
}

// branchOf resolves the branch of the head or the base. It is null if the branch was deleted.
func branchOf(which string) exec.Resolver {
	return refsOf(func(ctx context.Context, o *object) (*object, string, error) {
		data, err := o.inner(ctx, which)
		if err != nil || which == "base" {
			return o.repo, "refs/heads/" + textOf(data, "ref"), err
		}
		in, err := headRepository(ctx, nil, o)
		if in == nil || err != nil {
			return nil, "", err
		}
		return in.(*object), "refs/heads/" + textOf(data, "ref"), nil
	})
}

func mergeable(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	v, err := o.value(ctx, "mergeable")
	switch v {
	case true:
		return "MERGEABLE", err
	case false:
		return "CONFLICTING", err
	}
	return "UNKNOWN", err
}

// mergeState resolves whether a pull request can be merged. A draft is BLOCKED, because gh merges one with
// any other state.
func mergeState(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	v, err := o.value(ctx, "mergeable_state")
	state, _ := v.(string)
	if state == "draft" {
		return "BLOCKED", err
	}
	return strings.ToUpper(state), err
}

// merging resolves the commit on the base after the merge, or that of the test merge before it.
func merging(merged bool) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		at, err := o.value(ctx, "merged_at")
		sha := o.text(ctx, "merge_commit_sha")
		if err != nil || (at != nil) != merged || sha == "" {
			return nil, err
		}
		return gitObject(o.repo, "commit", sha), nil
	})
}

// pullCommits resolves the commits of pull requests. For the last one alone it uses the head and reads no
// list.
func pullCommits(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	if f.Args["last"] == 1 && f.Args["before"] == nil && f.Args["after"] == nil && f.Args["first"] == nil {
		return one(headCommit)(ctx, f, parents)
	}
	return connections(func(ctx context.Context, f *exec.Field, o *object) (pages, error) {
		return pages{kind: "PullRequestCommitConnection", many: commitLists(queryOf(ctx), f),
			count: func() (int, error) { return countedBy(ctx, o, "commits") },
			node: func(data payload) (any, error) {
				c, err := listedCommit(o.repo, data)
				if err != nil {
					return nil, err
				}
				return newPullCommit(ctx, o, c), nil
			}}, nil
	})(ctx, f, parents)
}

// headCommit returns the connection of the last commit.
func headCommit(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	head, err := o.inner(ctx, "head")
	if err != nil {
		return nil, err
	}
	total, err := countedBy(ctx, o, "commits")
	if err != nil {
		return nil, err
	}
	sha := textOf(head, "sha")
	return &connection{kind: "PullRequestCommitConnection", part: part{offset: max(0, total-1), size: 1},
		nodes: []any{newPullCommit(ctx, o, gitObject(o.repo, "commit", sha))}, keys: []string{sha},
		total: func() (int, error) { return total, nil }}, nil
}

// commitLists loads the commits of pull requests.
func commitLists(q *query, _ *exec.Field) listLoader[int64] {
	l := loader[int64, *web.List[payload]]{name: "commits", route: "/pulls/{number}/commits", key: byNumber}
	return lists(l, q.load.Pulls.Commits)
}

func pullCommitURL(ctx context.Context, o, c *object) string {
	return o.text(ctx, "html_url") + "/commits/" + textOf(c.data, "sha")
}

// fileLists loads the changed files of pull requests.
func fileLists(q *query) listLoader[int64] {
	l := loader[int64, *web.List[payload]]{name: "files", route: "/pulls/{number}/files", key: byNumber}
	return lists(l, q.load.Pulls.Files)
}

func pullFiles(ctx context.Context, _ *exec.Field, o *object) (pages, error) {
	return pages{kind: "PullRequestChangedFileConnection", many: fileLists(queryOf(ctx)),
		count: func() (int, error) { return countedBy(ctx, o, "changed_files") },
		node: func(data payload) (any, error) {
			return &object{kind: "PullRequestChangedFile", data: data, whole: true, repo: o.repo, of: o}, nil
		}}, nil
}
