package issue

import "arbor/internal/hook"

// AddHookEvent adds a webhook event to those that follow from the change. Number and actor default to those
// of the change.
func (c *Change) AddHookEvent(e hook.Event) {
	if e.Actor == 0 {
		e.Actor = c.Actor.ID
	}
	if e.About.Number == 0 {
		e.About.Number = c.Issue.Number
	}
	c.hookEvents = append(c.hookEvents, e)
}

// Changed records a value before an edit, which the webhook payload includes.
func (c *Change) Changed(field string, before any) {
	if c.changes == nil {
		c.changes = map[string]any{}
	}
	c.changes[field] = before
}

// HookEvents returns the webhook events of the change in GitHub's order.
func (c *Change) HookEvents() []hook.Event {
	noted := c.hookEvents
	c.hookEvents = nil
	defer func() { c.hookEvents = noted }()
	if c.fresh() {
		c.addHookEvent("opened", hook.About{})
	} else {
		c.addEdited()
	}
	for _, e := range c.events {
		c.addHookEventOf(&e)
	}
	return append(c.hookEvents, noted...)
}

// fresh reports whether the issue or pull request is new.
func (c *Change) fresh() bool { return c.Before == nil || c.Issue.Pull && !c.Before.Pull }

func (c *Change) addHookEvent(action string, about hook.About) {
	name := "issues"
	if c.Issue.Pull {
		name = "pull_request"
	}
	c.AddHookEvent(hook.Event{Name: name, Action: action, About: about})
}

// addEdited adds the event for a changed title, text or base.
func (c *Change) addEdited() {
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
		c.addHookEvent("edited", hook.About{Changes: changes})
	}
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// addHookEventOf adds the webhook event of a timeline event.
func (c *Change) addHookEventOf(e *Event) {
	switch e.Kind {
	case EventClosed, EventReopened, EventLocked, EventUnlocked, EventPinned, EventUnpinned, EventReady:
		c.addHookEvent(e.Kind.String(), hook.About{})
	case EventDrafted:
		c.addHookEvent("converted_to_draft", hook.About{})
	case EventAutoMerge, EventAutoSquash, EventAutoRebase:
		c.addHookEvent(EventAutoMerge.String(), hook.About{})
	case EventAutoMergeDisabled:
		c.addHookEvent(e.Kind.String(), hook.About{Reason: e.Detail.Reason})
	case EventEnqueued:
		c.addHookEvent("enqueued", hook.About{})
	case EventDequeued:
		c.addHookEvent("dequeued", hook.About{Reason: e.Detail.Reason})
	case EventLabeled, EventUnlabeled:
		c.addHookEvent(e.Kind.String(), hook.About{Label: e.Detail.Label.Name})
	case EventAssigned, EventUnassigned, EventReviewRequested, EventRequestRemoved:
		c.addHookEvent(e.Kind.String(), hook.About{User: e.UserID, Team: int64(e.Detail.Team)})
	case EventMilestoned, EventDemilestoned:
		c.addHookEvent(e.Kind.String(), hook.About{ID: e.milestone})
	case EventReviewed:
		c.AddHookEvent(hook.Event{Name: "pull_request_review", Action: "submitted",
			About: hook.About{ID: e.Detail.Review.ID}})
	case EventReviewDismissed:
		c.AddHookEvent(hook.Event{Name: "pull_request_review", Action: "dismissed",
			About: hook.About{ID: e.Detail.Review.ID}})
	}
}
