package issue

import (
	"context"
	"encoding/json"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Departure is the deletion of an issue or its transfer to another repository.
type Departure struct {
	Tx    *db.Tx
	From  *repo.Repo
	Actor account.ID
	Issue *Issue // the old state

	To  *repo.Repo // nil for a deletion
	New *Issue     // the issue in To

	hookEvents []hook.Event // for webhooks of From
	come       []hook.Event // for webhooks of To
}

// Delete deletes an issue and everything that belongs to it. Its number is not reused. It requires admin
// access. Errors: 403, 404, 410; 422 for a pull request.
func (s *Service) Delete(ctx context.Context, a *repo.Access, number int64) error {
	if err := a.Require(account.Admin); err != nil {
		return err
	}
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		i, err := departing(tx, a, number, "deleted")
		if err != nil {
			return err
		}
		d := &Departure{Tx: tx, From: a.Repo, Actor: account.IDOf(a.Caller), Issue: i}
		old, err := s.renderForHook(tx, a.ID, i)
		if err != nil {
			return err
		}
		if old != nil {
			d.hookEvents = append(d.hookEvents, d.event("deleted", old.issue, nil))
		}
		return s.forge.LoseIssue(d)
	})
}

// departing reads the issue to be deleted or transferred; done is the verb of the error message. Errors:
// 404, 410, 422.
func departing(tx *db.Tx, a *repo.Access, number int64, done string) (*Issue, error) {
	i, err := EnabledByNumber(tx, a, number)
	if err == nil && i.Pull {
		err = errs.Newf(errs.Invalid, "Only issues can be %s, not pull requests.", done)
	}
	return i, err
}

// Transfer holds the options of a transfer.
type Transfer struct {
	To           *repo.Access
	CreateLabels bool // create labels that the target repository lacks
}

// Transfer moves an issue with its comments, reactions, subscriptions and events to another repository of
// the same owner, where it gets a new id and number. The old number redirects to it. It keeps labels and
// the milestone if the target repository has ones with the same names, and assignees who can be assigned
// there. It is unpinned. It requires push access to both repositories. Errors: 403; 404, 410 for either
// repository; 422 for a pull request, the same repository, a repository of another owner, and a transfer
// from a private to a public repository.
func (s *Service) Transfer(ctx context.Context, a *repo.Access, number int64, t Transfer) (*Issue, error) {
	for _, side := range [...]*repo.Access{a, t.To} {
		if err := side.Require(account.Push); err != nil {
			return nil, err
		}
	}
	var moved *Issue
	err := s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		from, to, err := lockBoth(tx, a, t.To)
		if err != nil {
			return err
		}
		if err := mayTransfer(from, to); err != nil {
			return err
		}
		i, err := departing(tx, from, number, "transferred")
		if err != nil {
			return err
		}
		d := &Departure{Tx: tx, From: from.Repo, Actor: a.Caller.ID, Issue: i, To: to.Repo}
		old, err := s.renderForHook(tx, from.ID, i)
		if err != nil {
			return err
		}
		if err := d.insertTransferred(t.CreateLabels); err != nil {
			return err
		}
		if err := d.move(); err != nil {
			return err
		}
		if err := s.recordMove(d, old); err != nil {
			return err
		}
		moved = d.New
		return s.forge.LoseIssue(d)
	})
	return moved, err
}

// lockBoth locks two repositories in the order of their ids and reads them again. It checks the right to b;
// the right to a is checked at the end of the request's transaction.
func lockBoth(tx *db.Tx, a, b *repo.Access) (from, to *repo.Access, err error) {
	for _, id := range [...]repo.ID{min(a.ID, b.ID), max(a.ID, b.ID)} {
		if err := issuekit.Lock(tx, id); err != nil {
			return nil, nil, err
		}
	}
	for _, side := range [...]*repo.Access{a, b} {
		if err := side.Holds(tx); err != nil {
			return nil, nil, err
		}
	}
	if from, err = a.Now(tx); err == nil {
		to, err = b.Now(tx)
	}
	return from, to, err
}

// mayTransfer returns an error if issues cannot be transferred between two repositories.
func mayTransfer(from, to *repo.Access) error {
	switch {
	case from.ID == to.ID:
		return errs.New(errs.Invalid, "The issue is in this repository already.")
	case from.OwnerID != to.OwnerID:
		return errs.New(errs.Invalid, "Issues can be transferred between repositories of one owner only.")
	case from.Private && !to.Private:
		return errs.New(errs.Invalid,
			"Issues cannot be transferred from a private repository to a public one.")
	}
	return Enabled(to.Repo, nil)
}

// insertTransferred inserts the issue into its new repository, with its postings.
func (d *Departure) insertTransferred(createLabels bool) (err error) {
	i := *d.Issue
	d.New = &i
	i.ID, i.RepoID, i.PinnedAt, i.PinnedBy = 0, d.To.ID, 0, 0
	i.UpdatedAt = max(i.UpdatedAt, d.Tx.Now)
	if i.Labels, err = d.labels(createLabels); err != nil {
		return err
	}
	if i.MilestoneID, err = sameMilestone(d.Tx, d.To.ID, i.MilestoneID); err != nil {
		return err
	}
	people, err := repo.PeopleByID(d.Tx, d.To, i.Assignees)
	if err != nil {
		return err
	}
	i.Assignees = nil
	for _, id := range d.Issue.Assignees {
		if canBeAssigned(d.To, people[id], i.AuthorID) {
			i.Assignees = append(i.Assignees, id)
		}
	}
	if err := takeNumber(d.Tx, &i); err != nil {
		return err
	}
	if i.State == Closed {
		if err := addOpenIssues(d.Tx, d.To.ID, -1); err != nil {
			return err
		}
	}
	err = account.WrittenBy(d.Tx, d.Actor, i.AuthorID, func() error { return insertIssue(d.Tx, &i) })
	if err != nil {
		return err
	}
	if err := updateIssue(d.Tx, &i); err != nil { // writes the fields that insertIssue does not
		return err
	}
	has, err := extraProperties(d.Tx, d.Issue.ID)
	if err != nil {
		return err
	}
	return post(d.Tx, nil, &i, has, nil)
}

// labels returns the labels of the target repository with the names of the issue's labels. If create is
// true, it creates missing ones.
func (d *Departure) labels(create bool) ([]int64, error) {
	had, err := label.InOrder(d.Tx, d.From.ID, d.Issue.Labels)
	if err != nil || len(had) == 0 {
		return nil, err
	}
	names, folded := make([]string, len(had)), make([]string, len(had))
	for n, l := range had {
		names[n], folded[n] = l.Name, label.Fold(l.Name)
	}
	if create {
		if _, err := label.Ensure(d.Tx, d.To.ID, names, d.Actor); err != nil {
			return nil, err
		}
	}
	there, err := label.Named(d.Tx, d.To.ID, folded)
	var ids []int64
	for _, name := range folded {
		if l := there[name]; l != nil {
			ids = append(ids, l.ID)
		}
	}
	return ids, err
}

// Write removes the issue from its repository. Only Forge.LoseIssue calls it.
func (d *Departure) Write() error {
	if err := loseIssue(d.Tx, d.Issue); err != nil {
		return err
	}
	var to ID
	if d.New != nil {
		to = d.New.ID
	}
	if err := insertDeparture(d.Tx, d.Issue, to); err != nil {
		return err
	}
	if err := d.record(); err != nil {
		return err
	}
	if err := hook.Record(d.Tx, d.From.ID, d.hookEvents...); err != nil || d.To == nil {
		return err
	}
	return hook.Record(d.Tx, d.To.ID, d.come...)
}

// record writes the audit log: numbers, but no texts of users.
func (d *Departure) record() error {
	action, told := audit.IssueDestroy, map[string]any{"number": d.Issue.Number}
	if d.New != nil {
		action, told["to"], told["new_number"] = audit.IssueTransfer, d.To.FullName(), d.New.Number
	}
	return audit.Record(d.Tx, d.From.Audited(action, told))
}

// renderedIssue is an issue and its repository, rendered for webhooks.
type renderedIssue struct{ issue, repository json.RawMessage }

// renderForHook renders an issue and its repository for webhooks in the transaction that moves it. It returns
// nil if the repository has no webhook for issues.
func (s *Service) renderForHook(tx *db.Tx, repoID repo.ID, i *Issue) (*renderedIssue, error) {
	info, err := hook.Listening(tx, repoID, "issues")
	if err != nil || info == nil {
		return nil, err
	}
	return s.renderIssueForHook(tx, info, i)
}

func (s *Service) renderIssueForHook(tx *db.Tx, info *web.Info, i *Issue) (*renderedIssue, error) {
	a, err := repo.AccessForHooks(tx, i.RepoID)
	if err != nil {
		return nil, err
	}
	ctx := web.WithInfo(context.Background(), info) // the request's may wait
	var out renderedIssue
	if out.issue, err = s.inHook(ctx, tx, a, i); err != nil {
		return nil, err
	}
	out.repository, err = web.Marshal(repo.NewPayload(a, info))
	return &out, err
}

// ForHook renders an issue or a pull request's issue for a webhook payload. Errors: 404, 410.
func (s *Service) ForHook(
	ctx context.Context, tx *db.Tx, a *repo.Access, number int64,
) (json.RawMessage, error) {
	i, err := EnabledByNumber(tx, a, number)
	if err != nil {
		return nil, err
	}
	return s.inHook(ctx, tx, a, i)
}

func (s *Service) inHook(
	ctx context.Context, tx *db.Tx, a *repo.Access, i *Issue,
) (json.RawMessage, error) {
	p := NewPage(ctx, a)
	p.Full()
	p.Add(i)
	if err := p.Load(tx); err != nil {
		return nil, err
	}
	if err := p.Bodies(web.Unsent(ctx), s); err != nil {
		return nil, err
	}
	return p.AppendIssue(nil, i)
}

// recordMove adds the webhook events of both repositories. Webhooks of one repository get the other one only
// if it is public: an issue transferred to a private repository is reported as deleted.
func (s *Service) recordMove(d *Departure, old *renderedIssue) error {
	listening, err := hook.Listening(d.Tx, d.To.ID, "issues")
	if err != nil {
		return err
	}
	if listening != nil {
		var changes map[string]any
		if !d.From.Private {
			was := old
			if was == nil {
				if was, err = s.renderIssueForHook(d.Tx, listening, d.Issue); err != nil {
					return err
				}
			}
			changes = map[string]any{"old_issue": was.issue, "old_repository": was.repository}
		}
		d.come = append(d.come, hook.Event{Name: "issues", Action: "opened", Actor: d.Actor,
			About: hook.About{Number: d.New.Number, Changes: changes}})
	}
	if old == nil {
		return nil
	}
	if d.To.Private {
		d.hookEvents = append(d.hookEvents, d.event("deleted", old.issue, nil))
		return nil
	}
	info, err := hook.Listening(d.Tx, d.From.ID, "issues")
	if err != nil {
		return err
	}
	now, err := s.renderIssueForHook(d.Tx, info, d.New)
	if err != nil {
		return err
	}
	d.hookEvents = append(d.hookEvents, d.event("transferred", old.issue,
		map[string]any{"new_issue": now.issue, "new_repository": now.repository}))
	return nil
}

// event returns a webhook event that includes the issue, which cannot be read afterwards.
func (d *Departure) event(action string, was json.RawMessage, changes map[string]any) hook.Event {
	return hook.Event{Name: "issues", Action: action, Actor: d.Actor,
		About: hook.About{Number: d.Issue.Number,
			Changes: changes, Parts: map[string]json.RawMessage{"issue": was}}}
}
