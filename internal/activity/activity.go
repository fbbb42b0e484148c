// Package activity is the feed of what happened: of a repository, a network, an
// organization, a user, and of what a user watches and follows.
//
//	activity.go  what a feed tells, and how it is noted
//	service.go   pages of feeds
//	store.go     the SQL, of table activities; storeselection.go: which ones a feed is made of
//	prune.go     what no feed reads any more goes; storeprune.go: the SQL for that
//	api.go       the handlers
//	json.go      GitHub's events
//
// A row names what it tells of and holds nothing of it, so a feed shows issues
// and comments as they are now, and nothing of those that are gone. Package forge
// notes each thing in the transaction in which it happens. Stars are not in any feed
// (decision 42).
//
// A feed is the newest Newest activities of its scope at most, so its cost does
// not depend on what is stored, and what is stored not on how much ever
// happened. A feed holds nothing that its reader may not see now (decision 13), also if
// the reader could see it then. Events of a repository's private time stay hidden from
// everybody else after it is published (decision 63).
//
// A row keeps whether its repository was public when it happened (was_public); public, which stands
// in each index, says that it was and is. So a stranger's page is one range, however much happened
// in private, and the rest is a second range for those with a role. What a user receives is many
// ranges, of what is watched and who is followed: the newest of each is looked up, and ranges are
// read from the most recent on until the others cannot have anything newer.
//
// Feeds are not derived from the tables that they tell of: that needs an index by author in each of
// five, which costs as much as the row and its indexes do, and cannot tell of pushes.
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

// Newest is how many activities a feed has at most.
const Newest = 300

// Kind is what happened.
type Kind int64

// The kinds of activities, as they are stored.
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

// Activity is a row of the table activities.
type Activity struct {
	ID        int64
	RepoID    repo.ID
	OrgID     account.ID // that owns the repository; 0: a user does
	ActorID   account.ID
	Public    bool // everybody sees it: the repository is public, and was when it happened
	Kind      Kind
	IssueID   issue.ID // Opened to ReviewCommented
	SubjectID int64    // the comment, the review or the release, also of CommitCommented; see fork and member
	Ref       string   // Pushed to Deleted; empty: the repository itself was created
	Before    git.SHA  // Pushed
	After     git.SHA  // Pushed
	CreatedAt db.Time
}

// fork is the repository that an activity of kind Forked tells of.
func (a *Activity) fork() repo.ID { return repo.ID(a.SubjectID) }

// member is the account that an activity of kind Joined tells of.
func (a *Activity) member() account.ID { return account.ID(a.SubjectID) }

// maxRefs is how many branches and tags of one push a feed tells of.
const maxRefs = 20

// NotePush notes which branches and tags somebody pushed, created or deleted; not
// those that came into being with their repository.
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

// NoteCreated notes a new repository, or with its parent a fork.
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

// NoteVisibility notes a repository that everyone may see from now on.
func NoteVisibility(tx *db.Tx, r *repo.Repo, by account.ID) error {
	if by == 0 || r.Private {
		return nil
	}
	return insert(tx, r.ID, Activity{ActorID: by, Kind: Published})
}

// NoteJoined notes a new collaborator.
func NoteJoined(tx *db.Tx, r *repo.Repo, userID, by account.ID) error {
	if by == 0 {
		return nil
	}
	return insert(tx, r.ID, Activity{ActorID: by, Kind: Joined, SubjectID: int64(userID)})
}

// ofIssue are the kinds of what happens to an issue, by name and action of the event that hooks get.
var ofIssue = map[string]Kind{
	"issues opened": Opened, "pull_request opened": Opened,
	"issues closed": Closed, "pull_request closed": Closed,
	"issues reopened": Reopened, "pull_request reopened": Reopened,
	"issue_comment created":               Commented,
	"pull_request_review submitted":       Reviewed,
	"pull_request_review_comment created": ReviewCommented,
}

// NoteIssue notes that an issue was opened, closed or reopened, and what was said of it. events are those of the
// change for hooks.
func NoteIssue(c *issue.Change, events []hook.Event) error {
	var list []Activity
	for _, e := range events {
		kind := ofIssue[e.Name+" "+e.Action]
		if kind == 0 || kind == Opened && c.Before != nil { // an issue that becomes a pull request was opened before
			continue
		}
		list = append(list, Activity{ActorID: e.Actor, Kind: kind, IssueID: c.Issue.ID, SubjectID: e.About.ID})
	}
	return insert(c.Tx, c.Repo.ID, list...)
}

// NoteReleased notes a release that is published for the first time.
func NoteReleased(tx *db.Tx, r *release.Release) error {
	return insert(tx, r.RepoID, Activity{ActorID: r.PublisherID, Kind: Released, SubjectID: r.ID})
}

// NoteCommitComment notes a new comment on a commit.
func NoteCommitComment(tx *db.Tx, c *commitcomment.Comment) error {
	return insert(tx, c.RepoID, Activity{ActorID: c.AuthorID, Kind: CommitCommented, SubjectID: c.ID})
}
