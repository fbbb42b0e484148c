// Package branch links branches to the issues that they were created for, as `gh issue develop` does.
//
//	branch.go   the operations
//	store.go    the SQL, of the table linked_branches
//	api.go      the payload and the loader of GraphQL; GitHub's REST API has no such endpoints
//
// The branch and the issue may be in different repositories. A link is visible to users who can see both.
// It is deleted with the branch, in the transaction of the push that deletes it (FollowPush), and with
// either repository. It is kept when the issue is transferred.
package branch

import (
	"context"
	"strconv"
	"strings"
	"unicode"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// heads is the prefix of full branch names.
const heads = "refs/heads/"

// maxLinked is the number of branches that can be linked to an issue.
const maxLinked = 100

// Link is a branch linked to an issue.
type Link struct {
	ID      int64
	IssueID issue.ID
	RepoID  repo.ID // of the branch
	Name    string  // of the branch
}

// Service implements the operations on linked branches.
type Service struct {
	db    *db.DB
	repos *repo.Service
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service) *Service { return &Service{d, repos} }

// Create creates a branch at a commit of the repository to, and links it to an issue of a, in one
// transaction. Both repositories may be the same. An empty name is derived from the issue's number and
// title. It requires push access to both. Errors: 403; 404, 410 for the issue; 422 for an invalid name or
// commit, for an existing branch, and for more than 100 branches of an issue.
func (s *Service) Create(
	ctx context.Context, a *repo.Access, number int64, to *repo.Access, name string, sha git.SHA,
) (*Link, error) {
	for _, side := range [...]*repo.Access{a, to} {
		if err := side.Require(account.Push); err != nil {
			return nil, err
		}
	}
	if err := s.repos.CheckTarget(ctx, to, sha); err != nil {
		return nil, err
	}
	if name == "" {
		err := s.db.Read(ctx, func(tx *db.Tx) error {
			i, err := issue.EnabledByNumber(tx, a, number)
			if err == nil {
				name = NameFor(i.Number, i.Title)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	link := &Link{RepoID: to.ID, Name: name}
	_, err := s.repos.CreateRefWith(ctx, to, heads+name, sha, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		for _, side := range [...]*repo.Access{a, to} {
			if err := side.Holds(tx); err != nil {
				return err
			}
		}
		i, err := issueFor(tx, a, number)
		if err != nil {
			return err
		}
		link.IssueID = i.ID
		link.ID, err = insert(tx, link)
		return err
	})
	if err != nil {
		return nil, err
	}
	return link, nil
}

// issueFor reads an issue and checks that another branch can be linked to it. Errors: 404, 410, 422.
func issueFor(tx *db.Tx, a *repo.Access, number int64) (*issue.Issue, error) {
	i, err := issue.EnabledByNumber(tx, a, number)
	if err != nil {
		return nil, err
	}
	if i.Pull {
		return nil, errs.New(errs.Invalid, "Branches are linked to issues, not to pull requests.")
	}
	n, err := count(tx, i.ID)
	if err == nil && n >= maxLinked {
		err = errs.Newf(errs.Invalid, "An issue has %d linked branches at most.", maxLinked)
	}
	return i, err
}

// Remove removes a link from an issue. The branch is kept. It requires push access to the issue's
// repository. Errors: 403, 404, 410.
func (s *Service) Remove(ctx context.Context, a *repo.Access, number, id int64) error {
	if err := a.Require(account.Push); err != nil {
		return err
	}
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := issuekit.Lock(tx, a.ID); err != nil {
			return err
		}
		if err := a.Holds(tx); err != nil {
			return err
		}
		i, err := issue.EnabledByNumber(tx, a, number)
		if err != nil {
			return err
		}
		return remove(tx, i.ID, id)
	})
}

// FollowPush removes the links to branches that a push deletes.
func FollowPush(tx *db.Tx, repoID repo.ID, moved []repo.RefUpdate) error {
	var gone []string
	for _, u := range moved {
		if name, ok := strings.CutPrefix(u.Name, heads); ok && u.New == git.ZeroSHA {
			gone = append(gone, name)
		}
	}
	return removeNamed(tx, repoID, gone)
}

// maxName is the number of bytes of the title in a branch name.
const maxName = 100

// NameFor returns a branch name for an issue, such as 7-slugs-eat-the-peas.
func NameFor(number int64, title string) string {
	b := strconv.AppendInt(nil, number, 10)
	dash := true
	for _, r := range strings.ToLower(title) {
		if len(b) > maxName {
			break
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			dash = true
			continue
		}
		if dash {
			b = append(b, '-')
			dash = false
		}
		b = append(b, string(r)...)
	}
	return string(b)
}

// FollowRename updates the links to a renamed branch.
func FollowRename(tx *db.Tx, repoID repo.ID, from, to string) error {
	return tx.Run(`UPDATE linked_branches SET name = $3 WHERE repo_id = $1 AND name = $2`, repoID, from, to)
}
