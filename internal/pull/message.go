package pull

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
)

// mergeMessage is the message of a merge commit (decision 37).
func (s *Service) mergeMessage(ctx context.Context, p *Pull, i *issue.Issue, o MergeOptions) (string, error) {
	title, body := "", i.Title
	if o.Title != nil && *o.Title != "" {
		title = *o.Title
	} else {
		owner, err := s.account(ctx, p.HeadOwnerID)
		if err != nil {
			return "", err
		}
		title = fmt.Sprintf("Merge pull request #%d from %s/%s", p.Number, owner.Login, p.HeadRef)
	}
	if o.Message != nil {
		body = *o.Message
	}
	return join(title, body), nil
}

// squashMessage is the author and the message of the one commit of a squash: its
// title is the pull request's, or the commit's own when there is but one (decision 37).
func (s *Service) squashMessage(
	ctx context.Context, objects *git.Repository, p *Pull, i *issue.Issue, o MergeOptions,
) (git.Signature, string, error) {
	who, err := s.account(ctx, i.AuthorID)
	if err != nil {
		return git.Signature{}, "", err
	}
	author, err := s.repos.Identity(ctx, &account.Caller{ID: who.ID, Login: who.Login})
	if err != nil {
		return author, "", err
	}
	shas, total, err := objects.PullCommits(ctx, p.BaseTip, p.HeadSHA)
	if err != nil {
		return author, "", err
	}
	commits, err := objects.Commits(ctx, shas[:min(len(shas), 1)])
	if err != nil {
		return author, "", err
	}
	title, body := i.Title, ""
	if total == 1 {
		title, body, _ = strings.Cut(commits[0].Message, "\n")
	}
	if o.Title != nil && *o.Title != "" {
		title = *o.Title
	}
	if o.Message != nil {
		body = *o.Message
	}
	return author, join(title, body), nil
}

// join makes a message of its title line and what follows after a blank line.
func join(title, body string) string {
	title = strings.Join(strings.FieldsFunc(title, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	body = strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	if body == "" {
		return title + "\n"
	}
	return title + "\n\n" + body + "\n"
}

func (s *Service) account(ctx context.Context, id account.ID) (*account.Account, error) {
	var a *account.Account
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		a, err = account.ByID(tx, id)
		return err
	})
	return a, err
}
