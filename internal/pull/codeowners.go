package pull

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/codeowner"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// Reviews of code owners are requested when a pull request opens, becomes ready for review, or gets another head or
// base. Git finds the owners outside of transactions: with the test merge, which a new head or base needs anyway.

// maxOwners is how many code owners are asked for a review of a pull request, as at GitHub.
const maxOwners = 100

// unasked reports whether the test merge to be made is the first of the head in this base.
func (p *Pull) unasked() bool { return p.TestedHead != p.HeadSHA || p.TestedBase == "" }

// codeOwners returns the code owners of what a pull request changes, as the file of its base names them.
func (s *Service) codeOwners(ctx context.Context, p *Pull) ([]string, error) {
	if !p.Open || p.BaseTip == "" {
		return nil, nil
	}
	objects, release, err := s.repos.GitOf(ctx, p.RepoID)
	if err != nil {
		return nil, err
	}
	defer release()
	common, err := objects.PullBase(ctx, p.BaseSHA, p.HeadSHA)
	if err != nil {
		return nil, err
	}
	return codeowner.Proposed(ctx, objects, p.BaseTip, common, p.HeadSHA)
}

// askOwners requests reviews of the owners who may push, but not of the author and of those who have reviewed the
// pull request. Drafts are not reviewed yet.
func askOwners(c *issue.Change, owners []string) error {
	if len(owners) == 0 || c.Issue.Draft || c.Issue.State != issue.Open {
		return nil
	}
	in := c.Repo.ID
	known, err := codeowner.Resolve(c.Tx, []repo.ID{in}, owners, nil)
	if err != nil {
		return err
	}
	asked, _, err := requestedOf(c.Tx, []issue.ID{c.Issue.ID})
	if err != nil {
		return err
	}
	done, err := reviewersOf(c.Tx, c.Issue.ID)
	if err != nil {
		return err
	}
	now := asked[c.Issue.ID]
	var fresh, again []account.ID
	for _, name := range owners {
		id := known.User(in, name)
		switch {
		case id == 0 || id == c.Issue.AuthorID || slices.Contains(fresh, id):
		case slices.Contains(now, id):
			again = append(again, id)
		case len(fresh)+len(again) < maxOwners && !slices.Contains(done, id):
			fresh = append(fresh, id)
		}
	}
	if err := setOwners(c.Tx, c.Issue.ID, again); err != nil {
		return err
	}
	return ask(c, fresh, true)
}
