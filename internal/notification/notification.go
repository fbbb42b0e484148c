// Package notification notifies accounts of events in what they watch or participate in.
//
//	notification.go  threads and their reasons
//	record.go        Note: what happens is noted in its own transaction, by one row
//	worker.go        the worker: who hears of it
//	storequeue.go    its SQL
//	read.go          lists and threads, as their owner may see them now
//	mark.go          what owners do with them: read, done, subscriptions
//	store.go         the SQL of threads
//	api.go           the handlers; payload.go their JSON; routes.go their addresses
//	mail.go          mails about them: settings, what they tell, how they end; storemail.go their SQL
//	prune.go         what is old or too much goes
//
// Tables: notification_acts, _subjects, _threads, _wishes, _inboxes, _settings.
//
// An account has one thread for each issue, commit and release that it was notified of. A thread
// names its subject and copies nothing of it: titles are read from it, for accounts that can see the
// repository now. While an account cannot, the thread is in no list and no count, and it comes
// back with the repository.
//
// The recipients are determined after the commit, so a comment costs the same for any number of them.
// Participants and those mentioned are notified at once. Watchers follow some
// hundred at a time, and the more there are, the longer the next acts on the same subject wait to
// be told together.
package notification

import (
	"time"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// Resource is the name of threads in validation errors (decision 15).
const Resource = "Notification"

// Reason is why an account is notified. Among several the greatest is shown; from Assign on the latest.
type Reason int64

// The reasons, as they are stored.
const (
	Subscribed      Reason = 1 // watches the repository
	Manual          Reason = 2 // subscribed by hand
	StateChange     Reason = 3 // closed or reopened it
	Commented       Reason = 4
	Author          Reason = 5
	Assign          Reason = 6
	ReviewRequested Reason = 7
	Mention         Reason = 8

	// In an act the ids are those of teams, whose members are notified: of the second as ReviewRequested.
	TeamMention Reason = 9
	TeamRequest Reason = 10
)

// ofTeams reports a reason for which acts name teams in place of accounts.
func (r Reason) ofTeams() bool { return r == TeamMention || r == TeamRequest }

// stronger returns the reason that is shown of two. Being mentioned by name counts most.
func stronger(a, b Reason) Reason {
	if a == Mention || b == Mention {
		return Mention
	}
	return max(a, b)
}

// String is the word that payloads have.
func (r Reason) String() string {
	return [...]string{0: "", Subscribed: "subscribed", Manual: "manual", StateChange: "state_change",
		Commented: "comment",
		Author:    "author", Assign: "assign", ReviewRequested: "review_requested", Mention: "mention",
		TeamMention: "team_mention"}[r]
}

// Thread is a row of notification_threads with the current data of its subject.
type Thread struct {
	ID        int64
	RepoID    repo.ID
	SubjectID int64
	Reason    Reason
	Unread    bool
	UpdatedAt db.Time
	ReadAt    db.Time // zero: never

	Issue   issue.ID // one of the three; 0: another
	Number  int64    // of the issue
	Pull    bool     // the issue is a pull request
	State   issue.State
	Cause   issue.Reason // of a closed issue
	Draft   bool         // of a pull request
	Merged  db.Time      // zero unless a merged pull request
	Release int64
	Tag     string // of the release
	Commit  git.SHA
	Title   string // of a commit it is read later
	Comment int64  // the newest on the issue or the commit; 0: none
}

// Bounds.
const (
	maxThreads = 2000                 // of one account; the oldest go
	keepRead   = 90 * 24 * time.Hour  // since its latest notification
	keepAny    = 150 * 24 * time.Hour // read or not
)
