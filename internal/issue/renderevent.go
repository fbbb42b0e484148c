package issue

import (
	"errors"
	"strconv"

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
	byID   map[int64]*Issue // the issues

	withIssues bool // each event shows its issue
}

// load reads what the events refer to; the issues are there.
func (p *eventPage) load(tx *db.Tx) error {
	if err := p.page.load(tx); err != nil {
		return err
	}
	p.byID = make(map[int64]*Issue, len(p.issues))
	for _, i := range p.issues {
		p.byID[i.ID] = i
	}
	var ids []int64
	for _, e := range p.events {
		for _, id := range [...]int64{e.ActorID, e.UserID} {
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
				ids := make([]int64, len(p.events))
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
		if f == single {
			out.Buf = p.appendEvent(out.Buf, p.events[0])
			return p.bodies.Err()
		}
		out.Buf = append(out.Buf, '[')
		for n, e := range p.events {
			if n > 0 {
				out.Buf = append(out.Buf, ',')
			}
			out.Buf = p.appendEvent(out.Buf, e)
			if err := errors.Join(p.bodies.Err(), out.Next()); err != nil {
				return err
			}
		}
		out.Buf = append(out.Buf, ']')
		return nil
	}
}

// appendEvent renders an event as GitHub's v3 does (decision 28).
func (p *eventPage) appendEvent(b []byte, e *Event) []byte {
	at := p.places[e.RepoID]
	b = strconv.AppendInt(append(b, `{"id":`...), e.ID, 10)
	b = append(append(b, `,"node_id":"`...), account.NodeID("IssueEvent", e.ID)...)
	b = append(append(append(b, `","url":"`...), at.API...), `/issues/events/`...)
	b = strconv.AppendInt(b, e.ID, 10)
	b = append(append(b, `","actor":`...), p.user(e.ActorID)...)
	b = append(append(append(b, `,"event":"`...), e.Kind.String()...), '"')
	if e.Commit == "" {
		b = append(b, `,"commit_id":null,"commit_url":null`...)
	} else {
		b = append(append(append(b, `,"commit_id":"`...), e.Commit...), `","commit_url":"`...)
		b = append(append(append(append(b, at.API...), `/commits/`...), e.Commit...), '"')
	}
	b = e.CreatedAt.AppendJSON(append(b, `,"created_at":`...))
	b = p.appendDetail(b, e)
	if i := p.byID[e.IssueID]; i != nil && p.withIssues {
		b = p.appendIssue(append(b, `,"issue":`...), i)
	}
	return append(b, `,"performed_via_github_app":null}`...)
}

// appendDetail renders what events of one kind or another have besides.
func (p *eventPage) appendDetail(b []byte, e *Event) []byte {
	d := &e.Detail
	switch e.Kind {
	case EventClosed, EventReopened:
		b = appendText(append(b, `,"state_reason":`...), d.StateReason)
	case EventLabeled, EventUnlabeled:
		b = append(append(b, `,"label":`...), mustMarshal(d.Label)...)
	case EventAssigned, EventUnassigned:
		b = append(append(b, `,"assignee":`...), p.user(e.UserID)...)
		b = append(append(b, `,"assigner":`...), p.user(e.ActorID)...)
	case EventMilestoned, EventDemilestoned:
		b = append(web.AppendString(append(b, `,"milestone":{"title":`...), d.Milestone), '}')
	case EventRenamed:
		b = append(append(b, `,"rename":`...), mustMarshal(d.Rename)...)
	case EventReviewRequested, EventRequestRemoved:
		b = append(append(b, `,"review_requester":`...), p.user(e.ActorID)...)
		b = append(append(b, `,"requested_reviewer":`...), p.user(e.UserID)...)
	case EventReviewDismissed:
		b = appendDismissed(b, d.Review)
	case EventLocked:
		b = appendText(append(b, `,"lock_reason":`...), d.LockReason)
	}
	return b
}

// appendText renders a text; an empty one is null.
func appendText(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return web.AppendString(b, s)
}
