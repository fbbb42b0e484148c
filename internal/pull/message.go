package pull

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// mergeMessage returns the message of a merge commit (decision 37) according to the repository's settings
// and the request.
func (s *Service) mergeMessage(
	ctx context.Context, p *Pull, i *issue.Issue, set repo.Merging, o MergeOptions,
) (string, error) {
	login := ""
	if (o.Title == nil || *o.Title == "") && !set.Has(repo.MergeByPullTitle) {
		owner, err := s.account(ctx, p.HeadOwnerID)
		if err != nil {
			return "", err
		}
		login = owner.Login
	}
	return mergeText(p, i, login, set, o), nil
}

// mergeText is mergeMessage for a known owner of the head.
func mergeText(p *Pull, i *issue.Issue, owner string, set repo.Merging, o MergeOptions) string {
	title, body := i.Title, i.Title
	switch {
	case set.Has(repo.MergeWithBody):
		body = textOf(i.Body)
	case set.Has(repo.MergeWithoutText):
		body = ""
	}
	if o.Title != nil && *o.Title != "" {
		title = *o.Title
	} else if !set.Has(repo.MergeByPullTitle) {
		title = fmt.Sprintf("Merge pull request #%d from %s/%s", p.Number, owner, p.HeadRef)
	}
	if o.Message != nil {
		body = *o.Message
	}
	return join(title, body)
}

// squashMessage returns the author and the message of a squash. Unless the repository's settings or the
// request say otherwise, its title is the pull request's, or the commit's if there is only one (decision
// 37).
func (s *Service) squashMessage(
	ctx context.Context, objects *git.Repository, p *Pull, i *issue.Issue, set repo.Merging, o MergeOptions,
) (git.Signature, string, error) {
	who, err := s.account(ctx, i.AuthorID)
	if err != nil {
		return git.Signature{}, "", err
	}
	author, err := s.repos.Identity(ctx, &account.Caller{ID: who.ID, Login: who.Login})
	if err != nil {
		return author, "", err
	}
	text, err := squashedText(ctx, objects, p, i, set, o)
	return author, text, err
}

// squashedText returns the message of a squash.
func squashedText(
	ctx context.Context, objects *git.Repository, p *Pull, i *issue.Issue, set repo.Merging, o MergeOptions,
) (string, error) {
	shas, total, err := objects.PullCommits(ctx, p.BaseTip, p.HeadSHA)
	if err != nil {
		return "", err
	}
	if !set.Has(repo.SquashWithMessages) {
		shas = shas[:min(len(shas), 1)]
	}
	commits, err := objects.Commits(ctx, shas)
	if err != nil {
		return "", err
	}
	title, body := squashDefault(i, commits, total, set)
	if o.Title != nil && *o.Title != "" {
		title = *o.Title
	}
	if o.Message != nil {
		body = *o.Message
	}
	return join(title, body), nil
}

// squashDefault returns the default text of a squash. commits has the first commit, or up to 250 if their
// messages are needed.
func squashDefault(i *issue.Issue, commits []*git.Commit, total int, set repo.Merging) (title, body string) {
	title = i.Title
	var own, rest string
	if total == 1 {
		own, rest, _ = strings.Cut(commits[0].Message, "\n")
	}
	switch {
	case set.Has(repo.SquashWithBody):
		body = textOf(i.Body)
	case set.Has(repo.SquashWithMessages) && total > 1:
		body = listMessages(commits)
	case set.Has(repo.SquashWithMessages), !set.Has(repo.SquashByPullTitle):
		body = rest
	}
	if total == 1 && !set.Has(repo.SquashByPullTitle) {
		title = own
	}
	return title, body
}

// listMessages lists commit messages in GitHub's format, up to maxMessage bytes.
func listMessages(commits []*git.Commit) string {
	var b strings.Builder
	for _, c := range commits {
		entry := "* " + strings.TrimSpace(c.Message) + "\n\n"
		if b.Len()+len(entry) > maxMessage {
			break
		}
		b.WriteString(entry)
	}
	return b.String()
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// join combines a title and a body into a commit message.
func join(title, body string) string {
	title = strings.Join(strings.FieldsFunc(title, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	body = strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
	if body == "" {
		return title + "\n"
	}
	return title + "\n\n" + body + "\n"
}

func (s *Service) account(ctx context.Context, id account.ID) (*account.Account, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*account.Account, error) { return account.ByID(tx, id) })
}
