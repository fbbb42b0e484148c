package migration

import (
	"context"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/fulltext"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// batch writes records of one kind in one transaction. The function of the transaction may run again, so the state
// in batch and its rows is reset at the beginning of each run.
type batch struct {
	im   *importer
	kind Kind
	tx   *db.Tx

	// What prepare found out before the transaction.
	refused  map[*row]error
	objects  map[git.SHA]bool    // that are there
	branches map[*row]string     // made for heads in repositories that are not here
	files    map[*row]*file.File // received
	asIssue  map[*row]string     // why a pull request comes as an issue

	made map[*row]int64 // rulesets, by operations of their own

	notes []string // for the report, after the commit
}

// note adds a line to the report, once the transaction has committed.
func (b *batch) note(format string, args ...any) {
	b.notes = append(b.notes, fmt.Sprintf(format, args...))
}

// prepare does the work that needs Git or files, before the transaction.
func (b *batch) prepare(ctx context.Context, list []*row) error {
	b.refused = map[*row]error{}
	switch b.kind {
	case Issues:
		return b.preparePulls(ctx, list)
	case Assets, LFSObjects, Attachments:
		return b.receive(ctx, list)
	case Rulesets:
		return b.createRules(ctx, list)
	}
	return nil
}

// write writes the rows that are to be written: new ones, and those whose record has changed.
func (b *batch) write(list []*row) error {
	switch b.kind {
	case Labels:
		return b.labels(list)
	case Milestones:
		return b.milestones(list)
	case Issues:
		return b.issues(list)
	case Comments:
		return b.comments(list)
	case Reviews:
		return b.reviews(list)
	case ReviewComments:
		return b.reviewComments(list)
	case CommitComments:
		return b.commitComments(list)
	case Threads:
		return b.threads(list)
	case Reactions:
		return b.reactions(list)
	case Events:
		return b.events(list)
	case Releases:
		return b.releases(list)
	case Assets, LFSObjects, Attachments:
		return b.addFiles(list)
	case Rulesets:
		for _, r := range list {
			r.id = b.made[r]
		}
	case Hooks:
		return b.hooks(list)
	}
	return nil
}

// newRows are the rows that are new.
func newRows(list []*row) (out []*row) {
	for _, r := range list {
		if r.earlierID == 0 && r.refusal == nil {
			out = append(out, r)
		}
	}
	return out
}

// changedRows are the rows of records that were brought, and have changed since.
func changedRows(list []*row) (out []*row) {
	for _, r := range list {
		if r.earlierID != 0 && r.refusal == nil {
			out = append(out, r)
		}
	}
	return out
}

// assignIDs assigns an id to each new row.
func (b *batch) assignIDs(table string, list []*row) error {
	if len(list) == 0 {
		return nil
	}
	ids, err := b.tx.NextIDs(table, len(list))
	for n, r := range list {
		if err == nil {
			r.id = ids[n]
		}
	}
	return err
}

// findIssues finds the issues to which records belong. It refuses records whose issue does not exist, or, with
// pull, is not a pull request.
func (b *batch) findIssues(list []*row, of func(Record) int64, pull bool) (map[int64]*issue.Issue, error) {
	var numbers []int64
	for _, r := range list {
		numbers = append(numbers, of(r.Record))
	}
	found, err := issuesNumbered(b.tx, b.im.a.ID, db.Unique(numbers))
	for _, r := range list {
		n := of(r.Record)
		switch i := found[n]; {
		case i == nil:
			r.refusal = fmt.Errorf("there is no issue %d", n)
		case pull && !i.Pull:
			r.refusal = fmt.Errorf("%d is not a pull request", n)
		}
	}
	return found, err
}

// mentioned finds the accounts that texts mention and that may see the repository.
func (b *batch) mentioned(texts map[issue.ID][]issue.Text) (map[issue.ID][]account.ID, error) {
	logins := map[string]bool{}
	for _, list := range texts {
		for _, t := range list {
			for _, l := range t.Logins() {
				logins[account.Fold(l)] = true
			}
		}
	}
	found := map[string]account.ID{}
	err := db.InParts(sortedKeys(logins), func(part []string) error {
		people, err := repo.PeopleNamed(b.tx, b.im.a.Repo, part)
		for _, p := range people {
			if p.Kind == account.User && p.Role >= account.Pull {
				found[account.Fold(p.Login)] = p.ID
			}
		}
		return err
	})
	out := map[issue.ID][]account.ID{}
	for id, list := range texts {
		for _, t := range list {
			for _, l := range t.Logins() {
				if who := found[account.Fold(l)]; who != 0 {
					out[id] = append(out[id], who)
				}
			}
		}
	}
	return out, err
}

// involvedProperties returns the properties of an issue that mark its participants and mentioned users as involved and
// subscribed. Mannequins are skipped, because nobody would read their notifications.
func (b *batch) involvedProperties(participants []string, mentioned []account.ID) (list []posting.Property) {
	have := map[posting.Property]bool{}
	add := func(p posting.Property) {
		if !have[p] {
			have[p], list = true, append(list, p)
		}
	}
	for _, login := range participants {
		if b.im.people.matched(login) {
			add(posting.BySubscriber.OfUser(b.im.people.id(login)))
		}
	}
	for _, id := range mentioned {
		add(posting.ByMention.OfUser(id))
		add(posting.BySubscriber.OfUser(id))
	}
	return list
}

// indexTexts notes texts to be indexed. A comment 0 is the issue itself.
func (b *batch) indexTexts(list []fulltext.Changed) error {
	b.tx.OnCommit(b.im.s.Searches.Changed)
	return fulltext.NoteAll(b.tx, list)
}

// resetTextCounts resets the hourly text count of the authors in this batch, because they did not write imported
// texts now.
func (b *batch) resetTextCounts(list []*row) error {
	var ids []account.ID
	for _, login := range loginsIn(list) {
		if b.im.people.matched(login) {
			ids = append(ids, b.im.people.id(login))
		}
	}
	return account.ForgiveTexts(b.tx, db.Unique(ids))
}

// loginsIn lists the logins of the people whom records name.
func loginsIn(list []*row) (logins []string) {
	for _, r := range list {
		switch r := r.Record.(type) {
		case *Milestone:
			logins = append(logins, r.Creator)
		case *Issue:
			logins = append(append(logins, r.Author, r.ClosedBy, r.PinnedBy), r.Assignees...)
			if p := r.Pull; p != nil {
				logins = append(append(logins, p.HeadOwner, p.MergedBy), p.Reviewers...)
			}
		case *Comment:
			logins = append(logins, r.Author, r.PinnedBy)
		case *Review:
			logins = append(logins, r.Author)
		case *ReviewComment:
			logins = append(logins, r.Author)
		case *CommitComment:
			logins = append(logins, r.Author)
		case *Thread:
			logins = append(logins, r.ResolvedBy)
		case *Reaction:
			logins = append(logins, r.Person)
		case *Event:
			logins = append(logins, r.Actor, r.Person)
		case *Release:
			logins = append(logins, r.Author, r.Publisher)
		case *Asset:
			logins = append(logins, r.Uploader)
		case *Attachment:
			logins = append(logins, r.Uploader)
		}
	}
	return logins
}
