package pull

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/pull/mergequeue"
	"arbor/internal/repo"
	"arbor/internal/rule"
)

// Queue is the merge queue of a branch, as it is shown.
type Queue struct {
	*rule.Queue
	Branch  string
	Entries []*QueueEntry // in the order in which they are merged
}

// QueueEntry is a pull request in a merge queue, as it is shown.
type QueueEntry struct {
	*mergequeue.Entry
	By       *account.Account
	Number   int64
	Title    string
	Position int // 1: it is merged next
	State    QueueEntryState
}

// QueueEntryState is the state of an entry, as GitHub names it.
type QueueEntryState string

// States of entries.
const (
	Queued    QueueEntryState = "QUEUED"          // its group is not built yet
	Checked   QueueEntryState = "AWAITING_CHECKS" // its checks have not completed
	Mergeable QueueEntryState = "MERGEABLE"
	Unmerging QueueEntryState = "UNMERGEABLE" // its checks failed
)

// Find returns the entry of a pull request, or nil.
func (q *Queue) Find(number int64) *QueueEntry {
	if q == nil {
		return nil
	}
	for _, e := range q.Entries {
		if e.Number == number {
			return e
		}
	}
	return nil
}

// MayDequeue reports whether the caller may take the pull request out of a merge queue.
func (v *View) MayDequeue() bool {
	return v.Open && !v.Base.Repo.Archived && mayEdit(v.Base.Repo, v.Issue.Issue, account.Push) == nil
}

// QueueOf returns the merge queue of a branch, or nil if it has none.
func (s *Service) QueueOf(ctx context.Context, a *repo.Access, branch string) (*Queue, error) {
	of := repo.Of[string]{In: a, Key: branch}
	found, err := s.Queues(ctx, []repo.Of[string]{of})
	return found[of], err
}

// Queues loads the merge queues of branches, with a fixed number of statements. Branches without one are missing.
func (s *Service) Queues(ctx context.Context, list []repo.Of[string]) (map[repo.Of[string]]*Queue, error) {
	var ids []repo.ID
	for _, of := range list {
		if of.In.Ruled {
			ids = append(ids, of.In.ID)
		}
	}
	found := map[repo.Of[string]]*Queue{}
	if len(ids) == 0 {
		return found, nil
	}
	return found, s.db.Read(ctx, func(tx *db.Tx) error {
		queues, err := rule.QueuesOf(tx, db.Unique(ids))
		if err != nil {
			return err
		}
		clear(found)
		var branches []mergequeue.Branch
		for _, of := range list {
			if q := queues(of.In.ID, of.Key); q != nil {
				found[of] = &Queue{Queue: q, Branch: of.Key}
				branches = append(branches, mergequeue.Branch{Repo: of.In.ID, Name: of.Key})
			}
		}
		return loadEntries(tx, found, branches)
	})
}

// loadEntries loads the entries of queues.
func loadEntries(tx *db.Tx, found map[repo.Of[string]]*Queue, branches []mergequeue.Branch) error {
	entries, err := mergequeue.EntriesOf(tx, branches)
	if err != nil || len(entries) == 0 {
		return err
	}
	var ids []issue.ID
	var people []account.ID
	var repos []repo.ID
	var groups []git.SHA
	for of, list := range entries {
		repos = append(repos, of.Repo)
		for _, e := range list {
			if ids, people = append(ids, e.IssueID), append(people, e.By); e.Group != nil {
				groups = append(groups, e.Group.Head)
			}
		}
	}
	issues, err := issue.ByIDs(tx, ids)
	if err != nil {
		return err
	}
	byID := map[issue.ID]*issue.Issue{}
	for _, i := range issues {
		byID[i.ID] = i
	}
	known, err := account.ByIDs(tx, db.Unique(people))
	if err != nil {
		return err
	}
	states, err := rule.ReadStates(tx, db.Unique(repos), groups)
	for of, q := range found {
		for n, e := range entries[mergequeue.Branch{Repo: of.In.ID, Name: of.Key}] {
			shown := &QueueEntry{Entry: e, By: known[e.By], Position: n + 1, State: Queued}
			if i := byID[e.IssueID]; i != nil {
				shown.Number, shown.Title = i.Number, i.Title
			}
			if e.Group != nil {
				shown.State = map[rule.Verdict]QueueEntryState{rule.Waiting: Checked, rule.Passed: Mergeable,
					rule.Failed: Unmerging}[q.Verdict(states, of.In.ID, e.Group.Head)]
			}
			q.Entries = append(q.Entries, shown)
		}
	}
	return err
}
