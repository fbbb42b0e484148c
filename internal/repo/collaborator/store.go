package collaborator

import (
	"errors"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// insiders selects the users with a role on the repository without a grant: its
// owner, or of an organization the owners and, when its default permission is
// above none, all members.
func insiders(r *repo.Repo, at place) string {
	switch {
	case r.Owner.Kind == account.User:
		return `SELECT id AS user_id, TRUE AS owner FROM accounts WHERE id = ` + at.owner
	case r.Owner.DefaultRole > account.None:
		return `SELECT user_id, owner FROM members WHERE org_id = ` + at.owner
	default:
		return `SELECT user_id, owner FROM members WHERE org_id = ` + at.owner + ` AND owner = TRUE`
	}
}

// collaborators selects the insiders with the best role that they were granted as well, and
// all others who were granted a role, also through teams. Nobody is in both
// parts, so that a page takes no more of each than it shows.
func collaborators(r *repo.Repo, at place) string {
	return `SELECT i.user_id, i.owner, ` + repo.GrantedRole(at.repo, "i.user_id") + ` AS role
		FROM (` + insiders(r, at) + `) i
		UNION ALL SELECT g.user_id, NULL, ` + repo.GrantedRole(at.repo, "g.user_id") + `
		FROM (` + repo.GrantedPeople(at.repo) + `) g
		WHERE NOT EXISTS (SELECT 1 FROM (` + insiders(r, at) + `) i WHERE i.user_id = g.user_id)`
}

// Choice is which collaborators a list shows; the zero value: all.
type Choice struct {
	Affiliation string       // "outside", "direct"; anything else is all
	AtLeast     account.Role // that they have
}

// clause is the choice as a condition on what collaborators selects; "" for all.
func (c Choice) clause(r *repo.Repo, at place) string {
	var conditions []string
	switch c.Affiliation {
	case "direct": // whom somebody named, and the user whose repository it is
		conditions = append(conditions, `(user_id = `+at.owner+` OR EXISTS (SELECT 1 FROM collaborators d
			WHERE d.repo_id = `+at.repo+` AND d.user_id = people.user_id))`)
	case "outside":
		conditions = append(conditions, `user_id <> `+at.owner+` AND NOT EXISTS (SELECT 1 FROM members m
			WHERE m.org_id = `+at.owner+` AND m.user_id = people.user_id)`)
	}
	switch least := strconv.Itoa(int(c.AtLeast)); {
	case c.AtLeast == account.None, c.AtLeast == account.Pull && !r.Private:
	case c.AtLeast <= r.Owner.DefaultRole:
		conditions = append(conditions, `(owner IS NOT NULL OR role >= `+least+` OR `+siteAdmin+`)`)
	default:
		conditions = append(conditions, `(owner = TRUE OR role >= `+least+` OR `+siteAdmin+`)`)
	}
	if conditions == nil {
		return ""
	}
	return ` WHERE ` + strings.Join(conditions, ` AND `)
}

const siteAdmin = `EXISTS (SELECT 1 FROM accounts a WHERE a.id = people.user_id AND a.site_admin = TRUE)`

// isCollaborator returns 404 unless the user is among the collaborators.
func isCollaborator(tx *db.Tx, r *repo.Repo, userID account.ID) error {
	var p params
	people := collaborators(r, p.place(r))
	var id account.ID
	err := tx.QueryRow(`SELECT user_id FROM (`+people+`) people WHERE user_id = `+p.add(userID), p...).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		return errs.Absent()
	}
	return err
}

// from returns the source of the chosen collaborators.
func (c Choice) from(a *repo.Access, p *params) string {
	at := p.place(a.Repo)
	people := collaborators(a.Repo, at)
	if where := c.clause(a.Repo, at); where != "" {
		return `SELECT user_id, owner, role FROM (` + people + `) people` + where
	}
	return people
}

// roleOf is the role of a user on a repository as it is stored.
type roleOf struct {
	user  account.ID
	roles repo.Roles
}

// listCollaborators reads a page of the chosen collaborators of each repository by id, each with the
// role that its requests have, and how many there are.
func listCollaborators(
	tx *db.Tx, repos []*repo.Access, c Choice, page web.Page,
) (map[repo.ID]*web.List[Collaborator], error) {
	places, rows, ids := make([][]roleOf, len(repos)), make([]int, len(repos)), []account.ID{}
	err := eachPage(tx, repos, page, `user_id, owner, role`, c.from, func(row db.Scanner) error {
		var n int
		var p roleOf
		err := row.Scan(&n, &p.user, &p.roles.Owner, &p.roles.Granted)
		places[n], ids, rows[n] = append(places[n], p), append(ids, p.user), rows[n]+1
		return err
	})
	if err != nil {
		return nil, err
	}
	total, err := totals(tx, repos, page, rows, c.from)
	if err != nil {
		return nil, err
	}
	accounts, err := account.ByIDs(tx, ids)
	if err != nil {
		return nil, err
	}
	out := map[repo.ID]*web.List[Collaborator]{}
	for n, a := range repos {
		l := &web.List[Collaborator]{Total: total[n], More: page.Number*page.Size < total[n]}
		for _, p := range places[n] {
			who := accounts[p.user]
			l.Rows = append(l.Rows, Collaborator{who, p.roles.Role(asCaller(who), a.Repo)})
		}
		out[a.ID] = l
	}
	return out, nil
}
