package issue

import (
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/posting"
)

// InsertPast inserts issues as they are at another server, with their ids, numbers and times, their properties and
// also further ones. It locks nothing, tells nobody, and does not count open issues: see package migration.
func InsertPast(tx *db.Tx, list []*Issue, also map[ID][]posting.Property) error {
	if len(list) == 0 {
		return nil
	}
	const columns = 24
	args := make([]any, 0, columns*len(list))
	posted := make([]posting.Posted, len(list))
	for n, i := range list {
		args = append(args, i.ID, i.RepoID, i.Number, i.Pull, i.Title, i.Body, i.AuthorID, int64(i.State),
			int64(i.StateReason), i.Locked, i.LockReason, db.OrNull(i.MilestoneID), joinIDs(i.Labels),
			joinIDs(i.Assignees), i.Comments, i.Reacted, i.CreatedAt, i.UpdatedAt, i.ClosedAt, db.OrNull(i.ClosedBy),
			i.Draft, i.MergedAt, i.PinnedAt, db.OrNull(i.PinnedBy))
		posted[n] = posting.Posted{Row: i.row(), Properties: append(i.Properties(), also[i.ID]...)}
	}
	err := tx.Run(`INSERT INTO issues (id, repo_id, number, pull, title, body, author_id, state, state_reason, locked,
		lock_reason, milestone_id, labels, assignees, comments, reacted, created_at, updated_at, closed_at, closed_by, draft,
		merged_at, pinned_at, pinned_by) VALUES `+db.Values(len(list), columns), args...)
	if err != nil {
		return err
	}
	return posting.AddMissing(tx, posted)
}

// UpdatePast writes an issue that has changed at another server.
func UpdatePast(tx *db.Tx, before, after *Issue, also []posting.Property) error {
	if err := updateIssue(tx, after); err != nil {
		return err
	}
	if before.State != after.State {
		by := int64(1)
		if after.State == Closed {
			by = -1
		}
		if err := addOpenIssues(tx, after.RepoID, by); err != nil {
			return err
		}
	}
	if err := post(tx, before, after, nil, nil); err != nil {
		return err
	}
	return posting.AddMissing(tx, []posting.Posted{{Row: after.row(), Properties: also}})
}

// InsertPastEvents inserts events with their ids and times. References that exist already are skipped.
func InsertPastEvents(tx *db.Tx, list []Event) error {
	if len(list) == 0 {
		return nil
	}
	args := make([]any, 0, 11*len(list))
	for i := range list {
		e := &list[i]
		detail, err := e.Detail.Encode()
		if err != nil {
			return err
		}
		args = append(args, e.ID, e.RepoID, e.IssueID, e.ActorID, int64(e.Kind), db.OrNull(e.UserID),
			db.OrNull(e.SourceID), db.OrNull(e.CommentID), db.OrNull(e.Commit), detail, e.CreatedAt)
	}
	return tx.Run(`INSERT INTO issue_events (id, repo_id, issue_id, actor_id, kind, user_id, source_id, comment_id,
		commit_sha, detail, created_at) VALUES `+db.Values(len(list), 11)+` ON CONFLICT DO NOTHING`, args...)
}

// RecountComments counts the comments of issues again, in their rows and in the index.
func RecountComments(tx *db.Tx, issues []ID) error {
	return db.InParts(issues, func(part []ID) error {
		in := db.Values(1, len(part))
		if err := tx.Run(`UPDATE issues SET comments = (SELECT COUNT(*) FROM issue_comments c
			WHERE c.issue_id = issues.id) WHERE id IN `+in, db.Args(part)...); err != nil {
			return err
		}
		return tx.Run(`UPDATE postings SET comments = (SELECT i.comments FROM issues i WHERE i.id = postings.issue_id)
			WHERE issue_id IN `+in, db.Args(part)...)
	})
}

// ParseEvent returns the kind of events with a name; ok is false if there is none.
func ParseEvent(name string) (k EventKind, ok bool) {
	for k := EventClosed; k <= EventDequeued; k++ {
		if k.String() == name && name != "" {
			return k, true
		}
	}
	return 0, false
}

// ParseReason parses the result of String.
func ParseReason(name string) Reason {
	for n, word := range reasons {
		if word == name {
			return Reason(n)
		}
	}
	return NoReason
}

// Reassign gives the assignments of one account to another.
func Reassign(tx *db.Tx, from, to account.ID) error {
	ids, err := db.QueryIDs[ID](tx, `SELECT issue_id FROM postings WHERE kind = $1 AND value = $2`,
		int64(posting.ByAssignee), from)
	if err != nil {
		return err
	}
	return db.InParts(ids, func(part []ID) error {
		list, err := ByIDs(tx, part)
		for _, i := range list {
			if err != nil {
				return err
			}
			after := *i
			after.Assignees = nil
			for _, id := range i.Assignees {
				if id == from {
					id = to
				}
				if !slices.Contains(after.Assignees, id) {
					after.Assignees = append(after.Assignees, id)
				}
			}
			err = UpdatePast(tx, i, &after, nil)
		}
		return err
	})
}
