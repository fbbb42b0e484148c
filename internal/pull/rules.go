package pull

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/rule"
)

// candidates returns the open pull requests of the page whose base has rules.
func (p *page) candidates() []rule.Candidate {
	var list []rule.Candidate
	for _, pull := range p.pulls {
		if pull.Open && p.bases[pull.RepoID].Ruled {
			list = append(list, pull.candidate())
		}
	}
	return list
}

func (p *Pull) candidate() rule.Candidate {
	c := rule.Candidate{Pull: int64(p.IssueID), Repo: p.RepoID, Base: p.BaseRef, Head: p.HeadSHA, Tip: p.BaseTip,
		Left: p.BaseSHA}
	if p.Tested() {
		c.Result = p.TestSHA
	}
	return c
}

// findBehind looks which heads lack commits of their base, where a rule forbids that.
func (p *page) findBehind(ctx context.Context, repos *repo.Service) error {
	for _, pull := range p.pulls {
		if o := p.outlooks[int64(pull.IssueID)]; o == nil || !o.UpToDate || pull.BaseTip == "" {
			continue
		}
		behind, err := pull.isBehind(ctx, repos, p.bases[pull.RepoID])
		if err != nil {
			return err
		}
		if p.behind == nil {
			p.behind = map[issue.ID]bool{}
		}
		p.behind[pull.IssueID] = behind
	}
	return nil
}

// isBehind reports whether the head lacks commits of the base.
func (p *Pull) isBehind(ctx context.Context, repos *repo.Service, a *repo.Access) (bool, error) {
	objects, release, err := repos.Git(ctx, a)
	if err != nil {
		return false, err
	}
	defer release()
	has, err := objects.IsAncestor(ctx, p.BaseTip, p.HeadSHA)
	return !has, err
}

// askGit adds to outlooks what only Git tells: which code owners have to review, and which commits are not signed.
func (s *Service) askGit(ctx context.Context, list []rule.Candidate, found map[int64]*rule.Outlook) error {
	if err := rule.AskOwners(ctx, s.db, s.repos, list, found); err != nil {
		return err
	}
	return rule.AskSignatures(ctx, s.repos, s.signatures, list, found)
}

// rules returns what the rules of the base ask of an open pull request, and what people should know about them.
func (s *Service) rules(
	ctx context.Context, a *repo.Access, p *Pull, behind bool,
) (missing []string, note string, err error) {
	if !a.Ruled {
		return nil, "", nil
	}
	list := []rule.Candidate{p.candidate()}
	found, err := db.Get(ctx, s.db, func(tx *db.Tx) (map[int64]*rule.Outlook, error) {
		return rule.Outlooks(tx, list)
	})
	if err == nil {
		err = s.askGit(ctx, list, found)
	}
	o := found[int64(p.IssueID)]
	if err != nil || o == nil {
		return nil, "", err
	}
	if missing = o.Missing; o.UpToDate && behind {
		missing = append(missing, "The head branch is not up to date with the base branch.")
	}
	return missing, o.Note, nil
}
