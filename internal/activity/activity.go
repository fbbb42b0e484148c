// Package activity implements activity feeds: of a repository, a network, an organization, a user, and of
// what a user watches and follows.
//
//	activity.go  kinds of activities, and recording them
//	service.go   pages of feeds; contribution.go: what users did, to be counted
//	store.go     the SQL of table activities; storeselection.go: the activities of a feed
//	prune.go     deleting activities that no feed reads; storeprune.go: its SQL
//	api.go       the handlers; apirefs.go: changes of branches
//	json.go      GitHub's events
//
// A row refers to its issue or comment and stores none of its data, so a feed shows current data, and
// nothing of deleted ones. Package forge records each activity in the transaction of the change. Stars are
// not in feeds (decision 42).
//
// A feed has at most the Newest activities of its scope, so neither its cost nor the size of the table
// grows with the number of past events. A feed shows only what its reader can see now (decision 13), even
// if the reader could see more before. Events from the private time of a repository stay hidden from
// others after it becomes public (decision 63).
//
// The column was_public stores whether the repository was public at the time of the event; public, which
// is part of each index, whether it was and is. So an anonymous page reads one range of an index, and a
// second range is read for users with a role. The feed of a user reads many ranges, one for each watched
// repository and followed user: it looks up the newest row of each and reads ranges from the most recent
// one on, until the others cannot have newer rows.
//
// Feeds are not derived from the other tables: that would need an index by author in each of five tables,
// at the cost of the rows and their indexes, and pushes have no table.
package activity

import (
	"strings"

	"arbor/internal/account"
	"arbor/internal/commitcomment"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/release"
	"arbor/internal/repo"
)

// Newest is the maximum number of activities in a feed.
const Newest = 300

// Kind is the kind of an activity.
type Kind int64

// Kinds of activities as stored.
const (
	Pushed          Kind = 1
	Created         Kind = 2
	Deleted         Kind = 3
	Forked          Kind = 4
	Published       Kind = 5
	Joined          Kind = 6
	Opened          Kind = 7
	Closed          Kind = 8
	Reopened        Kind = 9
	Commented       Kind = 10
	Reviewed        Kind = 11
	ReviewCommented Kind = 12
	Released        Kind = 13
	CommitCommented Kind = 14
)

// Activity is a row of table activities.
type Activity struct {
	ID        int64
	RepoID    repo.ID
	OrgID     account.ID // owner of the repository if it is an organization, else 0
	ActorID   account.ID
	Public    bool // visible to everyone: the repository is public, and was when it happened
	Kind      Kind
	IssueID   issue.ID // Opened to ReviewCommented
	SubjectID int64    // the comment, the review or the release, also of CommitCommented; see fork and member
	Ref       string   // Pushed to Deleted; empty: the repository itself was created
	Before    git.SHA  // Pushed
	After     git.SHA  // Pushed
	CreatedAt db.Time
}

// fork returns the new repository of an activity of kind Forked.
func (a *Activity) fork() repo.ID { return repo.ID(a.SubjectID) }

// member returns the new collaborator of an activity of kind Joined.
func (a *Activity) member() account.ID { return account.ID(a.SubjectID) }

// maxRefs is the number of branches and tags of one push in a feed.
const maxRefs = 20

// NotePush records pushed, created and deleted branches and tags, except those created together with their
// repository.
func NotePush(tx *db.Tx, repoID repo.ID, moved []repo.RefUpdate) error {
	var list []Activity
	for _, u := range moved {
		shown := strings.HasPrefix(u.Name, "refs/heads/") || strings.HasPrefix(u.Name, "refs/tags/")
		if !shown || u.By == 0 || u.Old == u.New || len(list) == maxRefs {
			continue
		}
		a := Activity{ActorID: u.By, Kind: Pushed, Ref: u.Name, Before: u.Old, After: u.New}
		switch git.ZeroSHA {
		case u.Old:
			a.Kind = Created
		case u.New:
			a.Kind = Deleted
		}
		list = append(list, a)
	}
	return insert(tx, repoID, list...)
}

// NoteCreated records a new repository or, with a parent, a fork.
func NoteCreated(tx *db.Tx, r *repo.Repo, by account.ID) error {
	switch {
	case by == 0:
		return nil
	case r.ParentID != 0:
		return insert(tx, r.ParentID, Activity{ActorID: by, Kind: Forked, SubjectID: int64(r.ID)})
	default:
		return insert(tx, r.ID, Activity{ActorID: by, Kind: Created})
	}
}

// NoteVisibility records that a repository became public.
func NoteVisibility(tx *db.Tx, r *repo.Repo, by account.ID) error {
	if by == 0 || r.Private {
		return nil
	}
	return insert(tx, r.ID, Activity{ActorID: by, Kind: Published})
}

// NoteJoined records a new collaborator.
func NoteJoined(tx *db.Tx, r *repo.Repo, userID, by account.ID) error {
	if by == 0 {
		return nil
	}
	return insert(tx, r.ID, Activity{ActorID: by, Kind: Joined, SubjectID: int64(userID)})
}

// ofIssue maps the name and action of webhook events of an issue to kinds.
var ofIssue = map[string]Kind{
	"issues opened": Opened, "pull_request opened": Opened,
	"issues closed": Closed, "pull_request closed": Closed,
	"issues reopened": Reopened, "pull_request reopened": Reopened,
	"issue_comment created":               Commented,
	"pull_request_review submitted":       Reviewed,
	"pull_request_review_comment created": ReviewCommented,
}

// NoteIssue records that an issue was opened, closed or reopened, and new comments and reviews. events are
// the webhook events of the change.
func NoteIssue(c *issue.Change, events []hook.Event) error {
	var list []Activity
	for _, e := range events {
		kind := ofIssue[e.Name+" "+e.Action]
		if kind == 0 || kind == Opened && c.Before != nil { // converted to a pull request
			continue
		}
		list = append(list, Activity{ActorID: e.Actor, Kind: kind, IssueID: c.Issue.ID, SubjectID: e.About.ID})
	}
	return insert(c.Tx, c.Repo.ID, list...)
}

// NoteReleased records the first publication of a release.
func NoteReleased(tx *db.Tx, r *release.Release) error {
	return insert(tx, r.RepoID, Activity{ActorID: r.PublisherID, Kind: Released, SubjectID: r.ID})
}

// NoteCommitComment records a new comment on a commit.
func NoteCommitComment(tx *db.Tx, c *commitcomment.Comment) error {
	return insert(tx, c.RepoID, Activity{ActorID: c.AuthorID, Kind: CommitCommented, SubjectID: c.ID})
}
