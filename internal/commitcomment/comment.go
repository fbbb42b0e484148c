// Package commitcomment has the comments on commits, which belong to no pull request.
//
//	comment.go   comments, and how they are written
//	store.go     the SQL, of the table commit_comments
//	api.go       the handlers and their addresses
//	render.go    their JSON; also for feeds
//
// A comment names a commit by its SHA, and stays when the commit is no longer reachable. Its former texts are kept by
// package revision. What becomes of a comment and of these:
//
//	the commit is unreachable    both stay
//	it is hidden                 everybody sees why, and can still read it; its author or the role Triage hides it
//	it is deleted                its former texts and reactions go with it
//	the repository is private    only those who see the repository see either
//	it is made public            texts from before are shown only to those who may push
//	it is archived               nothing is edited, hidden or deleted
//	an account is deleted        the comments and edits are ghost's
package commitcomment

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/issue/revision"
	"arbor/internal/issuekit"
	"arbor/internal/markdown"
	"arbor/internal/notification"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// Resource is the name of comments in validation errors.
const Resource = "CommitComment"

// Comment is a row of the table commit_comments.
type Comment struct {
	ID        int64
	RepoID    repo.ID
	AuthorID  account.ID
	SHA       git.SHA
	Path      *string // of a file, as its author gave it; nil: of the whole commit
	Position  *int64  // in the file's patch
	Line      *int64  // in the file
	Body      string
	Hidden    issuekit.Hidden
	CreatedAt db.Time
	UpdatedAt db.Time
}

// Service holds what the operations on comments share.
type Service struct {
	db     *db.DB
	repos  *repo.Service
	issues *issue.Service // renders texts
	forge  Forge
}

// Forge is what else happens with comments on commits. Package forge implements it.
type Forge interface {
	// CommentOnCommit is called in the transaction that adds a comment.
	CommentOnCommit(tx *db.Tx, c *Comment) error
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, issues *issue.Service, forge Forge) *Service {
	return &Service{d, repos, issues, forge}
}

// Create adds a comment of the caller's on a commit that the repository has. Errors: 404 when
// the repository is gone; 422 for a blank text and one of more than issue.MaxBody code points.
func (s *Service) Create(ctx context.Context, a *repo.Access, c *Comment) error {
	f := web.Faults{Resource: Resource}
	if checkText(&f, c.Body); f.Err() != nil {
		return f.Err()
	}
	c.RepoID, c.AuthorID = a.ID, a.Caller.ID
	mentioned := markdown.Parse(c.Body).References()
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil { // rights change under it, too
			return err
		}
		c.CreatedAt, c.UpdatedAt = tx.Now, tx.Now
		if err := insert(tx, c); err != nil {
			return err
		}
		if err := s.forge.CommentOnCommit(tx, c); err != nil {
			return err
		}
		if err := tellPeople(tx, a, c, mentioned); err != nil {
			return err
		}
		return hook.Record(tx, a.ID, hook.Event{Name: "commit_comment", Action: "created", Actor: c.AuthorID,
			About: hook.About{ID: c.ID}})
	})
}

// tellPeople notifies of a new comment, including those mentioned who can see the repository, and teams.
func tellPeople(tx *db.Tx, a *repo.Access, c *Comment, mentioned markdown.References) error {
	act := notification.Act{RepoID: a.ID, Commit: c.SHA, Actor: c.AuthorID, Everyone: true,
		About: []notification.What{{Kind: notification.CommitComment, ID: c.ID}}}
	people, err := repo.PeopleNamed(tx, a.Repo, mentioned.Logins)
	if err != nil {
		return err
	}
	for _, p := range people {
		if p.Kind == account.User && p.Role >= account.Pull {
			act.Named.Add(notification.Mention, p.ID)
		}
	}
	teams, err := team.Mentioned(tx, a.Repo, a.Caller, mentioned.Teams)
	if err != nil {
		return err
	}
	for _, id := range teams {
		act.Named.Add(notification.TeamMention, account.ID(id))
	}
	return notification.Note(tx, act)
}

// mayEdit returns a 403 if the caller may neither edit nor delete a comment: its author and those
// with push access may.
func mayEdit(a *repo.Access, c *Comment) error {
	if a.Role < account.Push && (a.Caller == nil || a.Caller.ID != c.AuthorID) {
		return errs.New(errs.Forbidden,
			"Must be the author of the comment or have push access to Repository.")
	}
	return nil
}

// Edit changes the text of a comment, and keeps the one before. Errors: 403, 404.
func (s *Service) Edit(ctx context.Context, a *repo.Access, id int64, body string) (c *Comment, err error) {
	err = s.change(ctx, a, id, func(tx *db.Tx, a *repo.Access, now *Comment) error {
		c = now
		if err := mayEdit(a, now); err != nil || c.Body == body {
			return err
		}
		of := revision.Text{Kind: revision.OfCommit, ID: id}
		if err := revision.Note(tx, a.Repo, 0, of, a.Caller.ID, c.Body); err != nil {
			return err
		}
		c.Body, c.UpdatedAt = body, max(c.UpdatedAt, tx.Now)
		return account.WrittenBy(tx, a.Caller.ID, c.AuthorID, func() error { return update(tx, c) })
	})
	return c, err
}

// Hide hides a comment, or shows it again if why is 0. It changes no times and sends no webhooks. Errors: 403, see
// issue.MayHide; 404.
func (s *Service) Hide(ctx context.Context, a *repo.Access, id int64, why issuekit.Hidden) error {
	return s.change(ctx, a, id, func(tx *db.Tx, a *repo.Access, now *Comment) error {
		if err := issue.MayHide(a, now.AuthorID, false, now.Hidden); err != nil || now.Hidden == why {
			return err
		}
		now.Hidden = why
		return hide(tx, now)
	})
}

// Delete deletes a comment with its reactions. Errors: 403, 404.
func (s *Service) Delete(ctx context.Context, a *repo.Access, id int64) error {
	return s.change(ctx, a, id, func(tx *db.Tx, a *repo.Access, now *Comment) error {
		if err := mayEdit(a, now); err != nil {
			return err
		}
		if err := remove(tx, now); err != nil {
			return err
		}
		return reaction.Drop(tx, reaction.CommitComment, now.ID)
	})
}

// Subject finds a comment as a subject of reactions. Error: 404.
func (s *Service) Subject(ctx context.Context, a *repo.Access, id int64) (reaction.Subject, error) {
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		_, err := byID(tx, a.ID, id)
		return err
	})
	return reaction.Subject{Kind: reaction.CommitComment, ID: id, Changed: func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		_, err := byID(tx, a.ID, id)
		return err
	}}, err
}

// change calls fn with the caller's access and the comment as they are now, under the repository's lock. fn checks
// that the caller may change it.
func (s *Service) change(
	ctx context.Context, a *repo.Access, id int64, fn func(*db.Tx, *repo.Access, *Comment) error,
) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		now, err := byID(tx, a.ID, id)
		if err != nil {
			return err
		}
		access, err := a.Now(tx)
		if err != nil {
			return err
		}
		return fn(tx, access, now)
	})
}
