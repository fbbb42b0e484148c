package rule

import (
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/codeowner"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// reviewState is the state of a review as it is stored, see package review.
type reviewState int64

const (
	approved         reviewState = 3
	changesRequested reviewState = 4
)

// opinion is the last review with a decision of a user who may push to the repository.
type opinion struct {
	author account.ID
	state  reviewState
	commit git.SHA
}

// needs is what rules ask about a pull request.
type needs struct {
	author     account.ID
	pusher     account.ID // of the head; negative: unknown
	head       git.SHA
	opinions   []opinion
	unresolved int64        // conversations
	owned      []repo.Owned // what code owners have not approved
}

// askOwners finds out which of the changed files with owners lack an approval of one of them.
func (n *needs) askOwners(tx *db.Tx, in repo.ID, owned []repo.Owned) error {
	approvers := n.approvers()
	known, err := codeowner.Resolve(tx, []repo.ID{in}, ownersOf(owned), approvers)
	if err == nil {
		n.owned = known.Missing(in, owned, approvers)
	}
	return err
}

func ownersOf(owned []repo.Owned) (owners []string) {
	for _, o := range owned {
		owners = append(owners, o.Owners...)
	}
	return owners
}

// approvers returns who approves the pull request.
func (n *needs) approvers() (list []account.ID) {
	for _, o := range n.opinions {
		if o.state == approved {
			list = append(list, o.author)
		}
	}
	return list
}

// approvals counts the approvals. fresh says that one is of the present head and by another account than its
// pusher, who must be known.
func (n *needs) approvals() (count int64, fresh bool) {
	for _, o := range n.opinions {
		if o.state == approved {
			count++
			fresh = fresh || o.commit == n.head && o.author != n.pusher && n.pusher > 0
		}
	}
	return count, fresh
}

// blocked reports whether somebody requested changes.
func (n *needs) blocked() bool {
	return slices.ContainsFunc(n.opinions, func(o opinion) bool { return o.state == changesRequested })
}

// problems returns what a pull request lacks of what a rule requires, or "".
func (n *needs) problems(p *PullRequestRule, m *repo.Merge) string {
	var list []string
	if m.Method != "" && len(p.Methods) > 0 && !slices.Contains(p.Methods, m.Method) {
		list = append(list, fmt.Sprintf("Pull requests cannot be merged by %s here.", m.Method))
	}
	list = append(list, n.reviews(p))
	if p.CodeOwners {
		list = append(list, waiting(n.owned)...)
	}
	if p.Conversations {
		list = append(list, n.conversations())
	}
	return join(list...)
}

// reviews returns what a pull request lacks of the reviews that a rule requires, or "".
func (n *needs) reviews(p *PullRequestRule) string {
	count, fresh := n.approvals()
	switch {
	case (p.Approvals > 0 || p.CodeOwners) && n.blocked():
		return "Changes were requested by a reviewer with push access."
	case count < p.Approvals:
		verb := "reviews are"
		if p.Approvals == 1 {
			verb = "review is"
		}
		return fmt.Sprintf("At least %d approving %s required by reviewers with push access.", p.Approvals, verb)
	case p.LastPush && !fresh:
		return "The last push must be approved by somebody other than the one who pushed it."
	}
	return ""
}

// maxWaiting is for how many groups of owners a problem names the files.
const maxWaiting = 5

// waiting says which owners have to approve which files.
func waiting(list []repo.Owned) (out []string) {
	rest := 0
	for n, o := range list {
		if n >= maxWaiting {
			rest += o.Files
			continue
		}
		names := o.Owners[:min(len(o.Owners), maxWaiting)]
		files := fmt.Sprintf("%q", errs.Clip(o.Path))
		if o.Files > 1 {
			files += fmt.Sprintf(" and %s more", counted(o.Files-1, "file"))
		}
		out = append(out, fmt.Sprintf("Waiting on code owner review from %s (%s).", strings.Join(names, " or "), files))
	}
	if rest > 0 {
		out = append(out, fmt.Sprintf("The code owners of %s more have not approved them, either.", counted(rest, "file")))
	}
	return out
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func (n *needs) conversations() string {
	if n.unresolved == 0 {
		return ""
	}
	return "All conversations must be resolved."
}

// checkState is a status of a commit, or the latest run of a check.
type checkState struct {
	app     account.AppID // that reported it; 0: none
	pending bool
	ok      bool
}

// problems returns which statuses are missing or not successful, or "".
func (p *ChecksRule) problems(states map[string][]checkState) string {
	missing, failed := "", ""
	count := 0
	for _, c := range p.Checks {
		found, ok := false, true
		for _, s := range states[account.Fold(c.Context)] {
			if c.App == 0 || s.app == c.App {
				found, ok = true, ok && s.ok
			}
		}
		switch {
		case !found:
			missing = c.Context
		case !ok:
			failed = c.Context
		default:
			continue
		}
		count++
	}
	switch {
	case count == 0:
		return ""
	case count > 1:
		return fmt.Sprintf("%d of %d required status checks have not succeeded.", count, len(p.Checks))
	case missing != "":
		return fmt.Sprintf("Required status check %q is expected.", missing)
	}
	return fmt.Sprintf("Required status check %q has not succeeded.", failed)
}
