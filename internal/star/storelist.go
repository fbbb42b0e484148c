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

// filter selects among a user's marks those that the caller may see.
type filter struct {
	kind   Kind
	user   account.ID
	caller *account.Caller
	sees   sight
	total  int64 // how many they are
}

// sight is how much of a user's marks a caller may see.
type sight uint8

const (
	all sight = iota
	onlyPublic
	some // some of the marks of private repositories
)

// choose returns the filters for users' marks that the caller may see, with two statements. Only marks of private
// repositories are ever looked at one by one, and that only where there are some.
func choose(tx *db.Tx, k Kind, users []account.ID, caller *account.Caller) (map[account.ID]*filter, error) {
	found := map[account.ID]*filter{}
	for _, id := range users {
		found[id] = &filter{kind: k, user: id, caller: caller}
	}
	var hidden []account.ID // who marked private repositories
	private := map[account.ID]int64{}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var id account.ID
		var n numbers
		err := row.Scan(&id, &n.public, &n.private)
		if found[id].total = n.public; n.private > 0 {
			found[id].sees, private[id] = onlyPublic, n.private
			hidden = append(hidden, id)
		}
		return err
	}, `SELECT user_id, public, private FROM mark_counts WHERE kind = $1 AND user_id IN `+
		db.ValuesFrom(2, 1, len(users)), db.Args(users, int64(k))...)
	if err != nil || len(hidden) == 0 || caller == nil {
		return found, err
	}
	seen, err := db.QueryMap[account.ID, int64](tx, `SELECT s.user_id, count(*) FROM `+k.table()+
		` s WHERE s.private = TRUE AND EXISTS (SELECT 1`+repo.FromVisible(`s.repo_id`, caller)+`) AND s.user_id IN `+
		db.ValuesFrom(2, 1, len(hidden))+` GROUP BY s.user_id`, db.Args(hidden, caller.ID)...)
	for id, n := range seen {
		found[id].total += n
		if found[id].sees = some; n == private[id] {
			found[id].sees = all
		}
	}
	return found, err
}

// condition is the filter's on a mark s. user is the placeholder of the user; the caller, if it is asked for, is $1.
func (f *filter) condition(user string) string {
	switch f.sees {
	case onlyPublic:
		return `s.user_id = ` + user + ` AND NOT s.private`
	case some:
		return `s.user_id = ` + user + ` AND (NOT s.private OR EXISTS (SELECT 1` +
			repo.FromVisible(`s.repo_id`, f.caller) + `))`
	}
	return `s.user_id = ` + user
}

// callerOf returns the caller as the arguments, if one of the filters asks for it.
func callerOf(filters ...*filter) []any {
	for _, f := range filters {
		if f.sees == some {
			return []any{account.IDOf(f.caller)}
		}
	}
	return nil
}

// page reads a page of the marks.
func (f *filter) page(tx *db.Tx, o Order, page web.Page) ([]mark[repo.ID], error) {
	direction := `ASC`
	if o.Desc {
		direction = `DESC`
	}
	from, by := f.kind.table()+` s`, `s.created_at %[1]s, s.repo_id %[1]s`
	args := append(callerOf(f), f.user)
	condition := f.condition(fmt.Sprintf(`$%d`, len(args)))
	if o.Pushed {
		// SQLite takes the tables of a CROSS JOIN in their order.
		from, by = from+` CROSS JOIN repos p`, `p.pushed_at %[1]s, p.id %[1]s`
		condition += ` AND s.repo_id = p.id`
		walk, err := worthWalking(tx, f.total, page)
		if err != nil {
			return nil, err
		}
		if walk {
			from = `repos p CROSS JOIN ` + f.kind.table() + ` s`
		}
	}
	n := len(args)
	return queryMarks[repo.ID](tx, fmt.Sprintf(
		`SELECT s.repo_id, s.created_at FROM `+from+` WHERE `+condition+` ORDER BY `+by+
			` LIMIT $%[2]d OFFSET $%[3]d`, direction, n+1, n+2), append(args, page.Size, page.Offset())...)
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
