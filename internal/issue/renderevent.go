package issue

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// eventPage is a page of events of one repository and all that their payloads
// show, read with a fixed number of queries. The issues of the page are what the
// events happened to, where that is shown, or what they come from.
type eventPage struct {
	*page
	events []*Event
	byID   map[ID]*Issue // the issues

	withIssues bool // each event shows its issue
}

// load reads what the events refer to; the issues are there.
func (p *eventPage) load(tx *db.Tx) error {
	if err := p.page.load(tx); err != nil {
		return err
	}
	p.byID = make(map[ID]*Issue, len(p.issues))
	for _, i := range p.issues {
		p.byID[i.ID] = i
	}
	var ids []account.ID
	for _, e := range p.events {
		for _, id := range [...]account.ID{e.ActorID, e.UserID} {
			if id != 0 && p.people[id] == nil {
				ids = append(ids, id)
			}
		}
	}
	more, err := account.ByIDs(tx, db.Unique(ids))
	for id, a := range more {
		p.people[id] = a
	}
	if err != nil {
		return err
	}
	return p.loadReviewers(tx)
}

// eventRendering is rendering for events.
func (api *API) eventRendering(p *eventPage, find func(*db.Tx) ([]*Event, error), f form) web.Render {
	return func(out *web.Output) error {
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) (err error) {
			if p.events, err = find(tx); err != nil {
				return err
			}
			p.issues = nil
			if p.withIssues {
				ids := make([]ID, len(p.events))
				for n, e := range p.events {
					ids[n] = e.IssueID
				}
				if p.issues, err = ByIDs(tx, db.Unique(ids)); err != nil {
					return err
				}
			}
			return p.load(tx)
		})
		if err != nil {
			return err
		}
		if err := api.s.prepareBodies(out, p.page); err != nil {
			return err
		}
		out.Grow(2 << 10 * (len(p.events) + len(p.issues) + 1))
		return out.Items(len(p.events), f == single, func(n int) (any, error) { return p.payload(p.events[n]), nil })
	}
}

// eventPayload is GitHub's issue-event (decision 28).
type eventPayload struct {
	ID        int64           `json:"id"`
	NodeID    string          `json:"node_id"`
	URL       string          `json:"url"`
	Actor     *account.Simple `json:"actor"`
	Event     string          `json:"event"`
	CommitID  *string         `json:"commit_id"`
	CommitURL *string         `json:"commit_url"`
	CreatedAt db.Time         `json:"created_at"`
	eventDetail
	Issue *nested   `json:"issue,omitzero"`
	App   *struct{} `json:"performed_via_github_app"`
}

// eventDetail is what events of one kind or another have besides; nil members are not
// there, those that lead to nil are null.
type eventDetail struct {
	StateReason **string         `json:"state_reason,omitzero"`
	Label       *EventLabel      `json:"label,omitzero"`
	Assignee    **account.Simple `json:"assignee,omitzero"`
	Assigner    **account.Simple `json:"assigner,omitzero"`
	Milestone   *eventMilestone  `json:"milestone,omitzero"`
	Rename      *Rename          `json:"rename,omitzero"`
	Requester   **account.Simple `json:"review_requester,omitzero"`
	Reviewer    **account.Simple `json:"requested_reviewer,omitzero"`
	Dismissed   *dismissedReview `json:"dismissed_review,omitzero"`
	LockReason  **string         `json:"lock_reason,omitzero"`
}

type eventMilestone struct {
	Title string `json:"title"`
}

type dismissedReview struct {
	ID      int64   `json:"review_id"`
	State   string  `json:"state"`
	Message *string `json:"dismissal_message"`
}

// payload makes the payload of an event.
func (p *eventPage) payload(e *Event) *eventPayload {
	at := p.places[e.RepoID]
	out := &eventPayload{
		ID: e.ID, NodeID: account.NodeID("IssueEvent", e.ID), URL: at.API + "/issues/events/" + itoa(e.ID),
		Actor: p.simple(e.ActorID), Event: e.Kind.String(), CreatedAt: e.CreatedAt, eventDetail: p.detail(e),
	}
	if e.Commit != "" {
		out.CommitID, out.CommitURL = &e.Commit, new(at.API+"/commits/"+e.Commit)
	}
	if i := p.byID[e.IssueID]; i != nil && p.withIssues {
		out.Issue = &nested{p.page, i}
	}
	return out
}

func (p *eventPage) detail(e *Event) (out eventDetail) {
	d := &e.Detail
	switch e.Kind {
	case EventClosed, EventReopened:
		out.StateReason = new(orNil(d.StateReason))
	case EventLabeled, EventUnlabeled:
		out.Label = d.Label
	case EventAssigned, EventUnassigned:
		out.Assignee, out.Assigner = new(p.simple(e.UserID)), new(p.simple(e.ActorID))
	case EventMilestoned, EventDemilestoned:
		out.Milestone = &eventMilestone{d.Milestone}
	case EventRenamed:
		out.Rename = d.Rename
	case EventReviewRequested, EventRequestRemoved:
		out.Requester, out.Reviewer = new(p.simple(e.ActorID)), new(p.simple(e.UserID))
	case EventReviewDismissed:
		if r := d.Review; r != nil {
			out.Dismissed = &dismissedReview{r.ID, r.State, orNil(r.Message)}
		}
	case EventLocked:
		out.LockReason = new(orNil(d.LockReason))
	}
	return out
}

// orNil gives a text; nil of an empty one.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
