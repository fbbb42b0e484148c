package graphql

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/pull"
	"arbor/internal/web"
)

// repositoryPulls returns the fields of a repository about pull requests.
func repositoryPulls() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"pullRequests": one(pullRequests),
		"pullRequest": one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
			q, number, media := queryOf(ctx), f.Args["number"].(int), textMedia(f)
			data, err := q.object(ctx, Question{Path: o.path("pulls", strconv.Itoa(number)), Media: media})
			if err != nil {
				return nil, orUnresolved(err, fmt.Sprintf("a PullRequest with the number of %d", number))
			}
			return newPull(o, data, media), nil
		}),
	}
}

// pullRequests resolves the pull requests of a repository.
func pullRequests(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q, media := queryOf(ctx), textMedia(f)
	values := url.Values{"state": {"all"}, "direction": {"asc"}}
	if list, ok := f.Args["states"].([]any); ok {
		names := make([]string, len(list))
		for n, name := range list {
			names[n], _ = name.(string)
		}
		values.Set("states", strings.Join(names, ","))
	}
	for name, parameter := range map[string]string{"baseRefName": "base", "headRefName": "head_ref"} {
		if v, ok := f.Args[name].(string); ok && v != "" {
			values.Set(parameter, v)
		}
	}
	sorts := map[string]string{"CREATED_AT": "created", "UPDATED_AT": "updated", "COMMENTS": "popularity"}
	if err := setOrder(f, values, sorts); err != nil {
		return nil, err
	}
	return q.connect(ctx, f, pages{kind: "PullRequestConnection",
		question: Question{Path: o.path("pulls"), Query: values, Media: media, Handler: q.with.Pulls},
		rank:     rankOf(values, "number"),
		node:     func(data payload) (any, error) { return newPull(o, data, media), nil }})
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

// numberedPulls loads full pull requests by number. A single one is read from REST, which creates a missing
// test merge.
func numberedPulls(q *query, o *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "pulls", route: "/pulls", media: o.source.Media, key: byNumber}
	return full(l, inEach(q.load.Pulls.Numbered))
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
		"reviewDecision": listedWhole(reviewLists, one(reviewDecision)),
		"reviewRequests": one(reviewRequests), "reviews": listed(reviewLists, true, one(reviews)),
		"latestReviews":            listedWhole(reviewLists, one(latestReviews)),
		"latestOpinionatedReviews": listedWhole(reviewLists, one(latestOpinionatedReviews)),
		"commits":                  listed(commitLists, false, one(pullCommits)), "files": listed(fileLists, false, one(pullFiles)),
		"reviewThreads":           listed(threadLists, true, one(reviewThreads)),
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
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		data, err := o.inner(ctx, which)
		if err != nil {
			return nil, err
		}
		in := o.repo
		if which == "head" {
			head, err := headRepository(ctx, nil, o)
			if head == nil || err != nil {
				return nil, err
			}
			in = head.(*object)
		}
		return queryOf(ctx).ref(ctx, in, "refs/heads/"+textOf(data, "ref"))
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

// pullCommits resolves the commits of a pull request. For the last one alone it uses the head and reads no
// list.
func pullCommits(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q := queryOf(ctx)
	count := func() (int, error) {
		v, err := o.value(ctx, "commits")
		number, _ := v.(json.Number)
		n, _ := number.Int64()
		return int(n), err
	}
	commit := func(c *object) any {
		return newPullCommit(ctx, o, c)
	}
	if f.Args["last"] == 1 && f.Args["before"] == nil && f.Args["after"] == nil && f.Args["first"] == nil {
		head, err := o.inner(ctx, "head")
		if err != nil {
			return nil, err
		}
		total, err := count()
		if err != nil {
			return nil, err
		}
		return &connection{kind: "PullRequestCommitConnection", part: part{offset: max(0, total-1), size: 1},
			nodes: []any{commit(gitObject(o.repo, "commit", textOf(head, "sha")))},
			keys:  []string{textOf(head, "sha")}, total: count}, nil
	}
	return q.connect(ctx, f, pages{kind: "PullRequestCommitConnection", count: count, many: commitLists(q, f), of: o,
		node: func(data payload) (any, error) {
			c, err := listedCommit(o.repo, data)
			if err != nil {
				return nil, err
			}
			return commit(c), nil
		}})
}

// commitLists loads the commits of pull requests.
func commitLists(q *query, _ *exec.Field) listLoader[int64] {
	l := loader[int64, *web.List[payload]]{name: "commits", route: "/pulls", key: byNumber}
	return lists(l, listsInEach(q.load.Pulls.Commits))
}

func pullCommitURL(ctx context.Context, o, c *object) string {
	return o.text(ctx, "html_url") + "/commits/" + textOf(c.data, "sha")
}

// fileLists loads the changed files of pull requests.
func fileLists(q *query, _ *exec.Field) listLoader[int64] {
	l := loader[int64, *web.List[payload]]{name: "files", route: "/pulls", key: byNumber}
	return lists(l, listsInEach(q.load.Pulls.Files))
}

func pullFiles(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q := queryOf(ctx)
	of := fileLists(q, f)
	return q.connect(ctx, f, pages{kind: "PullRequestChangedFileConnection", many: of, of: o,
		count: func() (int, error) {
			v, err := o.value(ctx, "changed_files")
			number, _ := v.(json.Number)
			n, _ := number.Int64()
			return int(n), err
		},
		node: func(data payload) (any, error) {
			return &object{kind: "PullRequestChangedFile", data: data, whole: true, repo: o.repo, of: o}, nil
		}})
}
