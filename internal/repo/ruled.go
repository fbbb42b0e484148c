package repo

import (
	"errors"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
)

// Merge is the merge of a pull request, for rules about the base branch.
type Merge struct {
	Pull   int64   // the id of its issue
	Number int64   // of the pull request
	Head   git.SHA // the head that is merged
	Method string  // merge, squash or rebase
	Auto   bool    // by auto-merge, which bypasses nothing
}

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

// RuledOut returns an error of the given kind if rules refused an update, else nil.
func RuledOut(refused error, kind errs.Kind) error {
	var e *RuleError
	if errors.As(refused, &e) {
		return ruleError(kind, e)
	}
	return nil
}
