package repo

import (
	"errors"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// Merge is the merge of a pull request, for rules about the base branch.
type Merge struct {
	Pull   int64   // the id of its issue
	Number int64   // of the pull request
	Head   git.SHA // the head that is merged
	Method string  // merge, squash or rebase
	Auto   bool    // by auto-merge or a merge queue, which bypass nothing

	// What a merge queue merges, in order; nil: it is another merge. Then the fields above are of the last one.
	Queue []Queued
}

// Queued is a pull request that a merge queue merges.
type Queued struct {
	Pull int64      // the id of its issue
	By   account.ID // who put it into the queue
	Tip  git.SHA    // of the base with it
}

// ByQueue reports whether a merge queue merges.
func (m *Merge) ByQueue() bool { return m.Queue != nil }

// Pulls returns the ids of the issues of the pull requests, in the order in which they are merged.
func (m *Merge) Pulls() []int64 {
	if !m.ByQueue() {
		return []int64{m.Pull}
	}
	ids := make([]int64, len(m.Queue))
	for n, q := range m.Queue {
		ids[n] = q.Pull
	}
	return ids
}

// Tips returns the tips of the base after each pull request. tip is the last one.
func (m *Merge) Tips(tip git.SHA) []git.SHA {
	if !m.ByQueue() {
		return []git.SHA{tip}
	}
	tips := make([]git.SHA, len(m.Queue))
	for n, q := range m.Queue {
		tips[n] = q.Tip
	}
	return tips
}

// QueueRefs is the prefix of the branches of merge groups, as at GitHub. Only merge queues move them.
const QueueRefs = git.Heads + "gh-readonly-queue/"

// IsQueueRef reports whether a ref is the branch of a merge group, or would be in the way of all of them, by its full
// name.
func IsQueueRef(name string) bool { return strings.HasPrefix(name+"/", QueueRefs) }

// reserved reports whether only merge queues may make an update. A branch gh-readonly-queue from before there were
// any may be deleted.
func (u *RefUpdate) reserved() bool {
	return IsQueueRef(u.Name) && !(u.New == git.ZeroSHA && u.Name+"/" == QueueRefs)
}

// WithoutQueueRefs returns updates of other refs.
func WithoutQueueRefs(updates []RefUpdate) []RefUpdate {
	return slices.DeleteFunc(slices.Clone(updates), func(u RefUpdate) bool { return IsQueueRef(u.Name) })
}

// errQueueRef is the reason why nobody else moves the branches of merge groups.
var errQueueRef = errs.New(errs.Invalid, "Branches below gh-readonly-queue/ belong to merge queues.")

// Findings are what package rule found about an update of a ref before its transaction.
type Findings struct {
	State    string  // names the rulesets for which it was found; others need other findings
	Rulesets []int64 // those that apply to the ref
	Broken   []Finding
	Owned    []Owned // what the merge of a pull request changes, if a rule requires reviews of code owners
}

// Owned are changed files to which CODEOWNERS gives the same owners.
type Owned struct {
	Owners []string // as the file names them: @user, @org/team or an e-mail address
	Files  int
	Path   string // the first of them
	Merge  int    // the place of the pull request that changes them in Merge.Pulls
}

// Finding is a rule that the commits of an update violate.
type Finding struct {
	Ruleset int64
	Rule    int // its place in the ruleset
	Problem string
}

// RuleError is the reason why rules refuse to update a ref.
type RuleError struct {
	Ref      string
	Problems []string // sentences
}

func (e *RuleError) Error() string { return "rules refuse to update " + e.Ref }

// NewRuleError returns a 422 with GitHub's message. Operations that answer another status use RuledOut.
func NewRuleError(ref string, problems []string) error {
	return ruleError(errs.Invalid, &RuleError{ref, problems})
}

func ruleError(kind errs.Kind, e *RuleError) error {
	return errs.Wrap(kind, "Repository rule violations found\n\n"+strings.Join(e.Problems, "\n")+"\n", e)
}

// RuledOut returns an error of the given kind if rules refused an update, or a merge queue owns its ref; the refusal
// itself if it is one for good, as in a mirror; else nil: somebody was faster.
func RuledOut(refused error, kind errs.Kind) error {
	if e, ok := errors.AsType[*RuleError](refused); ok {
		return ruleError(kind, e)
	}
	if errors.Is(refused, errQueueRef) {
		return errs.Wrap(kind, errQueueRef.Message, refused)
	}
	if errs.Is(refused, errs.Forbidden) {
		return refused
	}
	return nil
}
