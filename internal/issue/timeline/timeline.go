// Package timeline lists the events of issues and pull requests, and timelines, which also contain
// comments, reviews and references from other issues. Package issue writes the events.
//
//	view.go       entries for pages; ends.go: the first and last entries of a timeline
//	event.go      the handlers of events; list.go: pages of them, and their limit
//	timeline.go   the handler of a timeline; listmany.go: several timelines, for GraphQL
//	render.go     the JSON of events; review.go: of reviews
//	store.go      the SQL, of the table issue_events
package timeline

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/issue/text"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/issues/{number}/timeline
//
// Timeline lists the timeline of an issue or pull request, oldest first: events, comments, and references
// from issues that are visible to the caller. Errors: 404, 410, 422 for a page beyond the first 5,000
// entries.
func (api *API) Timeline(out *web.Output, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	var t *timeline
	err = api.db.Read(r.Context(), func(tx *db.Tx) error {
		i, err := issue.EnabledByNumber(tx, a, n)
		if err != nil {
			return err
		}
		if err := checkDeep(page); err != nil {
			return err
		}
		t = &timeline{comments: comment.NewPage(r.Context(), a)}
		var total int64
		if t.entries, total, err = timelineOf(tx, a, i, page); err != nil {
			return err
		}
		tx.OnCommit(func() { web.Link(out, r, page, total) })
		return t.read(r.Context(), tx, map[repo.ID]*repo.Access{a.ID: a}, api.reviews)
	})
	if err == nil {
		err = t.prepare(out, api)
	}
	if err != nil {
		return err
	}
	out.Grow(2 << 10 * (len(t.entries) + 1))
	return out.List(len(t.entries), func(n int) (any, error) { return t.payload(t.entries[n]) })
}

// timeline is a page of a timeline: its entries in order, and the pages with their contents. The issues of
// events are the referring ones.
type timeline struct {
	entries  []entry
	in       map[repo.ID]*repo.Access // the repositories of the issues
	events   *eventPage
	eventAt  map[int64]*issue.Event
	comments *comment.Page
	said     map[int64]string // texts of reviews, by id
	reviews  *text.Page       // rendered texts of reviews
	reviewAt map[int64]int    // indexes in reviews, by id
}

// prepare renders the texts of the entries.
func (t *timeline) prepare(out *web.Output, api *API) error {
	err := t.events.Bodies(out, api.issues)
	if err == nil {
		err = t.comments.Bodies(out, api.issues)
	}
	if err == nil {
		err = t.prepareReviews(out, api.issues)
	}
	return err
}

// read reads everything that the entries of issues in repositories show, with a fixed number of queries.
func (t *timeline) read(ctx context.Context, tx *db.Tx, in map[repo.ID]*repo.Access, reviews Reviews) error {
	t.in = in
	var eventIDs, commentIDs []int64
	for _, e := range t.entries {
		if e.comment {
			commentIDs = append(commentIDs, e.id)
		} else {
			eventIDs = append(eventIDs, e.id)
		}
	}
	events, err := byIDs(tx, eventIDs)
	if err != nil {
		return err
	}
	if err := t.loadEvents(ctx, tx, eventIDs, events); err != nil {
		return err
	}
	if err := t.comments.Load(tx, commentIDs); err != nil {
		return err
	}
	return t.loadReviews(tx, reviews)
}

// loadEvents selects the events with the given ids, and reads the people and referring issues of these with
// their repositories.
func (t *timeline) loadEvents(
	ctx context.Context, tx *db.Tx, ids []int64, found map[int64]*issue.Event,
) error {
	t.eventAt = found
	var sources []issue.ID
	var repos []repo.ID
	var events []*issue.Event
	for _, id := range ids {
		if e := t.eventAt[id]; e != nil {
			events = append(events, e)
			if e.SourceID != 0 {
				sources = append(sources, e.SourceID)
			}
		}
	}
	issues, err := issue.ByIDs(tx, db.Unique(sources))
	if err != nil {
		return err
	}
	for _, i := range issues {
		if t.in[i.RepoID] == nil {
			repos = append(repos, i.RepoID)
		}
	}
	all := slices.Collect(maps.Values(t.in))
	if len(repos) > 0 {
		others, err := repo.VisibleByID(tx, all[0].Caller, db.Unique(repos))
		if err != nil {
			return err
		}
		all = append(all, others...)
	}
	t.events = newEventPage(ctx, all...)
	t.events.events = events
	t.events.Add(issues...)
	t.events.WithRepositories()
	return t.events.load(tx)
}

// commentedPayload is GitHub's timeline-comment-event.
type commentedPayload struct {
	*comment.Payload
	Event string          `json:"event"`
	Actor *account.Simple `json:"actor"`
}

// crossReferencePayload is GitHub's timeline-cross-referenced-event.
type crossReferencePayload struct {
	Actor     *account.Simple `json:"actor"`
	CreatedAt db.Time         `json:"created_at"`
	UpdatedAt db.Time         `json:"updated_at"`
	Source    source          `json:"source"`
	Event     string          `json:"event"`
}

type source struct {
	Type  string         `json:"type"`
	Issue json.Marshaler `json:"issue"`
}

// Shown is an entry of a timeline as GraphQL shows it: a comment, a review or an event, which a
// cross-reference is, too.
type Shown struct {
	Comment *comment.Payload
	Review  *ReviewedPayload
	Event   *EventPayload
	Source  *issue.View // of a cross-reference: the referring issue
}

// shown returns an entry for GraphQL. It returns an error if a body cannot be rendered.
func (t *timeline) shown(e entry) (out *Shown, err error) {
	out = &Shown{}
	if e.comment {
		out.Comment, err = t.comments.Comment(e.id)
		return out, err
	}
	event, p := t.eventAt[e.id], t.events
	switch {
	case event.Kind == issue.EventReviewed && event.Detail.Review != nil:
		out.Review, err = t.reviewed(event)
		return out, err
	case event.Kind == issue.EventCrossReferenced:
		out.Source, err = p.Shown(p.byID[event.SourceID])
	}
	out.Event = p.payload(event)
	return out, err
}

// payload returns the payload of an entry. It returns an error if a body cannot be rendered.
func (t *timeline) payload(e entry) (any, error) {
	if e.comment {
		c, err := t.comments.Comment(e.id)
		return commentedPayload{c, "commented", c.User}, err
	}
	event, p := t.eventAt[e.id], t.events
	switch {
	case event.Kind == issue.EventCrossReferenced:
		return crossReferencePayload{
			Actor: p.User(event.ActorID), CreatedAt: event.CreatedAt, UpdatedAt: event.CreatedAt,
			Source: source{"issue", p.Issue(p.byID[event.SourceID])}, Event: event.Kind.String(),
		}, nil
	case event.Kind == issue.EventReviewed && event.Detail.Review != nil:
		return t.reviewed(event)
	default:
		return p.payload(event), nil
	}
}
