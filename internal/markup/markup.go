// Package markup renders what clients send, and tells which emojis have names.
//
//	POST /markdown, /markdown/raw     api.go
//	GET /emojis, /emojis/{picture}    emoji.go
//
// A text is rendered as those of issues are, by package issue/text: a link leads only where
// the caller may go (decision 13). Nothing is stored.
package markup

import (
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue/text"
	"arbor/internal/repo"
)

// Service renders texts. Safe for concurrent use.
type Service struct {
	repos *repo.Service
	texts *text.Renderer
}

// New returns a Service.
func New(repos *repo.Service, texts *text.Renderer) *Service { return &Service{repos, texts} }

// HTML renders Markdown for the caller. With links, people, issues and commits that it names
// become links; near is the OWNER/NAME of the repository to which #7 leads, or empty. One that
// the caller does not see counts as none.
func (s *Service) HTML(
	ctx context.Context, caller *account.Caller, source, near string, links bool,
) (string, error) {
	if !links {
		return s.texts.Plain(ctx, source)
	}
	a := &repo.Access{Repo: &repo.Repo{}, Caller: caller}
	if owner, name, ok := strings.Cut(near, "/"); ok {
		found, err := s.repos.Find(ctx, caller, owner, name)
		if err != nil && !errs.Is(err, errs.NotFound) {
			return "", err
		}
		if err == nil {
			a = &found.Access
		}
	}
	return s.texts.HTML(ctx, a, source)
}
