package pull

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// View is a pull request with what it refers to, as the caller of an access sees it: the value that pages for people
// show.
type View struct {
	*Pull
	Issue       *issue.View // without its HTML, see issue.Service.Render; GraphQL's have their texts
	MergedBy    *account.Account
	Head, Base  Side
	Reviewers   []*account.Account  // who are asked for a review
	Owners      map[account.ID]bool // those of them who are asked as code owners
	Teams       []*team.Team        // who are asked, too
	OwningTeams map[team.ID]bool    // those of them who are asked as code owners
	MergeState  string              // REST's mergeable_state; empty on pages
	Auto        *Auto               // nil: auto-merge is not enabled
}

// Side is the head or the base.
type Side struct {
	Owner *account.Account // nil: it is gone
	Repo  *repo.Access     // nil: it is gone, or the caller does not see it
	Ref   string           // a branch
	SHA   git.SHA
}

// Get reads a pull request with what it refers to. A test merge that is missing is made at once (decision 36).
// Error: 404.
func (s *Service) Get(ctx context.Context, a *repo.Access, number int64) (*View, error) {
	p, err := s.testedPage(ctx, a, number, viewed)
	if err != nil {
		return nil, err
	}
	return p.view(p.Issues()[0]), nil
}

// view returns a pull request of the page with what it refers to, after load.
func (p *page) view(i *issue.Issue) *View {
	pull, base := p.pulls[i.ID], p.bases[i.RepoID]
	v := &View{Pull: pull, Issue: p.View(i), MergedBy: p.Account(pull.MergedBy), Auto: p.auto(i.ID),
		Owners: map[account.ID]bool{}, OwningTeams: map[team.ID]bool{},
		Head: Side{p.Account(pull.HeadOwnerID), p.heads[pull.HeadRepoID], pull.HeadRef, pull.HeadSHA},
		Base: Side{p.Account(base.OwnerID), base, pull.BaseRef, pull.BaseSHA}}
	v.Teams = plain(p.teams[i.ID])
	for _, t := range p.teams[i.ID] {
		if t.owner {
			v.OwningTeams[t.ID] = true
		}
	}
	for _, id := range p.asked[i.ID] {
		v.Reviewers = append(v.Reviewers, p.Account(id))
		if p.owners[request{i.ID, id}] {
			v.Owners[id] = true
		}
	}
	return v
}

// shown is view for GraphQL, with the texts and what only a single pull request has.
func (p *page) shown(i *issue.Issue) (v *View, err error) {
	v = p.view(i)
	v.MergeState = p.mergeState(i, v.Pull)
	v.Issue.Texts, err = p.Body(i)
	return v, err
}

// Between finds the open pull request into the branch base from head, OWNER:BRANCH. Error: 404.
func (s *Service) Between(ctx context.Context, a *repo.Access, base, head string) (i *issue.Issue, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		c := choice{base: base, head: head, where: posting.And{posting.InState(issuekit.Open)}}
		list, _, err := s.list(tx, a, c, web.Page{Number: 1, Size: 1})
		switch {
		case err != nil:
			return err
		case len(list) == 0:
			return errs.Absent()
		}
		i = list[0]
		return nil
	})
	return i, err
}
