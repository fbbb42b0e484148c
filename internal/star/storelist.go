package star

import (
	"errors"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// mark is a row of a list: an account or a repository, and when it was marked.
type mark[ID ~int64] struct {
	id ID
	at db.Time
}

func ids[ID ~int64](marks []mark[ID]) []ID {
	list := make([]ID, len(marks))
	for n, m := range marks {
		list[n] = m.id
	}
	return list
}

func queryMarks[ID ~int64](tx *db.Tx, query string, args ...any) ([]mark[ID], error) {
	return db.QueryList(tx, func(row db.Scanner) (m mark[ID], err error) {
		err = row.Scan(&m.id, &m.at)
		return m, err
	}, query, args...)
}

// countPeople returns how many users marked a repository. Error: 404 if it was deleted.
func countPeople(tx *db.Tx, k Kind, repoID repo.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT `+k.column()+` FROM repos WHERE id = $1`, repoID).Scan(&n)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return n, err
}

func peopleOf(tx *db.Tx, k Kind, repoID repo.ID, page web.Page) ([]mark[account.ID], error) {
	return queryMarks[account.ID](tx, `SELECT user_id, created_at FROM `+k.table()+` WHERE repo_id = $1
		ORDER BY created_at, user_id LIMIT $2 OFFSET $3`, repoID, page.Size, page.Offset())
}

// filter selects among a user's marks. Its condition is on the mark s; its arguments come first, followed
// by the user.
type filter struct {
	kind      Kind
	condition string
	args      []any
}

// choose returns the filter for the user's marks that the caller may see, and
// their number. Only marks of private repositories are ever looked
// at one by one, and that only where there are some.
func choose(tx *db.Tx, k Kind, userID account.ID, caller *account.Caller) (filter, int64, error) {
	f := filter{kind: k, condition: `s.user_id = $1`, args: []any{userID}}
	var n numbers
	err := tx.QueryRow(`SELECT public, private FROM mark_counts WHERE user_id = $1 AND kind = $2`,
		userID, int64(k)).
		Scan(&n.public, &n.private)
	if errors.Is(err, db.ErrNoRows) {
		return f, 0, nil
	}
	if err != nil || n.private == 0 {
		return f, n.public, err
	}
	seen := int64(0)
	may := `EXISTS (SELECT 1` + repo.FromVisible(`s.repo_id`, caller) + `)`
	if caller != nil {
		if err := tx.QueryRow(`SELECT count(*) FROM `+k.table()+
			` s WHERE s.user_id = $2 AND s.private = TRUE AND `+may,
			caller.ID, userID).Scan(&seen); err != nil {
			return f, 0, err
		}
	}
	switch seen {
	case n.private:
	case 0:
		f.condition += ` AND NOT s.private`
	default:
		f.condition = `s.user_id = $2 AND (NOT s.private OR ` + may + `)`
		f.args = []any{account.IDOf(caller), userID}
	}
	return f, n.public + seen, nil
}

// page reads a page of the marks; total is how many there are.
func (f *filter) page(tx *db.Tx, o Order, total int64, page web.Page) ([]mark[repo.ID], error) {
	direction := `ASC`
	if o.Desc {
		direction = `DESC`
	}
	from, by := f.kind.table()+` s`, `s.created_at %[1]s, s.repo_id %[1]s`
	condition := f.condition
	if o.Pushed {
		// SQLite takes the tables of a CROSS JOIN in their order.
		from, by = from+` CROSS JOIN repos p`, `p.pushed_at %[1]s, p.id %[1]s`
		condition += ` AND s.repo_id = p.id`
		walk, err := worthWalking(tx, total, page)
		if err != nil {
			return nil, err
		}
		if walk {
			from = `repos p CROSS JOIN ` + f.kind.table() + ` s`
		}
	}
	n := len(f.args)
	return queryMarks[repo.ID](tx, fmt.Sprintf(
		`SELECT s.repo_id, s.created_at FROM `+from+` WHERE `+condition+` ORDER BY `+by+
			` LIMIT $%[2]d OFFSET $%[3]d`, direction, n+1, n+2), append(f.args[:n:n], page.Size,
		page.Offset())...)
}

// worthWalking reports that going through all repositories by their last push,
// until so many marked ones were met as the page needs, is less work than
// sorting everything that was marked.
func worthWalking(tx *db.Tx, marked int64, page web.Page) (bool, error) {
	var repos int64
	err := tx.QueryRow(`SELECT COALESCE(max(id), 0) FROM repos`).Scan(&repos)
	steps := float64(page.Offset()+page.Size) * float64(repos) / float64(max(marked, 1))
	return steps < 2*float64(marked), err
}
