package invitation

import (
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// choice selects invitations i: joins and a condition, with their arguments.
type choice struct {
	rest string
	args []any
}

// from are invitations with the addresses of those that were mailed to one; goesOn holds for those that nobody ended.
const (
	from   = ` FROM invitations i LEFT JOIN invited_addresses ia ON ia.invitation_id = i.id`
	goesOn = `(i.ended_at IS NULL OR ia.invitation_id IS NOT NULL)`
)

// open selects those of the invitations that can be accepted.
func open(tx *db.Tx, rest string, args ...any) choice {
	return choice{fmt.Sprintf(`%s AND `+goesOn+` AND i.created_at > $%d`, rest, len(args)+1),
		append(args, tx.Now-micros(Lifetime))}
}

// expired selects those of the invitations that nobody answered in time.
func expired(tx *db.Tx, rest string, args ...any) choice {
	return choice{fmt.Sprintf(`%s AND `+goesOn+` AND i.created_at <= $%d`, rest, len(args)+1),
		append(args, tx.Now-micros(Lifetime))}
}

// toRepos selects the invitations of $1 to repositories, except those of suspended people and those whose
// repository nobody can see.
var toRepos = ` JOIN accounts w ON w.id = i.inviter_id AND w.suspended_at IS NULL
	JOIN repos r ON r.id = i.repo_id AND ` + repo.NotDeleted("r") + ` AND ` + repo.NotWithdrawn("r") + `
	WHERE i.invitee_id = $1`

// read reads the chosen invitations.
func (c choice) read(tx *db.Tx, order string) ([]*Invitation, error) {
	list, err := db.QueryList(tx, func(row db.Scanner) (*Invitation, error) {
		var i Invitation
		var role int64
		err := row.Scan(&i.ID, &i.repoID, &i.orgID, &i.inviteeID, &i.inviterID, &role, &i.Owner, &i.CreatedAt,
			&i.Address)
		if i.Role = account.Role(role); i.Address != "" {
			i.inviteeID = 0 // the row has the organization
		}
		return &i, err
	}, `SELECT i.id, COALESCE(i.repo_id, 0), COALESCE(i.org_id, 0), i.invitee_id, i.inviter_id, i.role,
		i.owner, i.created_at, COALESCE(ia.address, '')`+from+c.rest+order, c.args...)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list, load(tx, list)
}

// page reads a page of the chosen invitations, the oldest first, and how many there are.
func (c choice) page(tx *db.Tx, p web.Page) (list []*Invitation, total int64, err error) {
	list, err = c.read(tx, fmt.Sprintf(` ORDER BY i.id LIMIT %d OFFSET %d`, p.Size, p.Offset()))
	if err != nil {
		return nil, 0, err
	}
	total, known := p.Total(len(list))
	if !known {
		err = tx.QueryRow(`SELECT count(*)`+from+c.rest, c.args...).Scan(&total)
	}
	return list, total, err
}

// one reads the chosen invitation. Error: 404.
func (c choice) one(tx *db.Tx) (*Invitation, error) {
	list, err := c.read(tx, ` LIMIT 1`)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errs.Absent()
	}
	return list[0], nil
}

// load reads what invitations name: a query for the accounts, and one for the repositories.
func load(tx *db.Tx, list []*Invitation) error {
	var people []account.ID
	var repos []repo.ID
	for _, i := range list {
		people = append(people, i.orgID, i.inviteeID, i.inviterID)
		if i.repoID != 0 {
			repos = append(repos, i.repoID)
		}
	}
	accounts, err := account.ByIDs(tx, people)
	if err != nil {
		return err
	}
	found, err := repo.Accesses(tx, nil, db.Unique(repos))
	if err != nil {
		return err
	}
	in := repo.InList(found)
	for _, i := range list {
		i.Invitee, i.Inviter = accounts[i.inviteeID], accounts[i.inviterID]
		i.Org, i.Repo = accounts[i.orgID], in[i.repoID]
	}
	return countTeams(tx, list)
}

// place returns the column and the id of what the invitation is to.
func (i *Invitation) place() (column string, id int64) {
	if i.orgID != 0 {
		return "org_id", int64(i.orgID)
	}
	return "repo_id", int64(i.repoID)
}

// add stores an invitation and loads what it names. It ends an expired one of the same person, and deletes old ones.
// Error: 422 for too many within a day.
func add(tx *db.Tx, i *Invitation) error {
	column, place := i.place()
	if err := checkLimits(tx, column, place, i.inviterID); err != nil {
		return err
	}
	if err := deleteOld(tx); err != nil {
		return err
	}
	if err := endWhere(tx, column+` = $1 AND invitee_id = $2`, place, i.inviteeID); err != nil {
		return err
	}
	i.CreatedAt = tx.Now
	err := tx.QueryRow(`INSERT INTO invitations (`+column+`, invitee_id, inviter_id, role, owner, created_at)
		VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`,
		place, i.inviteeID, i.inviterID, int64(i.Role), i.Owner, tx.Now).Scan(&i.ID)
	if err != nil {
		return err
	}
	return load(tx, []*Invitation{i})
}

// addAddress stores an invitation to an organization for who has an address, and loads what it names. Error: 422 for too
// many within a day.
func addAddress(tx *db.Tx, i *Invitation) error {
	if err := checkLimits(tx, "org_id", int64(i.orgID), i.inviterID); err != nil {
		return err
	}
	if err := deleteOld(tx); err != nil {
		return err
	}
	i.CreatedAt = tx.Now
	err := tx.QueryRow(`INSERT INTO invitations (org_id, invitee_id, inviter_id, role, owner, created_at, ended_at)
		VALUES ($1, $1, $2, 0, $3, $4, $4) RETURNING id`, i.orgID, i.inviterID, i.Owner, tx.Now).Scan(&i.ID)
	if err != nil {
		return err
	}
	if err := tx.Run(`INSERT INTO invited_addresses (invitation_id, address) VALUES ($1, $2)`, i.ID, i.Address); err != nil {
		return err
	}
	return load(tx, []*Invitation{i})
}

// setDigest gives an invitation to an address the secret of a mail. The one before stays: it may have been sent twice.
func setDigest(tx *db.Tx, id ID, digest []byte) error {
	return tx.Run(`UPDATE invited_addresses SET digest_before = digest, digest = $2 WHERE invitation_id = $1`, id, digest)
}

// endInOrg is endWhere for invitations to organizations, also to addresses.
func endInOrg(tx *db.Tx, condition string, args ...any) error {
	err := tx.Run(`DELETE FROM invited_addresses WHERE invitation_id IN (SELECT id FROM invitations WHERE `+
		condition+`)`, args...)
	if err != nil {
		return err
	}
	return endWhere(tx, condition, args...)
}

func setRole(tx *db.Tx, id ID, role account.Role) error {
	return tx.Run(`UPDATE invitations SET role = $2 WHERE id = $1`, id, int64(role))
}

func setOwner(tx *db.Tx, id ID, owner bool) error {
	return tx.Run(`UPDATE invitations SET owner = $2 WHERE id = $1`, id, owner)
}

// endWhere ends the invitations of a condition.
func endWhere(tx *db.Tx, condition string, args ...any) error {
	return tx.Run(fmt.Sprintf(`UPDATE invitations SET ended_at = $%d WHERE %s AND ended_at IS NULL`,
		len(args)+1, condition), append(args, tx.Now)...)
}

// checkLimits returns 422 if too many were invited to a place, or by the account, within a day.
func checkLimits(tx *db.Tx, column string, place int64, by account.ID) error {
	var ofPlace, ofOne int64
	since := tx.Now - micros(day)
	err := tx.QueryRow(`SELECT (SELECT count(*) FROM invitations WHERE `+column+` = $1 AND created_at > $3),
		(SELECT count(*) FROM invitations WHERE inviter_id = $2 AND created_at > $3)`, place, by, since).
		Scan(&ofPlace, &ofOne)
	switch {
	case err != nil:
		return err
	case ofPlace >= maxOfPlace:
		return errs.Newf(errs.Invalid, "At most %d people can be invited here within a day.", maxOfPlace)
	case ofOne >= maxOfOne:
		return errs.Newf(errs.Invalid, "You can invite at most %d people within a day.", maxOfOne)
	}
	return nil
}

// How invitations are deleted: some of those that ended or expired long ago.
const (
	kept   = Lifetime + 30*day
	atOnce = 100
)

func deleteOld(tx *db.Tx) error {
	return tx.Run(fmt.Sprintf(`DELETE FROM invitations WHERE id IN (SELECT id FROM invitations
		WHERE created_at < $1 ORDER BY created_at LIMIT %d)`, atOnce), tx.Now-micros(kept))
}

// invitedToEach reads a page of the invitees of the open invitations to each organization, without those to addresses.
func invitedToEach(tx *db.Tx, orgs []account.ID, p web.Page) (map[account.ID]*db.ListPage[account.ID], error) {
	return db.PageOfEach[account.ID, account.ID](tx, orgs, db.Lists[account.ID]{Columns: `i.invitee_id, 0`, Order: `i.id`,
		From: func(_ account.ID, param string) string {
			return from + open(tx, ` WHERE ia.invitation_id IS NULL AND i.org_id = `+param).rest
		}}, p.Offset(), p.Size, open(tx, ``).args...)
}

// toTeams reads a page of the open invitations that name each team.
func toTeams(tx *db.Tx, teams []team.ID, p web.Page) (map[team.ID]*db.ListPage[ID], error) {
	return db.PageOfEach[team.ID, ID](tx, teams, db.Lists[team.ID]{Columns: `i.id, 0`, Order: `i.id`,
		From: func(_ team.ID, param string) string {
			return from + open(tx, ` JOIN invited_teams it ON it.invitation_id = i.id
				WHERE it.team_id = `+param).rest
		}}, p.Offset(), p.Size, open(tx, ``).args...)
}

// byIDs reads invitations.
func byIDs(tx *db.Tx, ids []ID) (map[ID]*Invitation, error) {
	found := map[ID]*Invitation{}
	return found, db.InParts(ids, func(part []ID) error {
		list, err := choice{` WHERE i.id IN ` + db.Values(1, len(part)), db.Args(part)}.read(tx, ``)
		for _, i := range list {
			found[i.ID] = i
		}
		return err
	})
}
