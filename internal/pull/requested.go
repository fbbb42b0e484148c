package pull

import (
	"context"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// MaxReviewers is the maximum number of review requests of a pull request by hand, as at GitHub.
const MaxReviewers = 15

// RequestReviews asks people to review a pull request, which subscribes them, and teams by their slugs, for its
// author and for people with the role triage. They must be able to see it. Errors: 403, 404, 422 for users who
// cannot, for the author and for too many; nobody is asked then.
func (s *Service) RequestReviews(
	ctx context.Context, a *repo.Access, number int64, logins []string, teams ...string,
) error {
	if err := checkLogins(logins, teams); err != nil {
		return err
	}
	_, err := s.issues.Change(ctx, a, number, func(c *issue.Change) error {
		if err := mayAsk(a, c.Issue); err != nil {
			return err
		}
		asked, owners, err := requestedOf(c.Tx, []issue.ID{c.Issue.ID})
		if err != nil {
			return err
		}
		now := asked[c.Issue.ID]
		fresh, err := reviewers(c, logins, now)
		if err != nil {
			return err
		}
		groups, have, err := teamReviewers(c, a, teams)
		if err != nil {
			return err
		}
		count := len(now) - len(owners) + have + len(fresh) + len(groups)
		if len(fresh)+len(groups) > 0 && count > MaxReviewers {
			return custom("reviewers", "reviewers are too many (maximum is 15)")
		}
		if err := ask(c, fresh, false); err != nil {
			return err
		}
		return askTeams(c, groups, false)
	})
	return err
}

// ask requests reviews of users who are not asked yet, by hand or as code owners.
func ask(c *issue.Change, users []account.ID, owners bool) error {
	if len(users) == 0 {
		return nil
	}
	for _, id := range users {
		c.Event(issue.EventReviewRequested, issue.Event{UserID: id})
	}
	c.Involve(users...)
	c.Touch()
	return insertRequests(c.Tx, c.Issue.ID, users, owners)
}

// askTeams requests reviews of teams that are not asked yet, by hand or as code owners.
func askTeams(c *issue.Change, teams []team.ID, owners bool) error {
	for _, id := range teams {
		c.Event(issue.EventReviewRequested, issue.Event{Detail: issue.Detail{Team: id}})
		c.Touch()
		if err := insertTeamRequest(c.Tx, c.Issue.ID, id, owners); err != nil {
			return err
		}
	}
	return nil
}

// teamReviewers finds the teams of the slugs that are not asked yet. have is how many are by hand. Error: 422.
func teamReviewers(c *issue.Change, a *repo.Access, slugs []string) (fresh []team.ID, have int, err error) {
	asked, err := requestedTeamsOf(c.Tx, []issue.ID{c.Issue.ID})
	if err != nil {
		return nil, 0, err
	}
	now := asked[c.Issue.ID]
	for _, t := range now {
		if !t.owner {
			have++
		}
	}
	found, err := team.Reviewers(c.Tx, a, slugs)
	if errs.Is(err, errs.NotFound) {
		return nil, 0, notCollaborator("team_reviewers", a.Repo)
	}
	for _, t := range found {
		isAsked := slices.ContainsFunc(now, func(o askedTeam) bool { return o.ID == t.ID })
		if !isAsked && !slices.Contains(fresh, t.ID) {
			fresh = append(fresh, t.ID)
		}
	}
	return fresh, have, err
}

// notCollaborator is GitHub's 422 for reviewers without access.
func notCollaborator(field string, r *repo.Repo) error {
	return custom(field,
		"Reviews may only be requested from collaborators. One or more of the users or teams you "+
			"specified is not a collaborator of the "+r.FullName()+" repository.")
}

// mayAsk returns an error unless the caller may change the requested reviewers. Errors: 403; 404 for an issue.
func mayAsk(a *repo.Access, i *issue.Issue) error {
	if !i.Pull {
		return errs.Absent()
	}
	return mayEdit(a, i, account.Triage)
}

// maxLogins bounds the logins of one request.
const maxLogins = 100

func checkLogins(logins, teams []string) error {
	f := web.Faults{Resource: Resource}
	f.CheckStrings("reviewers", logins, maxLogins, 0)
	f.CheckStrings("team_reviewers", teams, MaxReviewers, 0)
	return f.Err()
}

// reviewers finds the accounts of the logins that are not asked yet. Error: 422.
func reviewers(c *issue.Change, logins []string, asked []account.ID) ([]account.ID, error) {
	people, err := repo.PeopleNamed(c.Tx, c.Repo, logins)
	if err != nil {
		return nil, err
	}
	var fresh []account.ID
	for _, login := range logins {
		p := people[account.Fold(login)]
		switch {
		case p.ID == 0 || p.Kind != account.User || p.Role < account.Pull:
			return nil, notCollaborator("reviewers", c.Repo)
		case p.ID == c.Issue.AuthorID:
			return nil, custom("reviewers", "Review cannot be requested from pull request author.")
		case !slices.Contains(asked, p.ID) && !slices.Contains(fresh, p.ID):
			fresh = append(fresh, p.ID)
		}
	}
	return fresh, nil
}

// UnrequestReviews takes requests back, for the author and for people with the role triage; people who are not asked are
// ignored. Errors: 403, 404, 422 for too many.
func (s *Service) UnrequestReviews(
	ctx context.Context, a *repo.Access, number int64, logins []string, teams ...string,
) error {
	if err := checkLogins(logins, teams); err != nil {
		return err
	}
	_, err := s.issues.Change(ctx, a, number, func(c *issue.Change) error {
		if err := mayAsk(a, c.Issue); err != nil {
			return err
		}
		people, err := repo.PeopleNamed(c.Tx, c.Repo, logins)
		if err != nil {
			return err
		}
		ids := make([]account.ID, 0, len(people))
		for _, p := range people {
			ids = append(ids, p.ID)
		}
		slices.Sort(ids)
		gone, err := deleteRequests(c.Tx, c.Issue.ID, ids)
		if err != nil {
			return err
		}
		for _, id := range gone {
			c.Event(issue.EventRequestRemoved, issue.Event{UserID: id})
			c.Touch()
		}
		return unrequestTeams(c, a, teams)
	})
	return err
}

// unrequestTeams takes requests to teams back, for those who see them.
func unrequestTeams(c *issue.Change, a *repo.Access, slugs []string) error {
	if len(slugs) == 0 || !a.Insider() {
		return nil
	}
	asked, err := requestedTeamsOf(c.Tx, []issue.ID{c.Issue.ID})
	for _, t := range asked[c.Issue.ID] {
		if !slices.ContainsFunc(slugs, func(s string) bool { return strings.EqualFold(s, t.Slug) }) {
			continue
		}
		c.Event(issue.EventRequestRemoved, issue.Event{Detail: issue.Detail{Team: t.ID}})
		c.Touch()
		if err := deleteTeamRequest(c.Tx, c.Issue.ID, t.ID); err != nil {
			return err
		}
	}
	return err
}

// AskedTeams returns the teams whose review is requested, for members of their organization. Error: 404.
func (s *Service) AskedTeams(ctx context.Context, a *repo.Access, number int64) (teams []*team.Team,
	err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		p, err := byNumber(tx, a.ID, number)
		if err != nil || !a.Insider() {
			return err
		}
		asked, err := requestedTeamsOf(tx, []issue.ID{p.IssueID})
		teams = plain(asked[p.IssueID])
		return err
	})
	return teams, err
}

// AskedFor returns the users whose review is requested. Error: 404.
func (s *Service) AskedFor(
	ctx context.Context, a *repo.Access, number int64,
) (users []*account.Account, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		p, err := byNumber(tx, a.ID, number)
		if err != nil {
			return err
		}
		asked, _, err := requestedOf(tx, []issue.ID{p.IssueID})
		if err != nil {
			return err
		}
		people, err := account.ByIDs(tx, asked[p.IssueID])
		users = make([]*account.Account, 0, len(people))
		for _, id := range asked[p.IssueID] {
			users = append(users, people[id])
		}
		return err
	})
	return users, err
}

// reviewers returns all requested reviewers of the page.
func (p *page) reviewers() (ids []account.ID) {
	for _, users := range p.asked {
		ids = append(ids, users...)
	}
	return ids
}
