package graphql

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"arbor/internal/gitdata"
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
			q, values, pulls := queryOf(ctx), make([]any, len(parents)), make([]*object, len(parents))
			number, media := int64(f.Args["number"].(int)), textMedia(f)
			for n, in := range objectsOf(parents) {
				pulls[n] = pullAt(in, number, media)
			}
			missing := q.fill(ctx, pulls, isWhole)
			for n, o := range pulls {
				if values[n] = o; missing[o] != nil {
					what := fmt.Sprint("a PullRequest with the number of ", number)
					values[n] = asError(orUnresolved(missing[o], what))
				}
			}
			return values
		},
	}
}

// pullRequests lists the pull requests of a repository.
func pullRequests(ctx context.Context, f *exec.Field, o *object) (pages[*pull.View], error) {
	q, media := queryOf(ctx), textMedia(f)
	options, err := pullOptions(f)
	if err != nil {
		return pages[*pull.View]{}, err
	}
	l := loader[string, *web.List[*pull.View]]{name: fmt.Sprintf("pulls %+v", options), route: "/pulls", media: media}
	rows := func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[*pull.View], error) {
		return q.load.Pulls.ListMany(ctx, list, options, at)
	}
	p := pullPages(o, options, media)
	p.many = ofRepositories(l, rows)
	return p, nil
}

// pullOptions reads the arguments of a list of pull requests.
func pullOptions(f *exec.Field) (o pull.ListOptions, err error) {
	states, _ := f.Args["states"].([]any)
	o.States = namesIn(states)
	labels, _ := f.Args["labels"].([]any)
	o.Labels = namesIn(labels)
	o.Base, _ = f.Args["baseRefName"].(string)
	o.Head, _ = f.Args["headRefName"].(string)
	o.Order, err = orderOf(f, posting.Order{Asc: true}, map[string]posting.Sort{"CREATED_AT": posting.Created,
		"UPDATED_AT": posting.Updated, "COMMENTS": posting.Comments})
	return o, err
}

// pullPages returns a list of pull requests of a repository without its loader.
func pullPages(in *object, o pull.ListOptions, media string) pages[*pull.View] {
	return pages[*pull.View]{kind: "PullRequestConnection",
		rank: rankBy(!o.Order.Asc, func(v *pull.View) []any {
			return append(sortedBy(v.Issue, o.Order.Sort), v.Issue.Number)
		}),
		node: func(v *pull.View) (any, error) {
			p := newThing("PullRequest", in, v)
			p.media = media
			return p, nil
		}}
}

// pullAt returns a pull request by its number. media is the form of its texts.
func pullAt(in *object, number int64, media string) *object {
	return &object{kind: "PullRequest", number: number, media: media, repo: in}
}

// numberedPulls loads pull requests by number. Of a single one it makes a missing test merge.
func numberedPulls(q *query, media string) loader[int64, *pull.View] {
	return loader[int64, *pull.View]{name: "pulls", route: "/pulls/{number}", media: media, key: byNumber,
		read: q.load.Pulls.Numbered}
}

func pullFields() map[string]exec.Resolver {
	return merge(tracked(), after(isWhole, pullTables()), after(isWhole, pullQueues()), map[string]exec.Resolver{
		// these need the number alone
		"baseRepository": inRepository,
		"reviewDecision": reviewDecisions, "reviews": reviews,
		"viewerLatestReview":       withReviews(one(viewersReview)),
		"latestReviews":            withReviews(one(latestReviews)),
		"latestOpinionatedReviews": withReviews(one(latestOpinionatedReviews)),
		"reviewThreads":            connections(reviewThreads), "closingIssuesReferences": closingIssues,
		"suggestedReviewerActors": suggested("SuggestedReviewerActorConnection", repositoryOf, asReviewer),
		"viewerMergeHeadlineText": mergeText(func(t pull.MergeText) string { return t.Headline }),
		"viewerMergeBodyText":     mergeText(func(t pull.MergeText) string { return t.Body }),
	})
}

// pullTables are the fields that need a whole pull request.
func pullTables() map[string]exec.Resolver {
	return merge(pullRights(), conversationAddresses("checks"), conversationAddresses("revert"), map[string]exec.Resolver{
		"state": pick(func(v *pull.View) any {
			if v.Merged() {
				return "MERGED"
			}
			return enumName(v.Issue.State.String())
		}),
		"merged":              pick(func(v *pull.View) any { return v.Merged() }),
		"mergedAt":            pick(func(v *pull.View) any { return v.Issue.MergedAt }),
		"mergedBy":            viewed(func(ctx context.Context, v *pull.View) any { return person(ctx, v.MergedBy) }),
		"isDraft":             pick(func(v *pull.View) any { return v.Issue.Draft }),
		"maintainerCanModify": pick(func(v *pull.View) any { return v.Modifiable }),
		"additions":           pick(func(v *pull.View) any { return v.Additions }),
		"deletions":           pick(func(v *pull.View) any { return v.Deletions }),
		"changedFiles":        pick(func(v *pull.View) any { return v.Files }),
		"baseRefName":         pick(func(v *pull.View) any { return v.Base.Ref }),
		"baseRefOid":          pick(func(v *pull.View) any { return v.Base.SHA }),
		"headRefName":         pick(func(v *pull.View) any { return v.Head.Ref }),
		"headRefOid":          pick(func(v *pull.View) any { return v.Head.SHA }),
		"headRepository": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			if in := headRepository(ctx, o); in != nil {
				return in, nil
			}
			return nil, nil
		}),
		"headRepositoryOwner": viewed(func(ctx context.Context, v *pull.View) any { return person(ctx, v.Head.Owner) }),
		"isCrossRepository": pick(func(v *pull.View) any {
			return v.Head.Repo == nil || v.Head.Repo.ID != v.Base.Repo.ID
		}),
		"baseRef": refsOf(func(_ context.Context, o *object) (*object, string, error) {
			return o.repo, heads + o.value.(*pull.View).Base.Ref, nil
		}),
		"headRef": refsOf(func(ctx context.Context, o *object) (*object, string, error) {
			return headRepository(ctx, o), heads + o.value.(*pull.View).Head.Ref, nil
		}),
		"mergeable": pick(mergeable), "mergeStateStatus": pick(mergeState), "mergeRequirements": pick(mergeRequirements),
		"suggestedReviewers": suggestedReviewers,
		"mergeCommit":        merging(true), "potentialMergeCommit": merging(false),
		"reviewRequests": one(reviewRequests), "viewerLatestReviewRequest": one(viewersRequest),
		"commits": pullCommits, "files": connections(pullFiles),
		"statusCheckRollup":         rollups(headOf, wholeRollup),
		"autoMergeRequest":          one(autoMergeRequest),
		"viewerCanEnableAutoMerge":  pick(func(v *pull.View) any { return v.MayEnableAuto() }),
		"permalink":                 viewed(func(ctx context.Context, v *pull.View) any { return pageOf(ctx, v.Issue) }),
		"totalCommentsCount":        pick(func(v *pull.View) any { return v.Issue.Comments + v.ReviewComments }),
		"canBeRebased":              pick(func(v *pull.View) any { ok := v.Mergeable(); return v.Open && ok != nil && *ok }),
		"viewerCanDisableAutoMerge": pick(func(v *pull.View) any { return v.MayDisableAuto() }),
	})
}

// mergeRequirements says what keeps a pull request from being merged: of the conditions it knows conflicts. Which files
// conflict is not known.
func mergeRequirements(v *pull.View) any {
	state, conflicts := "UNMERGEABLE", map[any]string{"MERGEABLE": "PASSED", "CONFLICTING": "FAILED"}[mergeable(v)]
	switch mergeState(v) {
	case "CLEAN", "UNSTABLE", "HAS_HOOKS":
		state = "MERGEABLE"
	case "UNKNOWN":
		state = "UNKNOWN"
	}
	return bare{"PullRequestMergeRequirements", map[string]any{"state": state, "conditions": []any{
		bare{"PullRequestMergeConflictStateCondition", map[string]any{"result": cmp.Or(conflicts, "UNKNOWN"),
			"isConflictResolvableInWeb": false}}}}}
}

// conversationAddresses returns the fields about the address of a page below that of a pull request.
func conversationAddresses(name string) map[string]exec.Resolver {
	fields := pageFields(func(ctx context.Context, o *object) string { return pageOf(ctx, viewOf(o)) + "/" + name })
	return map[string]exec.Resolver{name + "Url": fields["url"], name + "ResourcePath": fields["resourcePath"]}
}

// orNull returns a text, or null for nil.
func orNull(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// autoMergeRequest resolves the auto-merge of a pull request.
func autoMergeRequest(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	m := o.value.(*pull.View).Auto
	if m == nil {
		return nil, nil
	}
	return bare{"AutoMergeRequest", map[string]any{"authorEmail": orNull(m.Email),
		"commitBody": orNull(m.Message), "commitHeadline": orNull(m.Title), "enabledAt": m.At,
		"enabledBy": person(ctx, m.By), "mergeMethod": enumName(m.Name()), "pullRequest": o}}, nil
}

// heads is what names of branches begin with.
const heads = "refs/heads/"

// headOf returns the head of a pull request, as a commit of its base repository.
func headOf(o *object) *object {
	return gitObject(o.repo, "commit", string(o.value.(*pull.View).Head.SHA))
}

// headRepository returns the head's repository, or nil if it was deleted or is hidden from the caller.
func headRepository(ctx context.Context, o *object) *object {
	a := o.value.(*pull.View).Head.Repo
	if a == nil {
		return nil
	}
	return newRepository(repo.NewPayload(a, web.From(ctx)))
}

func mergeable(v *pull.View) any {
	switch ok := v.Mergeable(); {
	case ok == nil:
		return "UNKNOWN"
	case *ok:
		return "MERGEABLE"
	}
	return "CONFLICTING"
}

// mergeState returns whether a pull request can be merged. A draft is BLOCKED, because gh merges one with
// any other state.
func mergeState(v *pull.View) any {
	if v.MergeState == "draft" {
		return "BLOCKED"
	}
	return strings.ToUpper(v.MergeState)
}

// merging resolves the commit on the base after the merge, or that of the test merge before it.
func merging(merged bool) exec.Resolver {
	return one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
		v := o.value.(*pull.View)
		if sha := v.MergeCommit(); v.Merged() == merged && sha != "" {
			return gitObject(o.repo, "commit", string(sha)), nil
		}
		return nil, nil
	})
}

// pullCommits resolves the commits of pull requests. For the last one alone it uses the head and reads no
// list.
func pullCommits(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	if f.Args["last"] == 1 && f.Args["before"] == nil && f.Args["after"] == nil && f.Args["first"] == nil {
		return one(headCommit)(ctx, f, parents)
	}
	return connections(func(ctx context.Context, f *exec.Field, o *object) (pages[*gitdata.CommitPayload], error) {
		return pages[*gitdata.CommitPayload]{kind: "PullRequestCommitConnection", many: commitLists(queryOf(ctx)),
			key:   func(c *gitdata.CommitPayload) string { return c.SHA },
			count: func() (int, error) { return int(o.value.(*pull.View).Commits), nil },
			node: func(c *gitdata.CommitPayload) (any, error) {
				return newPullCommit(ctx, o, listedCommit(o.repo, c)), nil
			}}, nil
	})(ctx, f, parents)
}

// headCommit returns the connection of the last commit.
func headCommit(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	total, head := int(o.value.(*pull.View).Commits), headOf(o)
	return &connection{kind: "PullRequestCommitConnection", part: part{offset: max(0, total-1), size: 1},
		nodes: []any{newPullCommit(ctx, o, head)}, keys: []string{head.name},
		total: func() (int, error) { return total, nil }}, nil
}

// commitLists loads the commits of pull requests.
func commitLists(q *query) listLoader[int64, *gitdata.CommitPayload] {
	l := loader[int64, *web.List[*gitdata.CommitPayload]]{name: "commits",
		route: "/pulls/{number}/commits", key: byNumber}
	return lists(l, q.load.Pulls.Commits)
}

// fileLists loads the changed files of pull requests.
func fileLists(q *query) listLoader[int64, *gitdata.ChangedFile] {
	l := loader[int64, *web.List[*gitdata.ChangedFile]]{name: "files", route: "/pulls/{number}/files", key: byNumber}
	return lists(l, q.load.Pulls.Files)
}

func pullFiles(ctx context.Context, _ *exec.Field, o *object) (pages[*gitdata.ChangedFile], error) {
	return pages[*gitdata.ChangedFile]{kind: "PullRequestChangedFileConnection", many: fileLists(queryOf(ctx)),
		key:   func(c *gitdata.ChangedFile) string { return c.Filename },
		count: func() (int, error) { return int(o.value.(*pull.View).Files), nil },
		node: func(c *gitdata.ChangedFile) (any, error) {
			return &object{kind: "PullRequestChangedFile", value: c, whole: true, repo: o.repo, of: o}, nil
		}}, nil
}
