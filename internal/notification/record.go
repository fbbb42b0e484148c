package notification

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Act is an action that others are notified of. One of Issue, Release and
// Commit is its subject.
type Act struct {
	RepoID   repo.ID
	Issue    issue.ID
	Release  int64
	Commit   git.SHA
	Actor    account.ID
	Everyone bool // notify participants and watchers; else only Named
	Named    Named
	About    []What // what mails say
}

// What is a part of an act, as a mail tells it.
type What struct {
	Kind WhatKind   `json:"kind"`
	ID   int64      `json:"id,omitempty"`   // of the comment or review
	By   account.ID `json:"by"`             // who did it
	User account.ID `json:"user,omitempty"` // who alone is told; 0: everyone
}

// WhatKind says what happened.
type WhatKind string

// The kinds, as they are stored.
const (
	Opened        WhatKind = "opened"
	Closed        WhatKind = "closed"
	Reopened      WhatKind = "reopened"
	Comment       WhatKind = "comment"
	Review        WhatKind = "review"
	Assigned      WhatKind = "assigned"
	Requested     WhatKind = "review_requested"
	Mentioned     WhatKind = "mentioned" // by an edit
	CommitComment WhatKind = "commit_comment"
	Published     WhatKind = "published"
)

// Named are the accounts that an act names, by how it does.
type Named map[Reason][]account.ID

// Add names an account.
func (n *Named) Add(r Reason, ids ...account.ID) {
	if *n == nil {
		*n = Named{}
	}
	if len(ids) > 0 {
		(*n)[r] = append((*n)[r], ids...)
	}
}

// Topic is that of the bell which wakes the worker.
const Topic = "notifications"

// others returns the accounts that an act names, except the actor.
func (a *Act) others() Named {
	named := Named{}
	for reason, ids := range a.Named {
		for _, id := range ids {
			if id != a.Actor || reason.ofTeams() {
				named.Add(reason, id)
			}
		}
	}
	return named
}

// Note records an act in its transaction by one row, or by none if nobody would be notified.
func Note(tx *db.Tx, a Act) error {
	a.Named = a.others()
	if !a.Everyone && len(a.Named) == 0 {
		return nil
	}
	for n := range a.About {
		a.About[n].By = a.Actor
	}
	named, err := web.Marshal(a.Named)
	if err != nil {
		return err
	}
	about, err := web.Marshal(a.About)
	if err != nil {
		return err
	}
	return tx.SendRing(Topic, `INSERT INTO notification_acts
			(repo_id, issue_id, release_id, commit_sha, actor_id, everyone, named, created_at, about)
		SELECT r.id, CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS TEXT), CAST($5 AS BIGINT),
		CAST($6 AS BOOLEAN),
			CAST($7 AS TEXT), `+tx.Engine().Clock()+`, CAST($10 AS TEXT)
		FROM repos r WHERE r.id = $1 AND ($8 OR r.watchers > 0 OR EXISTS (SELECT 1 FROM postings p
			WHERE p.issue_id = $2 AND p.kind = $9 AND p.value <> $5))`,
		a.RepoID, db.OrNull(int64(a.Issue)), db.OrNull(a.Release), db.OrNull(string(a.Commit)),
		a.Actor, a.Everyone,
		string(named), len(a.Named) > 0 || a.Commit != "", int64(posting.BySubscriber), string(about))
}

// MoveIssue takes threads about an issue, and its pending acts, to the row that it has in
// another repository.
func MoveIssue(tx *db.Tx, from, to issue.ID, repoID repo.ID) error {
	for _, table := range [...]string{"notification_subjects", "notification_acts"} {
		if err := tx.Run(`UPDATE `+table+` SET issue_id = $1, repo_id = $2 WHERE issue_id = $3`, to, repoID,
			from); err != nil {
			return err
		}
	}
	return nil
}
