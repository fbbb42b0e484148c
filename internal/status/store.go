package status

import (
	"errors"
	"fmt"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// lockCommit serializes adding statuses to a commit. Error: 404 if the repository was deleted.
func lockCommit(tx *db.Tx, repoID repo.ID, sha git.SHA) error {
	_, err := tx.Exec(`INSERT INTO status_commits (repo_id, sha) VALUES ($1, $2)
		ON CONFLICT (repo_id, sha) DO UPDATE SET sha = excluded.sha`, repoID, string(sha))
	if errors.Is(err, db.ErrForeignKey) {
		return errs.Absent()
	}
	return err
}

// latest returns the state of a context's latest status and the number of its statuses, or zero values for
// a new context.
func latest(tx *db.Tx, repoID repo.ID, sha git.SHA, context string) (s State, total int64, err error) {
	err = tx.QueryRow(`SELECT state, total FROM status_contexts WHERE repo_id = $1 AND sha = $2 AND context = $3`,
		repoID, string(sha), fold(context)).Scan(&s, &total)
	if errors.Is(err, db.ErrNoRows) {
		err = nil
	}
	return s, total, err
}

func insert(tx *db.Tx, repoID repo.ID, n *Status) (id int64, err error) {
	err = tx.QueryRow(`INSERT INTO statuses (repo_id, sha, context, state, target_url, description,
		creator_id, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
		repoID, string(n.SHA), n.Context, int64(n.State), n.TargetURL, n.Description, n.CreatorID,
		n.CreatedAt).Scan(&id)
	return id, err
}

// byID reads a status of a repository. Error: 404.
func byID(tx *db.Tx, repoID repo.ID, id int64) (*Status, error) {
	var s Status
	err := tx.QueryRow(`SELECT id, sha, context, state, target_url, description, creator_id, created_at
		FROM statuses
		WHERE repo_id = $1 AND id = $2`, repoID, id).Scan(&s.ID, &s.SHA, &s.Context, &s.State, &s.TargetURL,
		&s.Description, &s.CreatorID, &s.CreatedAt)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &s, err
}

// Spot is where a status is.
type Spot struct {
	Repo repo.ID
	SHA  git.SHA
}

// Places finds the commits of statuses, for GraphQL. It checks no rights. It omits those that do not exist.
func Places(tx *db.Tx, ids []int64) (map[int64]Spot, error) {
	return db.QueryMapOf[int64](tx, func(at *Spot) []any { return []any{&at.Repo, &at.SHA} },
		`SELECT id, repo_id, sha FROM statuses WHERE id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}

func setLatest(tx *db.Tx, repoID repo.ID, n *Status, id int64) error {
	_, err := tx.Exec(`INSERT INTO status_contexts (repo_id, sha, context, status_id, state, total)
		VALUES ($1, $2, $3, $4, $5, 1)
		ON CONFLICT (repo_id, sha, context) DO UPDATE SET status_id = excluded.status_id,
		state = excluded.state,
		total = status_contexts.total + 1`, repoID, string(n.SHA), fold(n.Context), id, int64(n.State))
	return err
}

// sumUp adds to the totals of a commit.
func sumUp(tx *db.Tx, repoID repo.ID, sha git.SHA, more Summary) error {
	_, err := tx.Exec(`UPDATE status_commits SET total = total + $3, contexts = contexts + $4,
		failed = failed + $5, pending = pending + $6
		WHERE repo_id = $1 AND sha = $2`, repoID, string(sha), more.Total, more.Contexts, more.Failed, more.Waiting)
	return err
}

// Combined returns the totals of several commits, read in one query. Commits without statuses are missing
// from the map, so their Summary is zero.
func Combined(tx *db.Tx, commits []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]Summary, error) {
	found := make(map[repo.Of[git.SHA]]Summary, len(commits))
	if len(commits) == 0 {
		return found, nil
	}
	in := repo.In(commits)
	with, args := repo.Pairs(commits, "TEXT")
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var id repo.ID
		var sha git.SHA
		var s Summary
		if err := row.Scan(&id, &sha, &s.Total, &s.Contexts, &s.Failed, &s.Waiting); err != nil {
			return err
		}
		found[repo.Of[git.SHA]{In: in[id], Key: sha}] = s
		return nil
	}, with+`SELECT c.repo_id, c.sha, c.total, c.contexts, c.failed, c.pending
		FROM v JOIN status_commits c ON c.repo_id = v.repo AND c.sha = v.key`, args...)
	return found, err
}

// SummaryColumns are SQL expressions for the totals of a row's commit, to scan into [Summary.Dest]. They
// need SummaryJoin.
const SummaryColumns = `COALESCE(sc.total, 0), COALESCE(sc.contexts, 0), COALESCE(sc.failed, 0), COALESCE(sc.pending, 0)`

// SummaryJoin returns the join for SummaryColumns. repo and sha are the names of the columns with the row's
// repository id and SHA.
func SummaryJoin(repo, sha string) string {
	return ` LEFT JOIN status_commits sc ON sc.repo_id = ` + repo + ` AND sc.sha = ` + sha + ` `
}

// Dest returns the destinations for scanning SummaryColumns.
func (s *Summary) Dest() []any { return []any{&s.Total, &s.Contexts, &s.Failed, &s.Waiting} }

const columns = `SELECT s.id, s.repo_id, s.sha, s.context, s.state, s.target_url, s.description, s.creator_id, s.created_at FROM `

// byIDs reads statuses of any repositories by their ids.
func byIDs(tx *db.Tx, ids []int64) ([]*Status, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return query(tx, columns+`statuses s WHERE s.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
}

// list reads a page of all statuses of a commit, the newest first.
func list(tx *db.Tx, repoID repo.ID, sha git.SHA, page web.Page) ([]*Status, error) {
	return query(tx, columns+`(SELECT id FROM statuses WHERE repo_id = $1 AND sha = $2 ORDER BY id DESC
		LIMIT $3 OFFSET $4) p
		JOIN statuses s ON s.id = p.id ORDER BY s.id DESC`, repoID, string(sha), page.Size, page.Offset())
}

// latestOfAll reads a page of the latest status of each context, ordered by context, so that a new status
// does not change the pages.
func latestOfAll(tx *db.Tx, repoID repo.ID, sha git.SHA, page web.Page) ([]*Status, error) {
	return query(tx, columns+`(SELECT status_id, context FROM status_contexts WHERE repo_id = $1 AND sha = $2
		ORDER BY context LIMIT $3 OFFSET $4) p JOIN statuses s ON s.id = p.status_id ORDER BY p.context`,
		repoID, string(sha), page.Size, page.Offset())
}

func query(tx *db.Tx, text string, args ...any) ([]*Status, error) {
	return db.QueryList(tx, func(row db.Scanner) (*Status, error) {
		var s Status
		err := row.Scan(&s.ID, &s.RepoID, &s.SHA, &s.Context, &s.State, &s.TargetURL, &s.Description,
			&s.CreatorID, &s.CreatedAt)
		return &s, err
	}, text, args...)
}

// latestOfMany reads a page of the latest statuses of each of several commits in one query, ordered by
// context.
func latestOfMany(tx *db.Tx, commits []repo.Of[git.SHA], page web.Page) ([]*Status, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	parts, args := make([]string, len(commits)), []any{page.Size, page.Offset()}
	for n, c := range commits {
		parts[n] = fmt.Sprintf(`SELECT status_id, context FROM (SELECT status_id, context FROM status_contexts
			WHERE repo_id = $%d AND sha = $%d ORDER BY context LIMIT $1 OFFSET $2) p%d`, len(args)+1, len(args)+2, n)
		args = append(args, c.In.ID, string(c.Key))
	}
	return query(tx, columns+`(`+strings.Join(parts, ` UNION ALL `)+
		`) p JOIN statuses s ON s.id = p.status_id ORDER BY p.context`, args...)
}
