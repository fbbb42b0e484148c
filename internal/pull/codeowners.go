package pull

import (
	"context"
	"slices"

	"arbor/internal/account"
	"arbor/internal/codeowner"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/team"
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

// askOwners requests reviews of the owners who may push and of teams that may, but not of the author, of those who have
// reviewed the pull request and of their teams. Drafts are not reviewed yet.
func askOwners(c *issue.Change, owners []string) error {
	if len(owners) == 0 || c.Issue.Draft || c.Issue.State != issue.Open {
		return nil
	}
	in := c.Repo.ID
	done, err := reviewersOf(c.Tx, c.Issue.ID)
	if err != nil {
		return err
	}
	known, err := codeowner.Resolve(c.Tx, []repo.ID{in}, owners, done)
	if err != nil {
		return err
	}
	asked, _, err := requestedOf(c.Tx, []issue.ID{c.Issue.ID})
	if err != nil {
		return err
	}
	now := asked[c.Issue.ID]
	var fresh, again []account.ID
	var teams []team.ID
	for _, name := range owners {
		id, group := known.User(in, name), known.Team(in, name)
		switch {
		case group != 0:
			if len(fresh)+len(again)+len(teams) < maxOwners && !known.Is(in, name, done) {
				teams = append(teams, group)
			}
		case id == 0 || id == c.Issue.AuthorID || slices.Contains(fresh, id):
		case slices.Contains(now, id):
			again = append(again, id)
		case len(fresh)+len(again)+len(teams) < maxOwners && !known.Is(in, name, done):
			fresh = append(fresh, id)
		}
	}
	if err := setOwners(c.Tx, c.Issue.ID, again); err != nil {
		return err
	}
	if err := askOwningTeams(c, teams); err != nil {
		return err
	}
	return ask(c, fresh, true)
}

// askOwningTeams requests reviews of teams, and notes which are asked already that they are code owners.
func askOwningTeams(c *issue.Change, teams []team.ID) error {
	if len(teams) == 0 {
		return nil
	}
	asked, err := requestedTeamsOf(c.Tx, []issue.ID{c.Issue.ID})
	if err != nil {
		return err
	}
	var fresh []team.ID
	for _, id := range db.Unique(teams) {
		at := slices.IndexFunc(asked[c.Issue.ID], func(t askedTeam) bool { return t.ID == id })
		switch {
		case at < 0:
			fresh = append(fresh, id)
		case !asked[c.Issue.ID][at].owner:
			if err := insertTeamRequest(c.Tx, c.Issue.ID, id, true); err != nil {
				return err
			}
		}
	}
	return askTeams(c, fresh, true)
}
