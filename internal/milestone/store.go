package milestone

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// columns are the columns that scan reads, of milestones m. Kind 4 is posting.ByMilestone; 1 and 2 are the
// states.
const columns = `m.id, m.repo_id, m.number, m.title, m.description, m.state, m.creator_id,
	m.created_at, m.updated_at, m.due_on, m.closed_at,
	COALESCE((SELECT n FROM posting_counts c WHERE c.repo_id = m.repo_id AND c.kind = 4 AND c.value = m.id AND c.state = 1), 0),
	COALESCE((SELECT n FROM posting_counts c WHERE c.repo_id = m.repo_id AND c.kind = 4 AND c.value = m.id AND c.state = 2), 0)`

// scan reads columns. Error: 404 if the row does not exist.
func scan(row db.Scanner) (*Milestone, error) {
	var m Milestone
	var state int64
	err := row.Scan(&m.ID, &m.RepoID, &m.Number, &m.Title, &m.Description, &state, &m.CreatorID,
		&m.CreatedAt, &m.UpdatedAt, &m.DueOn, &m.ClosedAt, &m.OpenIssues, &m.ClosedIssues)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	m.State = issuekit.State(state)
	return &m, err
}

func query(tx *db.Tx, rest string, args ...any) ([]*Milestone, error) {
	return db.QueryList(tx, scan, `SELECT `+columns+` FROM milestones m`+rest, args...)
}

// ByNumber reads a milestone of a repository. Error: 404.
func ByNumber(tx *db.Tx, repoID repo.ID, number int64) (*Milestone, error) {
	return scan(tx.QueryRow(`SELECT `+columns+` FROM milestones m WHERE m.repo_id = $1 AND m.number = $2`,
		repoID, number))
}

// byNumbers finds milestones by their numbers, with one statement.
func byNumbers(tx *db.Tx, list []repo.Of[int64]) ([]*Milestone, error) {
	if len(list) == 0 {
		return nil, nil
	}
	with, args := repo.Pairs(list, "BIGINT")
	return db.QueryList(tx, scan, with+`SELECT `+columns+`
		FROM v JOIN milestones m ON m.repo_id = v.repo AND m.number = v.key`, args...)
}

// counts counts the milestones of repositories; state 0 selects all.
func counts(tx *db.Tx, repos []repo.ID, state issuekit.State) (map[repo.ID]int64, error) {
	return db.QueryMap[repo.ID, int64](tx, `SELECT repo_id, count(*) FROM milestones
		WHERE `+inState(state)+`repo_id IN `+db.Values(1, len(repos))+` GROUP BY repo_id`, db.Args(repos)...)
}

func inState(state issuekit.State) string {
	if state == 0 {
		return ``
	}
	return `state = ` + strconv.Itoa(int(state)) + ` AND `
}

// listMany reads a page of the milestones of each repository by their due dates, with one statement. State 0
// selects all.
func listMany(tx *db.Tx, repos []repo.ID, state issuekit.State, p web.Page) ([]*Milestone, error) {
	parts := make([]string, len(repos))
	for n := range repos {
		parts[n] = fmt.Sprintf(`SELECT id FROM (SELECT id FROM milestones WHERE %srepo_id = $%d
			ORDER BY due_on IS NULL, due_on, number LIMIT $1 OFFSET $2) p%d`, inState(state), n+3, n)
	}
	return query(tx, ` WHERE m.id IN (`+strings.Join(parts, ` UNION ALL `)+`)
		ORDER BY m.due_on IS NULL, m.due_on, m.number`, db.Args(repos, p.Size, p.Offset())...)
}

// NumberedIn finds the milestones of a number in several repositories, with one statement.
func NumberedIn(tx *db.Tx, repos []repo.ID, number int64) (map[repo.ID]*Milestone, error) {
	in := map[repo.ID]*Milestone{}
	if len(repos) == 0 {
		return in, nil
	}
	list, err := query(tx, ` WHERE m.number = $1 AND m.repo_id IN `+db.ValuesFrom(2, 1, len(repos)),
		db.Args(repos, number)...)
	for _, m := range list {
		in[m.RepoID] = m
	}
	return in, err
}

// ByIDs finds the milestones of a page in one query.
func ByIDs(tx *db.Tx, ids []int64) (map[int64]*Milestone, error) {
	return db.QueryByID(ids, func(m *Milestone) int64 { return m.ID }, func() ([]*Milestone, error) {
		return query(tx, ` WHERE m.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
	})
}

// takeNumber locks the repository and takes the next number.
func takeNumber(tx *db.Tx, repoID repo.ID) (number int64, err error) {
	err = tx.QueryRow(`UPDATE repos SET issues_generation = issues_generation + 1,
		next_milestone = next_milestone + 1
		WHERE id = $1 RETURNING next_milestone - 1`, repoID).Scan(&number)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	if err != nil {
		return 0, err
	}
	return number, hook.Watch(tx, repoID)
}

// insert inserts a milestone and sets its id. Error: 422 if the title exists.
func insert(tx *db.Tx, m *Milestone) error {
	err := tx.QueryRow(`INSERT INTO milestones (repo_id, number, title, description, state, creator_id,
		created_at, updated_at, due_on, closed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (repo_id, title) DO NOTHING
		RETURNING id`,
		m.RepoID, m.Number, m.Title, m.Description, int64(m.State), m.CreatorID, m.CreatedAt, m.UpdatedAt,
		m.DueOn, m.ClosedAt).Scan(&m.ID)
	if errors.Is(err, db.ErrNoRows) {
		return titleExists()
	}
	return err
}

func titled(tx *db.Tx, repoID repo.ID, title string) (taken bool, err error) {
	var n int64
	err = tx.QueryRow(`SELECT count(*) FROM milestones WHERE repo_id = $1 AND title = $2`,
		repoID, title).Scan(&n)
	return n > 0, err
}

// update writes all fields that can change.
func update(tx *db.Tx, m *Milestone) error {
	return tx.Run(`UPDATE milestones SET title = $2, description = $3, state = $4, updated_at = $5,
		due_on = $6, closed_at = $7
		WHERE id = $1`, m.ID, m.Title, m.Description, int64(m.State), m.UpdatedAt, m.DueOn, m.ClosedAt)
}

// Delete deletes a milestone without issues. The repository's row must be locked.
func Delete(tx *db.Tx, m *Milestone) error {
	return tx.Run(`DELETE FROM milestones WHERE id = $1`, m.ID)
}

// Order holds the filter and order of a list of milestones.
type Order struct {
	State issuekit.State // 0: both
	// by the fraction of closed issues; else by the due date, those without one last
	Completeness bool
	Desc         bool
}

// list reads a page of milestones and their number. The queries use only an index to count and order them,
// and read only the rows of the page.
func list(tx *db.Tx, repoID repo.ID, o Order, p web.Page) ([]*Milestone, int64, error) {
	where, args := ` WHERE m.repo_id = $1`, []any{repoID}
	if o.State != 0 {
		where, args = where+` AND m.state = $2`, append(args, int64(o.State))
	}
	numbers, err := ordered(tx, where, o, p, args)
	if err != nil {
		return nil, 0, err
	}
	total := p.Offset() + int64(len(numbers))
	if n := int64(len(numbers)); n == p.Size || n == 0 && p.Offset() > 0 { // else the page is the last one
		if err := tx.QueryRow(`SELECT count(*) FROM milestones m`+where, args...).Scan(&total); err != nil {
			return nil, 0, err
		}
	}
	if len(numbers) == 0 {
		return nil, total, nil
	}
	at := make(map[int64]int, len(numbers))
	args = []any{repoID}
	for i, n := range numbers {
		at[n], args = i, append(args, n)
	}
	found, err := query(tx, ` WHERE m.repo_id = $1 AND m.number IN `+db.ValuesFrom(2, 1, len(numbers)),
		args...)
	list := make([]*Milestone, len(numbers))
	for _, m := range found {
		list[at[m.Number]] = m
	}
	return list, total, err
}

// ordered returns the numbers of a page.
func ordered(tx *db.Tx, where string, o Order, p web.Page, args []any) ([]int64, error) {
	direction := " ASC"
	if o.Desc {
		direction = " DESC"
	}
	by := ` ORDER BY m.due_on IS NULL, m.due_on` + direction
	from := ` FROM milestones m`
	if o.Completeness {
		from += ` LEFT JOIN (SELECT value, SUM(CASE WHEN state = 2 THEN n ELSE 0 END) AS closed,
			SUM(n) AS total
			FROM posting_counts WHERE repo_id = $1 AND kind = 4 GROUP BY value) c ON c.value = m.id`
		by = ` ORDER BY COALESCE(CAST(c.closed AS DOUBLE PRECISION) / NULLIF(c.total, 0), 0)` + direction
	}
	limit := ` LIMIT $` + strconv.Itoa(len(args)+1) + ` OFFSET $` + strconv.Itoa(len(args)+2)
	return db.QueryColumn[int64](tx, `SELECT m.number`+from+where+by+`, m.number`+direction+limit,
		append(args, p.Size, p.Offset())...)
}
