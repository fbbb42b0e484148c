package issue

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/posting"
	"arbor/internal/team"
)

// Also adds properties that do not follow from the issue's row and that the issue does not have yet.
func (c *Change) Also(list ...posting.Property) { c.also = append(c.also, list...) }

// Without removes properties that Also added.
func (c *Change) Without(list ...posting.Property) { c.less = append(c.less, list...) }

// Mention adds the accounts that a new text mentions. They get subscribed.
func (c *Change) Mention(users ...account.ID) { c.mentions = append(c.mentions, users...) }

// Mentioned returns the accounts that new texts mention; if all is true, also those that were mentioned
// before. The result is complete once the change has been written.
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

// Involve adds participants of the issue. They get subscribed unless they have unsubscribed (decision 14).
func (c *Change) Involve(users ...account.ID) { c.participants = append(c.participants, users...) }

// InvolveNow is Involve for the actor. It reads the actor's subscription immediately and not when the
// change is written.
func (c *Change) InvolveNow() (err error) {
	c.Involve(c.Actor.ID)
	c.settled, err = settledAccounts(c.Tx, c.Issue.ID, []account.ID{c.Actor.ID})
	return err
}

// involve determines the new mentions and subscriptions.
func (c *Change) involve() ([]posting.Property, error) {
	slices.Sort(c.mentions)
	c.mentions = slices.Compact(c.mentions)
	c.participants = append(c.participants, c.mentions...)
	slices.Sort(c.participants)
	c.participants = slices.Compact(c.participants)
	list, err := c.freshTeams()
	if err != nil || len(c.participants) == 0 {
		return list, err
	}
	mentioned, subscribed := map[account.ID]bool{}, c.settled
	if c.Before != nil {
		if mentioned, err = posting.Which(c.Tx, c.Issue.ID, posting.ByMention, c.mentions); err != nil {
			return nil, err
		}
		if subscribed == nil || len(c.participants) > 1 {
			if subscribed, err = settledAccounts(c.Tx, c.Issue.ID, c.participants); err != nil {
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

// freshTeams returns the properties of mentioned teams that were not mentioned before.
func (c *Change) freshTeams() (list []posting.Property, err error) {
	teams, mentioned := db.Unique(c.teams), map[team.ID]bool{}
	if c.Before != nil {
		mentioned, err = posting.Which(c.Tx, c.Issue.ID, posting.ByTeam, teams)
	}
	for _, id := range teams {
		if !mentioned[id] {
			list = append(list, posting.ByTeam.Of(int64(id)))
		}
	}
	return list, err
}
