package graphql

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/markdown"
	"arbor/internal/web"
)

// eventTypes are the types of REST's events. Others are omitted from timelines: for a changed base the old
// branch is unknown.
var eventTypes = map[string]string{"closed": "ClosedEvent", "reopened": "ReopenedEvent",
	"labeled":   "LabeledEvent",
	"unlabeled": "UnlabeledEvent", "assigned": "AssignedEvent", "unassigned": "UnassignedEvent",
	"milestoned":   "MilestonedEvent",
	"demilestoned": "DemilestonedEvent", "locked": "LockedEvent", "unlocked": "UnlockedEvent",
	"renamed":   "RenamedTitleEvent",
	"mentioned": "MentionedEvent", "subscribed": "SubscribedEvent", "unsubscribed": "UnsubscribedEvent",
	"referenced": "ReferencedEvent", "cross-referenced": "CrossReferencedEvent", "merged": "MergedEvent",
	"comment_deleted": "CommentDeletedEvent", "review_requested": "ReviewRequestedEvent",
	"review_request_removed": "ReviewRequestRemovedEvent", "review_dismissed": "ReviewDismissedEvent",
	"pinned":   "PinnedEvent",
	"unpinned": "UnpinnedEvent", "transferred": "TransferredEvent", "ready_for_review": "ReadyForReviewEvent",
	"convert_to_draft": "ConvertToDraftEvent", "commented": "IssueComment", "reviewed": "PullRequestReview"}

// mostEntries limits how many hundreds of a timeline's entries, and of its commits, are read.
const mostEntries = 10

// entry is an object of a timeline.
type entry struct {
	at   string // RFC 3339 in UTC
	node any
}

// timelineItems resolves the events of issues or pull requests, oldest first, at most the first thousand of
// each. REST's list has no commits. They are sorted in by their commit times.
func timelineItems(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	all, pulls := make([]*object, len(parents)), []*object{}
	for n, p := range parents {
		if all[n] = p.(*object); all[n].kind == "PullRequest" && wantedEntries(f)("PullRequestCommit") {
			pulls = append(pulls, all[n])
		}
	}
	timelines(q, f).page(1, web.MaxPageSize).load(ctx, q, all)
	commits, err := q.commitEntries(ctx, pulls)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	for n, o := range all {
		c, err := timelineItem(ctx, f, o, commits[o])
		if values[n] = c; err != nil {
			values[n] = asError(err)
		}
	}
	return values
}

// timelines loads the timelines of issues and pull requests, without the commits of pull requests.
func timelines(q *query, f *exec.Field) listLoader[int64] {
	return lists(loader[int64, *web.List[payload]]{name: "timeline", route: "/issues/{number}/timeline",
		media: textMedia(f), key: byNumber}, q.load.Timelines.ListMany)
}

// timelineItem resolves the timeline of one issue, or of a pull request with its commits.
func timelineItem(ctx context.Context, f *exec.Field, o *object, commits []entry) (any, error) {
	q, media := queryOf(ctx), textMedia(f)
	wanted := wantedEntries(f)
	list, err := timelines(q, f).all(ctx, q, o, mostEntries)
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, data := range list {
		kind := eventTypes[textOf(data, "event")]
		if kind == "" || !wanted(kind) {
			continue
		}
		e, err := newEntry(o, kind, data, media)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	if len(commits) > 0 {
		all = append(all, commits...)
		slices.SortStableFunc(all, func(a, b entry) int { return strings.Compare(a.at, b.at) })
	}
	nodes, keys, updated := []any{}, []string{}, o.text(ctx, "created_at")
	since, _ := f.Args["since"].(string)
	for _, e := range all {
		if since != "" && e.at < since {
			continue
		}
		nodes, updated = append(nodes, e.node), max(updated, e.at)
		keys = append(keys, e.at+" "+sortable(keyOfNode(e.node)))
	}
	if skip, ok := f.Args["skip"].(int); ok && skip > 0 {
		nodes, keys = nodes[min(skip, len(nodes)):], keys[min(skip, len(keys)):]
	}
	c, err := connectKeyed(f, o.kind+"TimelineItemsConnection", nodes, keys, true)
	if err == nil {
		c.(*connection).updated = updated
	}
	return c, err
}

// wantedEntries returns a filter for the types that a query selects, by default all.
func wantedEntries(f *exec.Field) func(kind string) bool {
	names, ok := f.Args["itemTypes"].([]any)
	if !ok {
		return func(string) bool { return true }
	}
	return func(kind string) bool {
		return slices.ContainsFunc(names, func(name any) bool {
			text, _ := name.(string)
			return strings.EqualFold(strings.ReplaceAll(text, "_", ""), kind)
		})
	}
}

func newEntry(o *object, kind string, data payload, media string) (entry, error) {
	e := entry{at: textOf(data, "created_at")}
	switch kind {
	case "IssueComment":
		e.node = newComment(o.repo, o, data, media)
	case "PullRequestReview":
		e.at, e.node = textOf(data, "submitted_at"), newReview(o.repo, o, data, media)
	default:
		event := &object{kind: kind, data: data, whole: true, repo: o.repo, of: o}
		if kind == "CrossReferencedEvent" {
			source, err := crossReference(event, media)
			if err != nil {
				return e, err
			}
			id, _ := json.Marshal(account.NodeID(kind, source))
			event.data = data.with("node_id", id)
		}
		e.node = event
	}
	return e, nil
}

// crossReference returns the id of the issue that mentions another one.
func crossReference(event *object, media string) (id int64, err error) {
	source, err := referring(event, media)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(source.data.get("id")), 10, 64)
}

// referring returns the issue or the pull request that mentions another one.
func referring(event *object, media string) (*object, error) {
	source, err := members(event.data.get("source"))
	if err != nil {
		return nil, err
	}
	data, err := members(source.get("issue"))
	if err == nil && data == nil {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return newIssue(nil, data, media)
}

// commitEntries returns the commits of pull requests as entries.
func (q *query) commitEntries(ctx context.Context, pulls []*object) (map[*object][]entry, error) {
	lists, entries := commitLists(q, nil), map[*object][]entry{}
	lists.page(1, web.MaxPageSize).load(ctx, q, pulls)
	for _, o := range pulls {
		list, err := lists.all(ctx, q, o, mostEntries)
		if err != nil {
			return nil, err
		}
		for _, data := range list {
			c, err := listedCommit(o.repo, data)
			if err != nil {
				return nil, err
			}
			committer, err := c.inner(ctx, "committer")
			if err != nil {
				return nil, err
			}
			at, err := time.Parse(time.RFC3339, textOf(committer, "date"))
			if err != nil {
				return nil, err
			}
			entries[o] = append(entries[o], entry{at.UTC().Format(time.RFC3339), newPullCommit(ctx, o, c)})
		}
	}
	return entries, nil
}

// newPullCommit returns a commit as a part of a pull request.
func newPullCommit(ctx context.Context, o, c *object) bare {
	raw, _ := o.member(ctx, "id") // of the pull request, already loaded by the list of its commits
	id, _ := strconv.ParseInt(string(raw), 10, 64)
	inner := account.NodeID("PullRequestCommit", id) + ":" + textOf(c.data, "sha")
	address := pullCommitURL(ctx, o, c)
	return bare{"PullRequestCommit", map[string]any{"id": base64.RawURLEncoding.EncodeToString([]byte(inner)),
		"commit":      c,
		"pullRequest": o, "url": address, "resourcePath": strings.TrimPrefix(address, siteOf(ctx))}}
}

// timelineTotals returns the additional fields of connections of timelines.
func timelineTotals() map[string]exec.Resolver {
	each := func(value func(c *connection) any) exec.Resolver {
		return func(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
			values := make([]any, len(parents))
			for n, p := range parents {
				values[n] = value(p.(*connection))
			}
			return values
		}
	}
	return map[string]exec.Resolver{
		"filteredCount": each(func(c *connection) any { n, _ := c.total(); return n }), // already loaded
		"pageCount":     each(func(c *connection) any { return len(c.nodes) }),
		"updatedAt":     each(func(c *connection) any { return c.updated }),
	}
}

// eventFields returns the fields of all events.
func eventFields() map[string]exec.Resolver {
	part := func(member, name string) exec.Resolver {
		return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := o.inner(ctx, member)
			return decode(data.get(name)), err
		})
	}
	address := func(ctx context.Context, o *object) string {
		return o.of.text(ctx, "html_url") + "#event-" + string(o.data.get("id"))
	}
	commit := one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		if sha := o.text(ctx, "commit_id"); sha != "" {
			return gitObject(o.repo, "commit", sha), nil
		}
		return nil, nil
	})
	return map[string]exec.Resolver{
		"id": same("node_id"), "databaseId": same("id"), "actor": accountField("actor"),
		"createdAt": same("created_at"),
		"url":       one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) { return address(ctx, o), nil }),
		"resourcePath": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return strings.TrimPrefix(address(ctx, o), siteOf(ctx)), nil
		}),
		"labelable": ofPull, "assignable": ofPull, "lockable": ofPull, "closable": ofPull, "subject": ofPull,
		"issue":       ofPull,
		"pullRequest": ofPull, "target": ofPull,
		"label": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := o.inner(ctx, "label")
			return &object{kind: "Label", data: data, repo: o.repo,
				source: source{Path: o.repo.path("labels", textOf(data, "name"))}}, err
		}),
		"assignee": accountField("assignee"), "user": accountField("assignee"),
		"requestedReviewer": accountField("requested_reviewer"),
		"milestoneTitle":    part("milestone", "title"), "previousTitle": part("rename", "from"),
		"currentTitle": part("rename", "to"),
		"lockReason":   upper("lock_reason"), "stateReason": upper("state_reason"),
		"closer": commit, "commit": commit, "commitRepository": inRepository,
		"isDirectReference": always(true),
		"mergeRefName": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			base, err := o.of.inner(ctx, "base")
			return decode(base.get("ref")), err
		}),
		"mergeRef": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			base, err := o.of.inner(ctx, "base")
			if err != nil {
				return nil, err
			}
			return queryOf(ctx).ref(ctx, o.repo, "refs/heads/"+textOf(base, "ref"))
		}),
		"fromRepository": always(nil), "referencedAt": same("created_at"),
		"source": one(func(_ context.Context, f *exec.Field, o *object) (any,
			error) {
			return referring(o, textMedia(f))
		}),
		"isCrossRepository": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			if o.data.get("source") == nil {
				return false, nil
			}
			source, err := referring(o, "raw")
			if err != nil {
				return nil, err
			}
			return !strings.EqualFold(source.repo.source.Path, o.repo.source.Path), nil
		}),
		"willCloseTarget":  one(willClose),
		"dismissalMessage": part("dismissed_review", "dismissal_message"),
		"previousReviewState": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := o.inner(ctx, "dismissed_review")
			return enumName(textOf(data, "state")), err
		}),
		"review": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := o.inner(ctx, "dismissed_review")
			id, _ := strconv.ParseInt(string(data.get("review_id")), 10, 64)
			if id == 0 {
				return nil, err
			}
			return reviewAt(o.of, id), err
		}),
	}
}

// willClose reports whether a pull request of the same repository closes the issue when it is merged.
func willClose(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	source, err := referring(o, "raw")
	if err != nil || source.kind != "PullRequest" ||
		!strings.EqualFold(source.repo.source.Path, o.repo.source.Path) {
		return false, err
	}
	for _, ref := range markdown.Parse(textOf(source.data, "body")).References().Closes {
		if ref.Owner == "" && strconv.FormatInt(ref.Number, 10) == numberOf(o.of) {
			return true, nil
		}
	}
	return false, nil
}
