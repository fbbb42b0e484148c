package pull

import (
	"context"
	"errors"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/web"
)

// NewPull is a pull request to be created.
type NewPull struct {
	Title      string
	Text       issue.Text
	Issue      int64  // number of the issue to convert; 0: a new one
	Head       string // a branch, OWNER:BRANCH or OWNER:REPO:BRANCH
	HeadRepo   string // NAME or OWNER/NAME of the head's repository; empty: as Head says
	Base       string // a branch of this repository
	Draft      bool
	Modifiable bool
}

// check reports what is wrong with the values (decision 19). Error: 422.
func (n *NewPull) check() error {
	f := web.Faults{Resource: Resource}
	for _, one := range [...]struct{ name, value string }{{"head", n.Head}, {"base", n.Base}} {
		f.CheckText(one.name, one.value, 0)
		if one.value == "" {
			f.Wrong(one.name, errs.MissingField, "")
		}
	}
	if n.Issue == 0 {
		f.CheckText("title", n.Title, issue.MaxTitle)
		f.CheckFilled("title", n.Title)
	}
	if n.Text.Body != nil {
		f.CheckText("body", *n.Text.Body, issue.MaxBody)
	}
	return f.Err()
}

// Create creates a pull request and its test merge, which is left to the job if it takes long. a is the
// author's access to the base repository. Errors: 422 (decision 38).
func (s *Service) Create(ctx context.Context, a *repo.Access, n NewPull) (*Pull, error) {
	if err := n.check(); err != nil {
		return nil, err
	}
	n.Base = s.branchNamed(ctx, a, n.Base)
	var p *Pull
	err := s.repos.Again(ctx, errMoved, func() (err error) {
		p, err = s.createOnce(ctx, a, n)
		return err
	})
	switch {
	case errors.Is(err, errMoved):
		return nil, errs.New(errs.Unavailable, "the head branch keeps moving; try again")
	case err != nil:
		return nil, err
	case p.Wanted:
		s.wakeWorker()
	}
	return p, nil
}

// branchNamed returns the branch of a repository that a client names: refs/heads/main and heads/main are main, unless
// there is a branch of just that name.
func (s *Service) branchNamed(ctx context.Context, a *repo.Access, name string) string {
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "refs/"), "heads/")
	if plain == name {
		return name
	}
	if _, err := s.repos.Ref(ctx, a, heads+name); err == nil {
		return name
	}
	if _, err := s.repos.Ref(ctx, a, heads+plain); err != nil {
		return name // what is wrong is told of the name as it was given
	}
	return plain
}

func (s *Service) createOnce(ctx context.Context, a *repo.Access, n NewPull) (*Pull, error) {
	p, err := s.propose(ctx, a, n)
	if err != nil {
		return nil, err
	}
	tested, err := s.testNow(ctx, p)
	if err != nil {
		return nil, err
	}
	return p, s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := hold(tx, p); err != nil {
			return err
		}
		if err := s.insert(tx, a, n, p); err != nil {
			return err
		}
		if err := noteCommits(tx, p.RepoID, p.IssueID, tested.listed); err != nil || len(tested.owners) == 0 {
			return err
		}
		_, err := s.issues.ChangeIn(tx, a.Repo, a.Caller, p.Number, func(c *issue.Change) error {
			return askOwners(c, tested.owners)
		})
		return err
	})
}

// hold locks both branches until the transaction ends. Error: errMoved if the head has moved, the base was
// deleted, or the author may no longer bring the head's commits to the base.
func hold(tx *db.Tx, p *Pull) error {
	head, err := repo.HoldBranch(tx, p.HeadRepoID, p.HeadRef)
	if err != nil {
		return err
	}
	base, err := repo.HoldBranch(tx, p.RepoID, p.BaseRef)
	if err != nil {
		return err
	}
	still, err := holds(tx, p)
	if err == nil && (head != p.HeadSHA || base == "" || !still[p.IssueID]) {
		err = errMoved
	}
	return err
}

// propose checks a new pull request and copies the head's objects to the base repository.
func (s *Service) propose(ctx context.Context, a *repo.Access, n NewPull) (*Pull, error) {
	base, baseErr := s.repos.Ref(ctx, a, "refs/heads/"+n.Base)
	from, branch, headErr := s.headOf(ctx, a, n)
	if headErr == nil {
		branch = s.branchNamed(ctx, from, branch)
	}
	if repo.IsQueueRef(heads + n.Base) {
		baseErr = errs.Absent()
	}
	var head git.SHA
	if headErr == nil && repo.IsQueueRef(heads+branch) {
		headErr = errs.Absent()
	}
	if headErr == nil {
		head, headErr = s.repos.Ref(ctx, from, "refs/heads/"+branch)
	}
	var fields []errs.Field
	for _, f := range [...]struct {
		name, value string
		err         error
	}{{"head", n.Head, headErr}, {"base", n.Base, baseErr}} {
		switch {
		case errs.Is(f.err, errs.NotFound), errs.Is(f.err, errs.Invalid):
			fields = append(fields, errs.Field{Resource: Resource, Field: f.name, Code: errs.InvalidField,
				Value: f.value})
		case f.err != nil:
			return nil, f.err
		}
	}
	if len(fields) > 0 {
		return nil, errs.Validation(fields...)
	}
	p := &Pull{
		RepoID: a.ID, AuthorID: a.Caller.ID, Open: true, BaseRef: n.Base, BaseSHA: base, BaseTip: base,
		Modifiable: n.Modifiable && from.ID != a.ID && from.Role >= account.Push,
		HeadRepoID: from.ID, HeadOwnerID: from.OwnerID, HeadRef: branch, HeadSHA: head,
	}
	err := s.network.Bring(ctx, a, p.crossing(), head, base)
	if errors.Is(err, network.ErrNoCrossing) {
		return nil, s.barred(ctx, a, wrong("head", errs.InvalidField, n.Head))
	}
	if err != nil {
		return nil, err
	}
	return p, s.checkBetween(ctx, a, p, n.Head)
}

// headOf resolves a head to a branch of this repository or of another one in its network that is visible to
// the caller. An owner without a repository means the owner's fork. Error: 404.
func (s *Service) headOf(ctx context.Context, a *repo.Access, n NewPull) (*repo.Access, string, error) {
	owner, branch, across := strings.Cut(n.Head, ":")
	if !across {
		owner, branch = a.Owner.Login, n.Head
	}
	name, rest, full := strings.Cut(branch, ":") // branches cannot contain a colon
	if full {
		branch = rest
	} else {
		name = n.HeadRepo
	}
	if login, of, ok := strings.Cut(name, "/"); ok {
		if across && account.Fold(login) != account.Fold(owner) {
			return nil, "", errs.Absent()
		}
		owner, name = login, of
	}
	switch {
	case full && n.HeadRepo != "" && account.Fold(n.HeadRepo) != account.Fold(name) &&
		account.Fold(n.HeadRepo) != account.Fold(owner+"/"+name):
		return nil, "", errs.Absent() // Head and HeadRepo contradict each other
	case name == "" && account.Fold(owner) == account.Fold(a.Owner.Login):
		return a, branch, nil
	case name == "":
		fork, err := s.network.ForkOf(ctx, a.Caller, a.NetworkID, owner)
		return fork, branch, err
	}
	from, err := s.network.InNetwork(ctx, a, owner, name)
	return from, branch, err
}

// checkBetween returns 422 if there is nothing to merge (decision 38). head is the caller's name of the
// head branch.
func (s *Service) checkBetween(ctx context.Context, a *repo.Access, p *Pull, head string) error {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	common, err := objects.MergeBase(ctx, p.BaseSHA, p.HeadSHA)
	switch {
	case errs.Is(err, errs.NotFound):
		return custom("base", "The "+p.BaseRef+" branch has no history in common with "+head)
	case err != nil:
		return err
	case common == p.HeadSHA:
		return custom("head", "No commits between "+p.BaseRef+" and "+head)
	}
	return nil
}

// insert inserts a pull request and its issue.
func (s *Service) insert(tx *db.Tx, a *repo.Access, n NewPull, p *Pull) error {
	list := func(c *issue.Change) error {
		p.IssueID = c.Issue.ID
		if other, err := openPair(tx, p); err != nil || other != 0 {
			if err == nil {
				err = alreadyExists(tx, p)
			}
			return err
		}
		for owner, name := range map[account.ID]string{0: p.BaseRef, p.HeadOwnerID: p.HeadRef} {
			by, err := branchProperty(tx, p.RepoID, owner, name)
			if err != nil {
				return err
			}
			c.Also(by)
		}
		return nil
	}
	var i *issue.Issue
	var err error
	if n.Issue == 0 {
		i, err = s.issues.CreateIn(tx, a, issue.NewIssue{Title: n.Title, Text: n.Text, Pull: true,
			Draft: n.Draft, Also: list})
	} else {
		i, err = s.issues.ChangeIn(tx, a.Repo, a.Caller, n.Issue,
			func(c *issue.Change) error { return becomePull(c, n, list) })
		if errs.Is(err, errs.NotFound) {
			err = wrong("issue", errs.InvalidField, n.Issue)
		}
	}
	if err != nil {
		return err
	}
	p.IssueID, p.Number = i.ID, i.Number
	if err := insertPull(tx, p); err != nil {
		return err
	}
	if err := repo.SetPullRef(tx, p.RepoID, a.Purges, p.Number, repo.PullHead, p.HeadSHA); err != nil ||
		p.TestSHA == "" {
		return err
	}
	return repo.SetPullRef(tx, p.RepoID, a.Purges, p.Number, repo.PullMerge, p.TestSHA)
}

// becomePull converts an issue to a pull request (decision 38).
func becomePull(c *issue.Change, n NewPull, list func(*issue.Change) error) error {
	switch {
	case c.Issue.Pull:
		return custom("issue", "The issue is a pull request already")
	case c.Issue.State != issue.Open:
		return custom("issue", "The issue is closed")
	}
	c.Issue.Pull, c.Issue.Draft = true, n.Draft
	c.Touch()
	return list(c)
}

// alreadyExists returns the 422 for a second open pull request between two branches.
func alreadyExists(tx *db.Tx, p *Pull) error {
	owner, err := account.ByID(tx, p.HeadOwnerID)
	if err != nil {
		return err
	}
	return errs.Validation(errs.Field{Resource: Resource, Code: errs.Custom,
		Message: "A pull request already exists for " + owner.Login + ":" + p.HeadRef + "."})
}
