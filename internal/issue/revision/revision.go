// Package revision keeps the former texts of issues, pull requests, comments, reviews, review comments and comments
// on commits.
//
//	revision.go  noting edits, and what is shown of them
//	store.go     the SQL, of the tables text_edits and, for comments on commits, commit_comment_edits
//
// A row is an edit: who made it, when, and the text before it; the newest text is not here. The newest hundred
// edits of a text are kept. They count for the quota of who edited. Edits are gone with their texts, and move with
// an issue that is transferred.
//
// Everybody who sees a text sees its history, with one exception: what was written while the repository was private
// is shown only to those who may push, if the repository was made public since.
package revision

import (
	"context"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// Kind is what a text belongs to.
type Kind int64

// The kinds of texts.
const (
	OfIssue   Kind = 1 // or pull request
	OfComment Kind = 2
	OfReview  Kind = 3
	OfLine    Kind = 4 // a review comment
	OfCommit  Kind = 5 // a comment on a commit
)

// MaxKept is how many edits of a text are kept.
const MaxKept = 100

// Text names a text. ID is that of the issue, comment, review, review comment or comment on a commit.
type Text struct {
	Kind Kind
	ID   int64
}

// Edit is an edit of a text.
type Edit struct {
	ID        int64
	Of        Text
	N         int64 // from 1
	EditorID  account.ID
	At        db.Time
	Was       *string // the text before; nil: deleted, not kept, or not for the caller
	Private   bool    // the repository was private
	DeletedBy account.ID
	DeletedAt db.Time

	Editor, Deleter *account.Account // nil: gone, or no deleter
}

// Note records an edit of a text of an issue, or with issueID 0 of a comment on a commit, in the transaction that
// makes it. was is the text before. It is not kept if the quota of the editor has no room for it, so that texts can
// be shortened then, too.
func Note(tx *db.Tx, r *repo.Repo, issueID int64, of Text, by account.ID, was string) error {
	n, err := last(tx, of)
	if err != nil {
		return err
	}
	e := &Edit{Of: of, N: n + 1, EditorID: by, Was: &was}
	if !account.TextFits(tx, 256+len(was)) {
		e.Was = nil
	}
	if err := insert(tx, r, issueID, e); err != nil || n < MaxKept {
		return err
	}
	return prune(tx, of, n+1-MaxKept)
}

// Service shows what was edited.
type Service struct{ db *db.DB }

// New returns a Service.
func New(d *db.DB) *Service { return &Service{d} }

// Last returns the last edit of each of the texts that was edited, without the text before it. The caller of this
// function must have access to the texts.
func (s *Service) Last(ctx context.Context, texts []Text) (found map[Text]*Edit, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found = map[Text]*Edit{}
		list, err := lastOf(tx, texts)
		if err != nil {
			return err
		}
		for _, e := range list {
			found[e.Of] = e
		}
		return people(tx, list)
	})
	return found, err
}

// maxShown is the maximum size in bytes of the texts that List returns.
const maxShown = 10 << 20

// List returns the edits of each of the texts, the newest first, with the texts before them if texts is true. of has
// the access by which the caller sees each. Errors: TooLarge for more than maxShown bytes; those of admission.Hold.
func (s *Service) List(
	ctx context.Context, of map[Text]*repo.Access, texts bool,
) (found map[Text][]*Edit, err error) {
	names := slices.Collect(maps.Keys(of))
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found = map[Text][]*Edit{}
		list, err := listOf(tx, names, texts)
		if err != nil {
			return err
		}
		size := 0
		for _, e := range list {
			if e.Was != nil {
				size += len(*e.Was)
			}
			if !e.ShownTo(of[e.Of]) {
				e.Was = nil
			}
			found[e.Of] = append(found[e.Of], e)
		}
		if err := admission.Hold(ctx, int64(size)); err != nil {
			return err
		}
		return people(tx, list)
	})
	return found, err
}

// Get returns an edit of a text with the texts before and after it, as far as the caller may read them. current is
// the text as it is now. Error: 404.
func (s *Service) Get(
	ctx context.Context, a *repo.Access, of Text, id int64, current string,
) (e *Edit, after *string, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, err := pairOf(tx, of, id)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return errs.Absent()
		}
		e, after = list[0], &current
		if len(list) > 1 {
			if after = list[1].Was; !list[1].ShownTo(a) {
				after = nil
			}
		}
		if !e.ShownTo(a) {
			e.Was = nil
		}
		return people(tx, list[:1])
	})
	return e, after, err
}

// ShownTo reports whether a caller may read the text before the edit.
func (e *Edit) ShownTo(a *repo.Access) bool { return !e.Private || a.Private || a.Role >= account.Push }

// Delete deletes the text before an edit; that the edit was made stays. It requires the text's author or push access;
// mine reports that the caller is the author. Errors: 403, 404.
func (s *Service) Delete(ctx context.Context, a *repo.Access, of Text, id int64, mine bool) error {
	if !mine {
		if err := a.Require(account.Push); err != nil {
			return err
		}
	}
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		n, err := clearText(tx, of, id, a.Caller.ID)
		if err == nil && n == 0 {
			err = errs.Absent()
		}
		return err
	})
}

// people reads who edited and deleted.
func people(tx *db.Tx, list []*Edit) error {
	var ids []account.ID
	for _, e := range list {
		ids = append(ids, e.EditorID)
		if e.DeletedBy != 0 {
			ids = append(ids, e.DeletedBy)
		}
	}
	found, err := account.ByIDs(tx, db.Unique(ids))
	for _, e := range list {
		e.Editor, e.Deleter = found[e.EditorID], found[e.DeletedBy]
	}
	return err
}
