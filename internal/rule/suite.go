package rule

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Result is what rules said about an update.
type Result uint8

// Results as stored, the worst last for rulesets that are only evaluated.
const (
	Pass   Result = iota + 1
	Fail          // the update was refused
	Bypass        // rules were violated by somebody who may bypass them
)

var results = [...]string{"", "pass", "fail", "bypass"}

// String returns the name in GitHub's API, or "".
func (r Result) String() string { return results[r] }

// Suite is a row of table rule_suites: what rules said about an update of a ref. Updates that were refused in a
// transaction which was rolled back, such as merges that lack a review, leave none.
type Suite struct {
	ID          int64
	RepoID      repo.ID
	RepoName    string
	Actor       account.ID
	Ref         string
	Before      git.SHA
	After       git.SHA
	Result      Result
	Evaluated   Result // of rulesets that are only evaluated; 0: there were none
	Evaluations []Evaluation
	PushedAt    db.Time
}

// Evaluation is what one rule said.
type Evaluation struct {
	Ruleset     int64  `json:"ruleset"`
	Name        string `json:"name"` // of the ruleset at that time
	Protection  bool   `json:"protection,omitempty"`
	Enforcement string `json:"enforcement"`
	Kind        Kind   `json:"kind"`
	Problem     string `json:"problem,omitempty"` // empty: it was satisfied
}

// maxSuites is how many suites are kept of a repository, and maxRecorded of one push.
const (
	maxSuites   = 1000
	maxRecorded = 50
)

// suites returns what is recorded of a judgement.
func (j *judgement) suites() []*Suite {
	cases := j.cases[:min(len(j.cases), maxRecorded)]
	list := make([]*Suite, 0, len(cases))
	for _, c := range cases {
		if len(c.evaluations) == 0 {
			continue
		}
		s := &Suite{RepoID: j.push.RepoID, Actor: c.update.By, Ref: c.update.Name, Before: c.update.Old,
			After: c.update.New, Result: c.result, Evaluated: c.evaluated}
		for _, e := range c.evaluations {
			s.Evaluations = append(s.Evaluations, Evaluation{Ruleset: e.Set.ID, Name: e.Set.Name,
				Protection: e.Set.Protection, Enforcement: e.Set.Enforcement.String(), Kind: e.Kind,
				Problem: e.Problem})
		}
		list = append(list, s)
	}
	return list
}
