package graphql

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/issue/timeline"
	"arbor/internal/label"
	"arbor/internal/markdown"
	"arbor/internal/pull"
	"arbor/internal/review"
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
	"auto_merge_enabled": "AutoMergeEnabledEvent", "auto_squash_enabled": "AutoSquashEnabledEvent",
	"auto_rebase_enabled": "AutoRebaseEnabledEvent", "auto_merge_disabled": "AutoMergeDisabledEvent",
	"added_to_merge_queue": "AddedToMergeQueueEvent", "removed_from_merge_queue": "RemovedFromMergeQueueEvent",
	"convert_to_draft": "ConvertToDraftEvent", "commented": "IssueComment", "reviewed": "PullRequestReview"}

// mostEntries limits how many hundreds of a timeline's entries, and of its commits, are read.
const mostEntries = 10

// entry is an object of a timeline.
type entry struct {
	at   string // RFC 3339 in UTC
	node any
}

// deprecated is the name of the field that has the timeline as an older union of types. Commits are commits there, and
// not those of pull requests.
const deprecated = "timeline"

// timelineItems resolves the events of issues or pull requests, oldest first, at most the first thousand of
// each. REST's list has no commits. They are sorted in by their commit times.
func timelineItems(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	all, pulls := make([]*object, len(parents)), []*object{}
	for n, p := range parents {
		if all[n] = p.(*object); all[n].kind == "PullRequest" && (f.Name == deprecated || wantedEntries(f)("PullRequestCommit")) {
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
func timelines(q *query, f *exec.Field) listLoader[int64, *timeline.Shown] {
	return lists(loader[int64, *web.List[*timeline.Shown]]{name: "timeline", route: "/issues/{number}/timeline",
		media: textMedia(f), key: byNumber}, q.load.Timelines.ListMany)
}

// timelineItem resolves the timeline of one issue, or of a pull request with its commits.
func timelineItem(ctx context.Context, f *exec.Field, o *object, commits []entry) (any, error) {
	q, media := queryOf(ctx), textMedia(f)
	wanted, kind := wantedEntries(f), o.kind+"TimelineItemsConnection"
	if f.Name == deprecated {
		kinds := q.schema().Types[o.kind+"TimelineItem"].Types
		wanted, kind = func(kind string) bool { return slices.Contains(kinds, kind) }, o.kind+"TimelineConnection"
		for n := range commits {
			commits[n].node = commits[n].node.(bare).fields["commit"]
		}
	}
	list, err := timelines(q, f).all(ctx, q, o, mostEntries)
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, shown := range list {
		if e := newEntry(o, shown, media); e.node != nil && wanted(e.node.(*object).kind) {
			all = append(all, e)
		}
	}
	if len(commits) > 0 {
		all = append(all, commits...)
		slices.SortStableFunc(all, func(a, b entry) int { return strings.Compare(a.at, b.at) })
	}
	nodes, keys, updated := []any{}, []string{}, viewOf(o).CreatedAt.String()
	since, _ := f.Args["since"].(string)
	for _, e := range all {
		if since != "" && e.at < since {
			continue
		}
		nodes, updated = append(nodes, e.node), max(updated, e.at)
		keys = append(keys, e.at+" "+padded(keyOfNode(e.node)))
	}
	if skip, ok := f.Args["skip"].(int); ok && skip > 0 {
		nodes, keys = nodes[min(skip, len(nodes)):], keys[min(skip, len(keys)):]
	}
	c, err := connectKeyed(f, kind, nodes, keys, true)
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

// newEntry returns an entry of the timeline of an issue or a pull request, without a node for one of a type that the
// schema does not have.
func newEntry(o *object, shown *timeline.Shown, media string) entry {
	switch {
	case shown.Comment != nil:
		return entry{shown.Comment.CreatedAt.String(), newComment(o.repo, o, shown.Comment, media)}
	case shown.Review != nil:
		v := shown.Review
		return entry{v.SubmittedAt.String(), newReview(o, &review.Payload{ID: v.ID, NodeID: v.NodeID, User: v.User,
			Payload: v.Payload, State: v.State, HTMLURL: v.HTMLURL, Association: v.Association,
			SubmittedAt: v.SubmittedAt, Commit: git.SHA(v.Commit)}, media)}
	}
	e := entry{at: shown.Event.CreatedAt.String()}
	if kind := eventTypes[shown.Event.Event]; kind != "" {
		event := &object{kind: kind, value: shown, whole: true, media: media, repo: o.repo, of: o}
		if shown.Source == nil { // REST has no ids of cross-references
			event.id = shown.Event.ID
		}
		e.node = event
	}
	return e
}

// commitEntries returns the commits of pull requests as entries.
func (q *query) commitEntries(ctx context.Context, pulls []*object) (map[*object][]entry, error) {
	lists, entries := commitLists(q), map[*object][]entry{}
	lists.page(1, web.MaxPageSize).load(ctx, q, pulls)
	for _, o := range pulls {
		list, err := lists.all(ctx, q, o, mostEntries)
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			at, err := time.Parse(time.RFC3339, c.Commit.Committer.Date)
			if err != nil {
				return nil, err
			}
			entries[o] = append(entries[o], entry{at.UTC().Format(time.RFC3339),
				newPullCommit(ctx, o, listedCommit(o.repo, c))})
		}
	}
	return entries, nil
}

// newPullCommit returns a commit as a part of a pull request.
func newPullCommit(ctx context.Context, o, c *object) bare {
	inner := account.NodeID("PullRequestCommit", o.id) + ":" + c.name
	address := pageOf(ctx, viewOf(o)) + "/commits/" + c.name
	return bare{"PullRequestCommit", map[string]any{"id": base64.RawURLEncoding.EncodeToString([]byte(inner)),
		"commit":      c,
		"pullRequest": o, "url": address, "resourcePath": strings.TrimPrefix(address, siteOf(ctx))}}
}

// timelineTotals returns the additional fields of connections of timelines.
func timelineTotals() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"filteredCount": each(func(c *connection) any { return orError(c.total()) }),
		"pageCount":     each(func(c *connection) any { return len(c.nodes) }),
		"updatedAt":     each(func(c *connection) any { return c.updated }),
	}
}

// ofEvent is pick for events.
func ofEvent(part func(e *timeline.EventPayload) any) exec.Resolver {
	return pick(func(s *timeline.Shown) any { return part(s.Event) })
}

// eventFields returns the fields of all events.
func eventFields() map[string]exec.Resolver {
	type event = *timeline.EventPayload
	commit := one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
		if sha := eventOf(o).CommitID; sha != nil && *sha != "" {
			return gitObject(o.repo, "commit", *sha), nil
		}
		return nil, nil
	})
	created := ofEvent(func(e event) any { return e.CreatedAt })
	fields := map[string]exec.Resolver{
		"id": key(func(o *object) any {
			if source := o.value.(*timeline.Shown).Source; source != nil {
				return account.NodeID(o.kind, source.ID)
			}
			return eventOf(o).NodeID
		}),
		"databaseId": key(func(o *object) any {
			if o.id == 0 {
				return nil
			}
			return o.id
		}),
		"actor": ofEvent(func(e event) any { return newAccount(e.Actor) }), "createdAt": created, "referencedAt": created,
		"enqueuer": ofEvent(actingUser), "mergeQueue": one(eventQueue),
		"enabler": ofEvent(actingUser), "disabler": ofEvent(actingUser),
		"reason": ofEvent(func(e event) any {
			if e.Reason == "" {
				return nil
			}
			return e.Reason
		}),
		"label":             one(eventLabel),
		"requestedReviewer": ofEvent(func(e event) any { return accountIn(e.Reviewer) }),
		"assignee":          ofEvent(func(e event) any { return accountIn(e.Assignee) }),
		"user":              ofEvent(func(e event) any { return accountIn(e.Assignee) }),
		"milestoneTitle": ofEvent(func(e event) any {
			if e.Milestone == nil {
				return nil
			}
			return e.Milestone.Title
		}),
		"previousTitle": ofEvent(func(e event) any { return renameIn(e).From }),
		"currentTitle":  ofEvent(func(e event) any { return renameIn(e).To }),
		"lockReason":    ofEvent(func(e event) any { return wordIn(e.LockReason) }),
		"stateReason":   ofEvent(func(e event) any { return wordIn(e.StateReason) }),
		"closer":        commit, "commit": commit, "commitRepository": inRepository,
		"isDirectReference": always(true),
		"mergeRefName": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			p, err := pullOf(ctx, o.of)
			if err != nil {
				return nil, err
			}
			return p.Base.Ref, nil
		}),
		"mergeRef": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			p, err := pullOf(ctx, o.of)
			if err != nil {
				return nil, err
			}
			return queryOf(ctx).ref(ctx, o.repo, heads+p.Base.Ref)
		}),
		"source": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) { return referring(o), nil }),
		"isCrossRepository": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			source := o.value.(*timeline.Shown).Source
			return source != nil && !strings.EqualFold(source.Access.FullName(), o.repo.name), nil
		}),
		"willCloseTarget": one(willClose),
		"dismissalMessage": ofEvent(func(e event) any {
			if e.Dismissed == nil {
				return nil
			}
			return e.Dismissed.Message
		}),
		"previousReviewState": ofEvent(func(e event) any {
			if e.Dismissed == nil {
				return ""
			}
			return enumName(e.Dismissed.State)
		}),
		"review": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			if d := eventOf(o).Dismissed; d != nil && d.ID != 0 {
				return reviewAt(o.of, d.ID), nil
			}
			return nil, nil
		}),
	}
	for _, name := range [...]string{"labelable", "assignable", "lockable", "closable", "subject", "issue",
		"pullRequest", "target"} {
		fields[name] = parent
	}
	return merge(fields, pageFields(func(ctx context.Context, o *object) string {
		if o.id == 0 {
			return pageOf(ctx, viewOf(o.of)) + "#event-"
		}
		return pageOf(ctx, viewOf(o.of)) + "#event-" + decimal(o.id)
	}))
}

func eventOf(o *object) *timeline.EventPayload { return o.value.(*timeline.Shown).Event }

// actingUser resolves the actor of an event unless that is the bot of an App.
func actingUser(e *timeline.EventPayload) any {
	if e.Actor == nil || e.Actor.Type != "User" {
		return nil
	}
	return newAccount(e.Actor)
}

// accountIn is newAccount for a member that only some events have.
func accountIn(a **account.Simple) any {
	if a == nil {
		return nil
	}
	return newAccount(*a)
}

func wordIn(word **string) any {
	if word == nil {
		return nil
	}
	return enum(*word)
}

func renameIn(e *timeline.EventPayload) issue.Rename {
	if e.Rename == nil {
		return issue.Rename{}
	}
	return *e.Rename
}

// eventLabel resolves the label of an event, which may have been deleted.
func eventLabel(_ context.Context, _ *exec.Field, o *object) (any, error) {
	l := eventOf(o).Label
	if l == nil {
		return nil, nil
	}
	return &object{kind: "Label", name: l.Name, repo: o.repo, value: &label.Label{Name: l.Name, Color: l.Color}}, nil
}

// eventQueue resolves the merge queue of the base that the pull request of an event has.
func eventQueue(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	v, err := pullOf(ctx, o.of)
	if err != nil {
		return nil, err
	}
	queue := &object{kind: "MergeQueue", name: v.Base.Ref, repo: o.repo, whole: true}
	shown, err := queuesIn(queryOf(ctx)).get(ctx, queryOf(ctx), queue)
	if err != nil || shown == nil {
		return nil, err
	}
	queue.value = shown
	return queue, nil
}

// pullOf loads what is known of a pull request.
func pullOf(ctx context.Context, o *object) (*pull.View, error) {
	if err := queryOf(ctx).loadOne(ctx, o, isWhole); err != nil {
		return nil, err
	}
	return o.value.(*pull.View), nil
}

// referring returns the issue or the pull request that mentions another one.
func referring(event *object) *object {
	return newIssue(nil, event.value.(*timeline.Shown).Source, event.media)
}

// willClose reports whether a pull request of the same repository closes the issue when it is merged.
func willClose(_ context.Context, _ *exec.Field, o *object) (any, error) {
	source := o.value.(*timeline.Shown).Source
	if !source.Pull || !strings.EqualFold(source.Access.FullName(), o.repo.name) {
		return false, nil
	}
	for _, ref := range markdown.Parse(orEmpty(source.Body)).References().Closes {
		if ref.Owner == "" && ref.Number == o.of.number {
			return true, nil
		}
	}
	return false, nil
}
