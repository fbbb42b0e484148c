package rule

import (
	"fmt"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// QueueRule has pull requests merged by a merge queue.
type QueueRule struct {
	Timeout  int64  `json:"check_response_timeout_minutes"`
	Grouping string `json:"grouping_strategy"`
	MaxBuild int64  `json:"max_entries_to_build"` // 0: no limit but maxQueued
	MaxMerge int64  `json:"max_entries_to_merge"` // 0: the same
	Method   string `json:"merge_method"`
	MinMerge int64  `json:"min_entries_to_merge"`
	MinWait  int64  `json:"min_entries_to_merge_wait_minutes"`
}

// Ways in which the groups of a merge queue count, in GitHub's words.
const (
	AllGreen  = "ALLGREEN"  // each group needs its checks
	HeadGreen = "HEADGREEN" // of the groups that are merged together the last one does
)

// maxQueued bounds how many groups of a queue are built, and merged, at one time.
const maxQueued = 100

// NewQueueRule returns a rule with GitHub's values for what is not given.
func NewQueueRule() *QueueRule {
	return &QueueRule{Timeout: 60, Grouping: AllGreen, MaxBuild: 5, MaxMerge: 5, Method: "MERGE", MinMerge: 1,
		MinWait: 5}
}

// QueueNumber is a parameter of a merge queue that is a number.
type QueueNumber struct {
	Name     string // in GitHub's API
	Value    *int64
	Min, Max int64
}

// Numbers returns the parameters that are numbers.
func (p *QueueRule) Numbers() []QueueNumber {
	return []QueueNumber{
		{"max_entries_to_build", &p.MaxBuild, 0, maxQueued},
		{"max_entries_to_merge", &p.MaxMerge, 0, maxQueued},
		{"min_entries_to_merge", &p.MinMerge, 0, maxQueued},
		{"min_entries_to_merge_wait_minutes", &p.MinWait, 0, 360},
		{"check_response_timeout_minutes", &p.Timeout, 1, 360},
	}
}

// QueueProblem is what is wrong with a parameter of a merge queue.
type QueueProblem struct{ Name, Text string }

// Problems returns what is wrong with the parameters.
func (p *QueueRule) Problems() (list []QueueProblem) {
	for _, n := range p.Numbers() {
		if *n.Value < n.Min || *n.Value > n.Max {
			list = append(list, QueueProblem{n.Name, fmt.Sprintf("must be between %d and %d", n.Min, n.Max)})
		}
	}
	if p.Grouping != AllGreen && p.Grouping != HeadGreen {
		list = append(list, QueueProblem{"grouping_strategy", "must be ALLGREEN or HEADGREEN"})
	}
	if p.Method != "MERGE" && p.Method != "SQUASH" && p.Method != "REBASE" {
		list = append(list, QueueProblem{"merge_method", "must be MERGE, SQUASH or REBASE"})
	}
	return list
}

func (p *QueueRule) check() string {
	if list := p.Problems(); len(list) > 0 {
		return list[0].Name + " " + list[0].Text
	}
	return ""
}

// Builds returns how many groups are built at one time.
func (p *QueueRule) Builds() int { return bounded(p.MaxBuild) }

// Merges returns how many groups are merged at one time.
func (p *QueueRule) Merges() int { return bounded(p.MaxMerge) }

func bounded(n int64) int {
	if n == 0 {
		return maxQueued
	}
	return int(n)
}

// Queue is what the active rules of a branch say about its merge queue.
type Queue struct {
	*QueueRule
	checks []*ChecksRule
}

// queue returns the merge queue of a branch, or nil if there is none. Of several rules the oldest counts.
func (b *rulebook) queue(branch string) *Queue {
	var q Queue
	for _, set := range b.on(git.Heads + branch) {
		if set.Enforcement != Active {
			continue
		}
		for _, r := range set.Rules {
			switch p := r.Parameters.(type) {
			case *QueueRule:
				if q.QueueRule == nil {
					q.QueueRule = p
				}
			case *ChecksRule:
				q.checks = append(q.checks, p)
			}
		}
	}
	if q.QueueRule == nil {
		return nil
	}
	return &q
}

// QueueOf returns the merge queue of a branch, or nil if there is none.
func QueueOf(tx *db.Tx, id repo.ID, branch string) (*Queue, error) {
	book, err := readRulebook(tx, id)
	if err != nil {
		return nil, err
	}
	return book.queue(branch), nil
}

// QueuesOf returns a function that finds the merge queues of branches of repositories, or nil.
func QueuesOf(tx *db.Tx, ids []repo.ID) (func(id repo.ID, branch string) *Queue, error) {
	books, err := readRulebooks(tx, ids)
	return func(id repo.ID, branch string) *Queue {
		if books[id] == nil {
			return nil
		}
		return books[id].queue(branch)
	}, err
}

// Verdict says how the required checks of a commit stand.
type Verdict uint8

// Verdicts.
const (
	Waiting Verdict = iota
	Passed
	Failed
)

// States are the statuses and check runs of some commits.
type States map[checkedCommit]map[string][]checkState

// ReadStates reads the latest statuses and check runs of commits in repositories, with one statement.
func ReadStates(tx *db.Tx, ids []repo.ID, commits []git.SHA) (States, error) {
	if len(ids) == 0 || len(commits) == 0 {
		return nil, nil
	}
	slices.Sort(commits)
	return readChecks(tx, ids, slices.Compact(commits))
}

// Verdict returns how the required checks of a commit of the repository stand.
func (q *Queue) Verdict(s States, id repo.ID, sha git.SHA) Verdict {
	v := Passed
	for _, p := range q.checks {
		switch p.verdict(s[checkedCommit{id, sha}]) {
		case Failed:
			return Failed
		case Waiting:
			v = Waiting
		}
	}
	return v
}

// verdict returns how the checks of a rule stand. One that failed decides, whatever the others will say.
func (p *ChecksRule) verdict(states map[string][]checkState) Verdict {
	v := Passed
	for _, c := range p.Checks {
		found := false
		for _, s := range states[account.Fold(c.Context)] {
			if c.App != 0 && s.app != c.App {
				continue
			}
			found = true
			switch {
			case s.pending:
				v = Waiting
			case !s.ok:
				return Failed
			}
		}
		if !found {
			v = Waiting
		}
	}
	return v
}
