package forge

import (
	"context"
	"errors"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/notification"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// WriteIssue writes an issue that a transaction created or changed.
func (f *Forge) WriteIssue(c *issue.Change) error {
	// A pull request that closes loses auto-merge; after another change it may be merged.
	if err := pull.FollowAutoMerge(c); err != nil {
		return err
	}
	// The row, the repository's counter, the index, events, subscriptions, and references to other issues.
	if err := c.Write(); err != nil {
		return err
	}
	if err := pull.FollowIssue(c); err != nil {
		return err
	}
	told := c.HookEvents()
	if err := hook.Record(c.Tx, c.Repo.ID, told...); err != nil {
		return err
	}
	if err := activity.NoteIssue(c, told); err != nil {
		return err
	}
	if err := notification.Note(c.Tx, actOf(c, told)); err != nil {
		return err
	}
	// Schedule the indexing of texts, and wake the worker.
	if err := fulltext.NoteTexts(c.Tx, int64(c.Issue.ID), c.ChangedTexts()...); err != nil {
		return err
	}
	c.Tx.OnCommit(f.Searches.Changed)
	return nil
}

// LoseIssue removes an issue that is deleted, or transferred and already inserted elsewhere.
func (f *Forge) LoseIssue(d *issue.Departure) error {
	// Its feed entries and notifications move with the issue or are deleted; linked rows follow by foreign
	// key. Searches find its texts by a word for the repository.
	if d.New == nil {
		if err := activity.DropIssue(d.Tx, d.From.ID, int64(d.Issue.ID)); err != nil {
			return err
		}
	} else if err := errors.Join(activity.MoveIssue(d.Tx, d.From.ID, int64(d.Issue.ID), d.To,
		int64(d.New.ID)),
		notification.MoveIssue(d.Tx, d.Issue.ID, d.New.ID, d.To.ID),
		fulltext.NoteIssue(d.Tx, int64(d.New.ID))); err != nil {
		return err
	}
	// The row and all rows that belong to it, the repository's counters, the redirect, and webhook events.
	if err := d.Write(); err != nil {
		return err
	}
	d.Tx.OnCommit(f.Searches.Changed)
	return nil
}

// actOf returns the notification of a change: participants are notified of new texts and of state changes,
// others only of mentions.
func actOf(c *issue.Change, told []hook.Event) notification.Act {
	act := notification.Act{RepoID: c.Repo.ID, Issue: c.Issue.ID, Actor: c.Actor.ID}
	for _, e := range told {
		what := notification.What{Kind: whats[e.Name+" "+e.Action], ID: e.About.ID}
		switch e.Action {
		case "opened", "closed", "reopened", "created", "submitted": // created: a comment
			act.Everyone = true
		case "assigned":
			what.Kind, what.User = notification.Assigned, e.About.User
			act.Named.Add(notification.Assign, e.About.User)
		case "review_requested":
			what.Kind, what.User = notification.Requested, e.About.User
			if e.About.Team != 0 {
				act.Named.Add(notification.TeamRequest, account.ID(e.About.Team))
			} else {
				act.Named.Add(notification.ReviewRequested, e.About.User)
			}
		}
		if what.Kind != "" {
			act.About = append(act.About, what)
		}
	}
	if act.Everyone { // a new text, in which nothing was mentioned before
		for _, id := range c.MentionedTeams() {
			act.Named.Add(notification.TeamMention, account.ID(id))
		}
	}
	mentioned := c.Mentioned(act.Everyone)
	act.Named.Add(notification.Mention, mentioned...)
	if !act.Everyone {
		for _, id := range mentioned {
			act.About = append(act.About, notification.What{Kind: notification.Mentioned, User: id})
		}
	}
	return act
}

// whats lists the events that are mailed to all subscribers. The comments of a review are part of its mail.
var whats = map[string]notification.WhatKind{
	"issues opened": notification.Opened, "pull_request opened": notification.Opened,
	"issues closed": notification.Closed, "pull_request closed": notification.Closed,
	"issues reopened": notification.Reopened, "pull_request reopened": notification.Reopened,
	"issue_comment created": notification.Comment, "pull_request_review submitted": notification.Review,
}

// ReopenPull checks whether a closed pull request can be reopened.
func (f *Forge) ReopenPull(
	ctx context.Context, a *repo.Access, i *issue.Issue,
) (func(*issue.Change) error, error) {
	return f.Pulls.Reopen(ctx, a, i)
}

// ReviewTexts reads the texts of submitted reviews, for timelines.
func (f *Forge) ReviewTexts(tx *db.Tx, ids []int64) (map[int64]string, error) {
	return review.Texts(tx, ids)
}
