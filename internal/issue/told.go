package issue

import "arbor/internal/hook"

// Tell notes what hooks are told besides what follows from the change itself. Number and actor are those of the change
// unless e says otherwise.
func (c *Change) Tell(e hook.Event) {
	if e.Actor == 0 {
		e.Actor = c.Actor.ID
	}
	if e.About.Number == 0 {
		e.About.Number = c.Issue.Number
	}
	c.told = append(c.told, e)
}

// Changed notes a value before an edit, of which hooks are told with the others.
func (c *Change) Changed(field string, before any) {
	if c.changes == nil {
		c.changes = map[string]any{}
	}
	c.changes[field] = before
}

// Told are the events of the change, for hooks: in the order in which GitHub tells of them.
func (c *Change) Told() []hook.Event {
	noted := c.told
	c.told = nil
	defer func() { c.told = noted }()
	if c.fresh() {
		c.tell("opened", hook.About{})
	} else {
		c.tellEdited()
	}
	for _, e := range c.events {
		c.tellEvent(&e)
	}
	return append(c.told, noted...)
}

// fresh reports an issue or a pull request that was not one before.
func (c *Change) fresh() bool { return c.Before == nil || c.Issue.Pull && !c.Before.Pull }

func (c *Change) tell(action string, about hook.About) {
	name := "issues"
	if c.Issue.Pull {
		name = "pull_request"
	}
	c.Tell(hook.Event{Name: name, Action: action, About: about})
}

// tellEdited tells of another title, text or base.
func (c *Change) tellEdited() {
	changes := map[string]any{}
	for name, v := range c.changes {
		changes[name] = v
	}
	if c.Before.Title != c.Issue.Title {
		changes["title"] = hook.From(c.Before.Title)
	}
	if before, after := textOf(c.Before.Body), textOf(c.Issue.Body); before != after {
		changes["body"] = hook.From(before)
	}
	if len(changes) > 0 {
		c.tell("edited", hook.About{Changes: changes})
	}
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// tellEvent tells of what an event notes.
func (c *Change) tellEvent(e *Event) {
	switch e.Kind {
	case EventClosed, EventReopened, EventLocked, EventUnlocked, EventPinned, EventUnpinned, EventReady:
		c.tell(e.Kind.String(), hook.About{})
	case EventDrafted:
		c.tell("converted_to_draft", hook.About{})
	case EventLabeled, EventUnlabeled:
		c.tell(e.Kind.String(), hook.About{Label: e.Detail.Label.Name})
	case EventAssigned, EventUnassigned, EventReviewRequested, EventRequestRemoved:
		c.tell(e.Kind.String(), hook.About{User: e.UserID})
	case EventMilestoned, EventDemilestoned:
		c.tell(e.Kind.String(), hook.About{ID: e.milestone})
	case EventReviewed:
		c.Tell(hook.Event{Name: "pull_request_review", Action: "submitted", About: hook.About{ID: e.Detail.Review.ID}})
	case EventReviewDismissed:
		c.Tell(hook.Event{Name: "pull_request_review", Action: "dismissed", About: hook.About{ID: e.Detail.Review.ID}})
	}
}
