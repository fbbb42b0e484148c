package issue

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/posting"
)

// Also gives the issue properties that do not follow from its row, and that it
// does not have yet.
func (c *Change) Also(list ...posting.Property) { c.also = append(c.also, list...) }

// Without takes properties from the issue that Also gave it.
func (c *Change) Without(list ...posting.Property) { c.less = append(c.less, list...) }

// Mention notes the accounts that a new text mentions, which subscribes them.
func (c *Change) Mention(users ...account.ID) { c.mentions = append(c.mentions, users...) }

// Mentioned are the accounts that new texts mention: with all also those that a text mentioned before. It is
// complete once the change is written.
func (c *Change) Mentioned(all bool) []account.ID {
	if all {
		return c.mentions
	}
	var fresh []account.ID
	for _, e := range c.events {
		if e.Kind == EventMentioned {
			fresh = append(fresh, e.UserID)
		}
	}
	return fresh
}

// Involve notes accounts that have a part in the issue now, which subscribes
// them unless they unsubscribed (decision 14).
func (c *Change) Involve(users ...account.ID) { c.participants = append(c.participants, users...) }

// InvolveNow is Involve of the actor that asks at once, rather than when the change is written, whether it
// subscribes them.
func (c *Change) InvolveNow() (err error) {
	c.Involve(c.Actor.ID)
	c.settled, err = settled(c.Tx, c.Issue.ID, []account.ID{c.Actor.ID})
	return err
}

// involve finds which mentions and subscriptions are new.
func (c *Change) involve() ([]posting.Property, error) {
	var list []posting.Property
	slices.Sort(c.mentions)
	c.mentions = slices.Compact(c.mentions)
	c.participants = append(c.participants, c.mentions...)
	slices.Sort(c.participants)
	c.participants = slices.Compact(c.participants)
	if len(c.participants) == 0 {
		return nil, nil
	}
	mentioned, subscribed := map[account.ID]bool{}, c.settled
	if c.Before != nil {
		var err error
		if mentioned, err = posting.Which(c.Tx, c.Issue.ID, posting.ByMention, c.mentions); err != nil {
			return nil, err
		}
		if subscribed == nil || len(c.participants) > 1 {
			if subscribed, err = settled(c.Tx, c.Issue.ID, c.participants); err != nil {
				return nil, err
			}
		}
	}
	for _, id := range c.mentions {
		if !mentioned[id] {
			list = append(list, posting.ByMention.OfUser(id))
			c.Event(EventMentioned, Event{ActorID: id, UserID: id})
		}
	}
	for _, id := range c.participants {
		if subscribed[id] {
			continue
		}
		list = append(list, posting.BySubscriber.OfUser(id))
		if slices.Contains(c.mentions, id) {
			c.Event(EventSubscribed, Event{ActorID: id, UserID: id})
		}
	}
	return list, nil
}
