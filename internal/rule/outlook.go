package rule

import (
	"slices"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Candidate is a pull request that may be merged.
type Candidate struct {
	Pull int64   // the id of its issue
	Repo repo.ID // of its base
	Base string  // a branch
	Head git.SHA

	// for AskOwners and AskSignatures
	Tip    git.SHA // of the base; empty: it was deleted
	Left   git.SHA // a commit of the base from when the head was last new
	Result git.SHA // of a merge of Tip and Head; empty: unknown, or they cannot be merged
}

// Outlook is what the active rules of a base branch ask of a pull request. Who may bypass them does not matter.
type Outlook struct {
	Missing  []string // sentences; empty: it may be merged
	UpToDate bool     // the head must contain the base branch
	Queue    *Queue   // merges the pull request; nil: there is none
	Unready  []string // what is missing but for statuses of the head
	// Reviews says that reviews are required, and Reviewed that they are there.
	Reviews, Reviewed bool

	CodeOwners bool   // their reviews are required
	Asked      bool   // AskOwners found out which of them are missing
	Signatures bool   // of commits are required
	Verified   bool   // AskSignatures found out which of them are missing
	Note       string // what people should know, though nothing is missing

	needs  *needs
	squash bool      // it may be merged by a squash
	judged []git.SHA // whose commits a rule about signatures leaves out
}

// Open reports that Git was not asked yet what else is missing.
func (o *Outlook) Open() bool { return o.CodeOwners && !o.Asked || o.Signatures && !o.Verified }

// Outlooks returns the outlook of pull requests, by the ids of their issues, with a fixed number of statements.
// Those whose base has no rules are missing. Commits are not looked at.
func Outlooks(tx *db.Tx, list []Candidate) (map[int64]*Outlook, error) {
	var ids []repo.ID
	for _, c := range list {
		ids = append(ids, c.Repo)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	books, err := readRulebooks(tx, db.Unique(ids))
	if err != nil || len(books) == 0 {
		return nil, err
	}
	var pulls []int64
	var heads []git.SHA
	ids = nil
	for _, c := range list {
		if books[c.Repo] != nil {
			pulls, heads, ids = append(pulls, c.Pull), append(heads, c.Head), append(ids, c.Repo)
		}
	}
	needs, err := readManyNeeds(tx, pulls)
	if err != nil {
		return nil, err
	}
	slices.Sort(heads)
	states, err := readChecks(tx, db.Unique(ids), slices.Compact(heads))
	if err != nil {
		return nil, err
	}
	found := map[int64]*Outlook{}
	for _, c := range list {
		book, need := books[c.Repo], needs[c.Pull]
		if book == nil || need == nil {
			continue
		}
		if o := book.outlook(c, need, states[checkedCommit{c.Repo, c.Head}]); o != nil {
			found[c.Pull] = o
		}
	}
	return found, nil
}

// outlook returns what the rules ask of a pull request, or nil if there are none.
func (b *rulebook) outlook(c Candidate, need *needs, states map[string][]checkState) *Outlook {
	var o *Outlook
	for _, set := range b.on(git.Heads + c.Base) {
		if set.Enforcement != Active {
			continue
		}
		if o == nil {
			o = &Outlook{Reviewed: true, needs: need, Queue: b.queue(c.Base), squash: !b.noSquash}
			if o.Queue != nil {
				o.squash = o.Queue.Method == "SQUASH"
			}
		}
		for _, rule := range set.Rules {
			problem := ""
			switch p := rule.Parameters.(type) {
			case *PullRequestRule:
				problem = need.problems(p, &repo.Merge{})
				o.Reviews, o.CodeOwners = o.Reviews || p.Approvals > 0, o.CodeOwners || p.CodeOwners
				o.Reviewed = o.Reviewed && need.reviews(p) == ""
				o.squash = o.squash && (len(p.Methods) == 0 || slices.Contains(p.Methods, "squash"))
			case *ChecksRule:
				problem = p.problems(states)
				o.UpToDate = o.UpToDate || p.Strict && o.Queue == nil // its groups contain the base
			case *UpdateRule:
				problem = "The branch is locked."
			}
			switch rule.Kind {
			case Conversations:
				problem = need.conversations()
			case Signatures:
				o.mustBeSigned(b, set, c.Base)
			}
			if problem != "" && !slices.Contains(o.Missing, problem) {
				o.Missing = append(o.Missing, problem)
				if rule.Kind != Checks {
					o.Unready = append(o.Unready, problem)
				}
			}
		}
	}
	return o
}

// BranchState is what answers about a branch show of its protection.
type BranchState struct {
	Protection *Protection // nil: there is none
}

// ProtectedBranches returns those of the branches to which a protection or an active ruleset applies.
func ProtectedBranches(tx *db.Tx, a *repo.Access, branches []string) (map[string]BranchState, error) {
	if !a.Ruled || len(branches) == 0 {
		return nil, nil
	}
	book, err := readRulebook(tx, a.ID)
	if err != nil {
		return nil, err
	}
	found := map[string]BranchState{}
	for _, branch := range branches {
		for _, r := range book.on(git.Heads + branch) {
			if r.Enforcement != Active || len(r.Rules) == 0 && !r.Protection {
				continue
			}
			state := found[branch]
			if r.Protection {
				state.Protection = AsProtection(r)
			}
			found[branch] = state
		}
	}
	return found, nil
}
