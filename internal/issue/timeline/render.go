package timeline

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// eventPage is a page of events of repositories and everything that their payloads show. It is loaded
// with a fixed number of queries. Its issues are the issues of the events if these are shown, or the
// referring issues.
type eventPage struct {
	*issue.Page
	at     map[repo.ID]*issuekit.Addresses
	events []*issue.Event
	byID   map[issue.ID]*issue.Issue // the page's issues
	in     map[repo.ID]*repo.Access
	teams  map[team.ID]*team.Team // that are not secret
	info   *web.Info

	withIssues bool // include each event's issue
}

// load reads everything that the events refer to, except issues.
func (p *eventPage) load(tx *db.Tx) error {
	var people, reviewers []account.ID
	for _, e := range p.events {
		people = append(people, e.ActorID, e.UserID)
		if e.Kind == issue.EventReviewed {
			reviewers = append(reviewers, e.ActorID)
		}
	}
	people = slices.DeleteFunc(db.Unique(people), func(id account.ID) bool { return id == 0 })
	if err := p.Load(tx, people...); err != nil {
		return err
	}
	p.byID = make(map[issue.ID]*issue.Issue, len(p.Issues()))
	for _, i := range p.Issues() {
		p.byID[i.ID] = i
	}
	if err := p.loadTeams(tx); err != nil {
		return err
	}
	return p.Associate(tx, reviewers)
}

// loadTeams reads the closed teams whose reviews are requested, for members of their organizations.
func (p *eventPage) loadTeams(tx *db.Tx) (err error) {
	var ids []team.ID
	for _, e := range p.events {
		if e.Detail.Team != 0 && p.in[e.RepoID].Insider() {
			ids = append(ids, e.Detail.Team)
		}
	}
	p.teams, err = team.Closed(tx, ids)
	return err
}

// team renders the team of an event; nil: the caller does not see it.
func (p *eventPage) team(e *issue.Event) *team.Simple {
	if t := p.teams[e.Detail.Team]; t != nil && p.in[e.RepoID].Insider() {
		return team.NewSimple(t, p.info)
	}
	return nil
}

// eventForm is the form of events in a response.
type eventForm struct {
	withIssues bool // include each event's issue
	alone      bool // one event and not an array
}

// render renders the events that find reads, from one snapshot.
func (api *API) render(
	out *web.Output, a *repo.Access, f eventForm, find func(*db.Tx) ([]*issue.Event, error),
) error {
	var p *eventPage
	err := api.db.Read(out.Context(), func(tx *db.Tx) (err error) {
		p = newEventPage(out.Context(), a)
		p.withIssues = f.withIssues
		if p.events, err = find(tx); err != nil {
			return err
		}
		if p.withIssues {
			ids := make([]issue.ID, len(p.events))
			for n, e := range p.events {
				ids[n] = e.IssueID
			}
			issues, err := issue.ByIDs(tx, db.Unique(ids))
			if err != nil {
				return err
			}
			p.Add(issues...)
		}
		return p.load(tx)
	})
	if err != nil {
		return err
	}
	if err := p.Bodies(out, api.issues); err != nil {
		return err
	}
	out.Grow(2 << 10 * (len(p.events) + len(p.Issues()) + 1))
	return out.Items(len(p.events), f.alone, func(n int) (any, error) { return p.payload(p.events[n]), nil })
}

// newEventPage returns an empty page of events of repositories.
func newEventPage(ctx context.Context, in ...*repo.Access) *eventPage {
	p := &eventPage{Page: issue.NewPage(ctx, in...), at: map[repo.ID]*issuekit.Addresses{},
		in:   repo.InList(in),
		info: web.From(ctx)}
	for _, a := range in {
		p.at[a.ID] = issuekit.NewAddresses(web.From(ctx), a.Repo)
	}
	return p
}

// EventPayload is GitHub's issue-event (decision 28).
type EventPayload struct {
	ID        int64           `json:"id"`
	NodeID    string          `json:"node_id"`
	URL       string          `json:"url"`
	Actor     *account.Simple `json:"actor"`
	Event     string          `json:"event"`
	CommitID  *string         `json:"commit_id"`
	CommitURL *string         `json:"commit_url"`
	CreatedAt db.Time         `json:"created_at"`
	eventDetail
	Reason string         `json:"-"` // why auto-merge was disabled or a merge queue left, for GraphQL
	Issue  json.Marshaler `json:"issue,omitzero"`
	App    *struct{}      `json:"performed_via_github_app"`
}

// eventDetail holds members that only some events have. Nil members are omitted; pointers to nil are null.
type eventDetail struct {
	StateReason **string          `json:"state_reason,omitzero"`
	Label       *issue.EventLabel `json:"label,omitzero"`
	Assignee    **account.Simple  `json:"assignee,omitzero"`
	Assigner    **account.Simple  `json:"assigner,omitzero"`
	Milestone   *eventMilestone   `json:"milestone,omitzero"`
	Rename      *issue.Rename     `json:"rename,omitzero"`
	Requester   **account.Simple  `json:"review_requester,omitzero"`
	Reviewer    **account.Simple  `json:"requested_reviewer,omitzero"`
	Team        *team.Simple      `json:"requested_team,omitzero"`
	Dismissed   *dismissedReview  `json:"dismissed_review,omitzero"`
	LockReason  **string          `json:"lock_reason,omitzero"`
}

type eventMilestone struct {
	Title string `json:"title"`
}

type dismissedReview struct {
	ID      int64   `json:"review_id"`
	State   string  `json:"state"`
	Message *string `json:"dismissal_message"`
}

// payload returns the payload of an event.
func (p *eventPage) payload(e *issue.Event) *EventPayload {
	out := &EventPayload{
		ID: e.ID, NodeID: account.NodeID("IssueEvent", e.ID),
		URL:   p.at[e.RepoID].API + "/issues/events/" + strconv.FormatInt(e.ID, 10),
		Actor: p.User(e.ActorID), Event: e.Kind.String(), CreatedAt: e.CreatedAt, eventDetail: p.detail(e),
		Reason: e.Detail.Reason,
	}
	if e.Commit != "" {
		out.CommitID, out.CommitURL = &e.Commit, new(p.at[e.RepoID].API+"/commits/"+e.Commit)
	}
	if i := p.byID[e.IssueID]; i != nil && p.withIssues {
		out.Issue = p.Issue(i)
	}
	return out
}

func (p *eventPage) detail(e *issue.Event) (out eventDetail) {
	d := &e.Detail
	switch e.Kind {
	case issue.EventClosed, issue.EventReopened:
		out.StateReason = new(web.OrNil(d.StateReason))
	case issue.EventLabeled, issue.EventUnlabeled:
		out.Label = d.Label
	case issue.EventAssigned, issue.EventUnassigned:
		out.Assignee, out.Assigner = new(p.User(e.UserID)), new(p.User(e.ActorID))
	case issue.EventMilestoned, issue.EventDemilestoned:
		out.Milestone = &eventMilestone{d.Milestone}
	case issue.EventRenamed:
		out.Rename = d.Rename
	case issue.EventReviewRequested, issue.EventRequestRemoved:
		out.Requester, out.Reviewer = new(p.User(e.ActorID)), new(p.User(e.UserID))
		if d.Team != 0 {
			out.Reviewer, out.Team = nil, p.team(e)
		}
	case issue.EventReviewDismissed:
		if r := d.Review; r != nil {
			out.Dismissed = &dismissedReview{r.ID, r.State, web.OrNil(r.Message)}
		}
	case issue.EventLocked:
		out.LockReason = new(web.OrNil(d.LockReason))
	}
	return out
}
