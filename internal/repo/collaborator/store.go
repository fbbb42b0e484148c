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
// above none, all members. $2 is the repository's owner.
func insiders(r *repo.Repo) string {
	switch {
	case r.Owner.Kind == account.User:
		return `SELECT id AS user_id, TRUE AS owner FROM accounts WHERE id = $2`
	case r.Owner.DefaultRole > account.None:
		return `SELECT user_id, owner FROM members WHERE org_id = $2`
	default:
		return `SELECT user_id, owner FROM members WHERE org_id = $2 AND owner = TRUE`
	}
}

// collaborators selects the insiders with what they were granted besides, and
// all others who were granted a role. $1 is the repository. Nobody is in both
// parts, so that a page takes no more of each than it shows.
func collaborators(r *repo.Repo) string {
	return `SELECT i.user_id, i.owner, c.role FROM (` + insiders(r) + `) i
		LEFT JOIN collaborators c ON c.repo_id = $1 AND c.user_id = i.user_id
		UNION ALL SELECT user_id, NULL, role` + outsiders(r)
}

// outsiders is where the rest of the collaborators are.
func outsiders(r *repo.Repo) string {
	return ` FROM collaborators g WHERE repo_id = $1
		AND NOT EXISTS (SELECT 1 FROM (` + insiders(r) + `) i WHERE i.user_id = g.user_id)`
}

// Choice is which collaborators a list shows; the zero value: all.
type Choice struct {
	Affiliation string       // "outside", "direct"; anything else is all
	AtLeast     account.Role // that they have
}

// clause is the choice as a condition on what collaborators selects; "" for all.
func (c Choice) clause(r *repo.Repo) string {
	var conditions []string
	switch c.Affiliation {
	case "direct": // whom somebody named, and the user whose repository it is
		conditions = append(conditions, `(role IS NOT NULL OR user_id = $2)`)
	case "outside":
		conditions = append(conditions,
			`user_id <> $2 AND NOT EXISTS (SELECT 1 FROM members m WHERE m.org_id = $2 AND m.user_id = people.user_id)`)
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
	var id account.ID
	err := tx.QueryRow(`SELECT user_id FROM (`+collaborators(r)+`) people WHERE user_id = $3`,
		r.ID, r.OwnerID, userID).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		return errs.Absent()
	}
	return err
}

// listCollaborators reads a page of the chosen collaborators by id, each with the
// role that its requests have, and how many there are.
func listCollaborators(tx *db.Tx, r *repo.Repo, c Choice, page web.Page) ([]Collaborator, int64, error) {
	from, where := collaborators(r), c.clause(r)
	if where != "" {
		from = `SELECT user_id, owner, role FROM (` + from + `) people` + where
	}
	people, err := collaboratorPage(tx, r, from, page)
	if err != nil {
		return nil, 0, err
	}
	if n := int64(len(people)); n < page.Size && (n > 0 || page.Number == 1) {
		return people, page.Offset() + n, nil
	}
	var total int64
	if where != "" {
		err = tx.QueryRow(`SELECT count(*) FROM (`+from+`) chosen`, r.ID, r.OwnerID).Scan(&total)
		return people, total, err
	}
	err = tx.QueryRow(`SELECT (SELECT count(*) FROM (`+insiders(r)+`) i) + (SELECT count(*)`+outsiders(r)+`)`,
		r.ID, r.OwnerID).Scan(&total)
	return people, total, err
}

func collaboratorPage(tx *db.Tx, r *repo.Repo, from string, page web.Page) ([]Collaborator, error) {
	var places []repo.Roles
	var ids []account.ID
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var id account.ID
		var p repo.Roles
		if err := row.Scan(&id, &p.Owner, &p.Granted); err != nil {
			return err
		}
		ids, places = append(ids, id), append(places, p)
		return nil
	}, from+` ORDER BY user_id LIMIT $3 OFFSET $4`, r.ID, r.OwnerID, page.Size, page.Offset())
	if err != nil {
		return nil, err
	}
	accounts, err := account.ByIDs(tx, ids)
	if err != nil {
		return nil, err
	}
	people := make([]Collaborator, len(ids))
	for i, id := range ids {
		people[i] = Collaborator{accounts[id], places[i].Role(asCaller(accounts[id]), r)}
	}
	return people, nil
}
