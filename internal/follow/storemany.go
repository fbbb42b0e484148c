package follow

import (
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// columns returns the columns of followers with the account of a side's list, and with those who are listed.
func (side Side) columns() (of, listed string) {
	if side == Following {
		return "user_id", "target_id"
	}
	return "target_id", "user_id"
}

// person is the condition that a row f lists a person. Only people follow.
func (side Side) person() string {
	if side == Followers {
		return `TRUE`
	}
	return fmt.Sprintf(`EXISTS (SELECT 1 FROM accounts a WHERE a.id = f.target_id AND a.kind = %d)`, account.User)
}

// countPeople counts the people on one side of each account. Followers have a counter.
func countPeople(tx *db.Tx, of []account.ID, side Side) (map[account.ID]int64, error) {
	query := `SELECT id, followers FROM accounts WHERE id IN ` + db.Values(1, len(of))
	if side == Following {
		query = `SELECT f.user_id, count(*) FROM followers f WHERE f.user_id IN ` + db.Values(1, len(of)) +
			` AND ` + side.person() + ` GROUP BY f.user_id`
	}
	return db.QueryMap[account.ID, int64](tx, query, db.Args(of)...)
}

// pair is a person on one side of an account.
type pair struct{ of, person account.ID }

// peopleOf reads a page of the people on one side of each account.
func peopleOf(tx *db.Tx, of []account.ID, side Side, p web.Page) ([]pair, error) {
	column, listed := side.columns()
	parts := make([]string, len(of))
	for n := range of {
		parts[n] = fmt.Sprintf(`SELECT * FROM (SELECT f.%[1]s AS of_id, f.%[2]s AS person, f.created_at FROM followers f
			WHERE f.%[1]s = $%[3]d AND %[4]s ORDER BY f.created_at, f.%[2]s LIMIT $1 OFFSET $2) p%[3]d`,
			column, listed, n+3, side.person())
	}
	return db.QueryList(tx, func(row db.Scanner) (one pair, err error) {
		err = row.Scan(&one.of, &one.person)
		return one, err
	}, `SELECT of_id, person FROM (`+strings.Join(parts, ` UNION ALL `)+`) p ORDER BY created_at, person`,
		db.Args(of, p.Size, p.Offset())...)
}

// between calls each with those of the accounts that a user follows, and with those that follow the user.
func between(tx *db.Tx, user account.ID, with []account.ID, each func(side Side, id account.ID)) error {
	in := db.ValuesFrom(2, 1, len(with))
	return db.QueryEach(tx, func(row db.Scanner) error {
		var following bool
		var id account.ID
		err := row.Scan(&following, &id)
		each(Side(following), id)
		return err
	}, `SELECT TRUE, target_id FROM followers WHERE user_id = $1 AND target_id IN `+in+`
		UNION ALL SELECT FALSE, user_id FROM followers WHERE target_id = $1 AND user_id IN `+in, db.Args(with, user)...)
}
