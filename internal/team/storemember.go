package team

import (
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// arg is a placeholder.
func arg(n int) string { return "$" + strconv.Itoa(n) }

// roleIn returns the stored role of a person in a team, or Outside.
func roleIn(tx *db.Tx, id ID, user account.ID) (role Role, err error) {
	err = tx.QueryRow(`SELECT COALESCE(max(role), 0) FROM team_members WHERE team_id = $1 AND user_id = $2`,
		id, user).
		Scan(&role)
	return role, err
}

// putMember adds a person to a team, or changes the role.
func putMember(tx *db.Tx, id ID, user account.ID, role Role) error {
	return tx.Run(`INSERT INTO team_members (team_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (team_id, user_id) DO UPDATE SET role = excluded.role`, id, user, int64(role), tx.Now)
}

// settle makes the rows of role Below of a team, and of all teams above it, what the teams below have. user 0 means
// everybody. The depth of teams bounds the statements.
func settle(tx *db.Tx, id ID, user account.ID) error {
	list, err := above(tx, id)
	if err != nil {
		return err
	}
	only := ""
	if user != 0 {
		only = ` AND m.user_id = ` + user.String()
	}
	for _, id := range list {
		const children = ` FROM teams c JOIN team_members m ON m.team_id = c.id WHERE c.parent_id = $1`
		if err := tx.Run(`DELETE FROM team_members AS m WHERE m.team_id = $1 AND m.role = 1`+only+`
			AND NOT EXISTS (SELECT 1 FROM teams c JOIN team_members x ON x.team_id = c.id
				WHERE c.parent_id = $1 AND x.user_id = m.user_id)`, id); err != nil {
			return err
		}
		if err := tx.Run(`INSERT INTO team_members (team_id, user_id, role, created_at)
			SELECT DISTINCT CAST($1 AS BIGINT), m.user_id, 1, CAST($2 AS BIGINT)`+children+only+`
			ON CONFLICT (team_id, user_id) DO NOTHING`, id, tx.Now); err != nil {
			return err
		}
	}
	return nil
}

// Person is a person in a team.
type Person struct {
	*account.Account
	Role Role // owners of the organization are maintainers
}

// listMembers reads a page of the people of each team, with three statements at most.
func listMembers(tx *db.Tx, of []ID, c MemberChoice, page web.Page) (map[ID]*web.List[Person], error) {
	wanted := map[string]string{"member": ` AND m.role < 3`, "maintainer": ` AND m.role = 3`}[c.Wanted]
	if c.Direct {
		wanted += ` AND m.role > 1`
	}
	if c.Below {
		wanted += ` AND m.role = 1`
	}
	var args []any
	if c.Text != "" {
		wanted += ` AND m.user_id IN (SELECT a.id FROM accounts a WHERE a.login_folded LIKE $1 ESCAPE '!')`
		args = append(args, containing(c.Text))
	}
	l := db.Lists[ID]{Columns: `m.user_id, m.role`, Order: c.order(), From: func(_ ID, param string) string {
		return `FROM (SELECT t.user_id, t.created_at, CASE WHEN t.role = 2 AND EXISTS (
			SELECT 1 FROM teams x JOIN members o ON o.org_id = x.org_id AND o.user_id = t.user_id AND o.owner = TRUE
			WHERE x.id = t.team_id) THEN 3 ELSE t.role END AS role
			FROM team_members t WHERE t.team_id = ` + param + `) m WHERE TRUE` + wanted
	}}
	found, err := db.PageOfEach[ID, account.ID](tx, of, l, page.Offset(), page.Size, args...)
	if err != nil {
		return nil, err
	}
	people, err := account.ByIDs(tx, db.ListedIDs(found))
	return web.ListOfEach(page, found, func(r db.ListRow[account.ID]) (Person, bool) {
		return Person{people[r.ID], Role(r.Number)}, true
	}), err
}
