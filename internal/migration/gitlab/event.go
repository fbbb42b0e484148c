package gitlab

import (
	"context"
	"strconv"
	"strings"
	"time"

	"arbor/internal/issue"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// eventAnswer is one of GitLab's resource events.
type eventAnswer struct {
	ID        int64         `json:"id"`
	User      *person       `json:"user"`
	CreatedAt time.Time     `json:"created_at"`
	Action    string        `json:"action"` // add or remove
	State     string        `json:"state"`
	Label     *remote.Label `json:"label"` // nil: it is gone
	Milestone *struct {
		Title string `json:"title"`
	} `json:"milestone"`
}

// events reads the resource events: labels, milestones, states. Older servers do not have all of them.
func (c *conversation) events(ctx context.Context) error {
	for _, kind := range [...]string{"label", "milestone", "state"} {
		path := c.at + "/resource_" + kind + "_events"
		err := walk(ctx, c.s.Client, path, maxOfOne, func(e *eventAnswer) error {
			for _, out := range c.eventsOf(kind, e) {
				if err := c.s.Out.Add(migration.Events, out); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil && !remote.Absent(err) {
			return err
		}
	}
	return nil
}

// eventsOf converts a resource event. It returns none for what Arbor does not have.
func (c *conversation) eventsOf(kind string, e *eventAnswer) []*migration.Event {
	out := &migration.Event{ID: kind + "-" + strconv.FormatInt(e.ID, 10), Issue: c.of.Number,
		Actor: c.s.login(e.User), CreatedAt: e.CreatedAt}
	as := func(added bool, yes, no issue.EventKind) []*migration.Event {
		if out.Event = yes.String(); !added {
			out.Event = no.String()
		}
		return []*migration.Event{out}
	}
	switch {
	case kind == "label" && e.Label != nil:
		color := strings.TrimPrefix(e.Label.Color, "#")
		out.Label = remote.Names(map[string]string{"name": labelName(e.Label.Name), "color": color})
		return as(e.Action == "add", issue.EventLabeled, issue.EventUnlabeled)
	case kind == "milestone" && e.Milestone != nil:
		out.Milestone = e.Milestone.Title
		return as(e.Action == "add", issue.EventMilestoned, issue.EventDemilestoned)
	case kind != "state":
		return nil
	}
	switch e.State {
	case "closed":
		c.closer = out.Actor
		return as(true, issue.EventClosed, 0)
	case "reopened":
		return as(true, issue.EventReopened, 0)
	case "merged": // GitHub tells both
		if c.of.Pull == nil {
			return nil
		}
		c.closer, out.Commit = out.Actor, c.of.Pull.MergeSHA
		closed := *out
		closed.ID, closed.Event = out.ID+"-closed", issue.EventClosed.String()
		return append(as(true, issue.EventMerged, 0), &closed)
	}
	return nil
}
