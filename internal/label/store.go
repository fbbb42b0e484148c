package label

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/posting"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const columns = `l.id, l.repo_id, l.name, l.color, l.description, l.is_default, l.created_at,
	l.updated_at`

const selected = `SELECT ` + columns + ` FROM labels l`

func scan(row db.Scanner) (*Label, error) {
	var l Label
	err := row.Scan(&l.ID, &l.RepoID, &l.Name, &l.Color, &l.Description, &l.Default, &l.CreatedAt, &l.UpdatedAt)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	return &l, err
}

func query(tx *db.Tx, rest string, args ...any) ([]*Label, error) {
	return db.QueryList(tx, scan, selected+rest, args...)
}

// Named reads labels by name. The keys of the result are folded.
func Named(tx *db.Tx, repoID repo.ID, names []string) (map[string]*Label, error) {
	byName := make(map[string]*Label, len(names))
	if len(names) == 0 {
		return byName, nil
	}
	args := []any{repoID}
	for _, n := range names {
		args = append(args, Fold(n))
	}
	list, err := query(tx, ` WHERE l.repo_id = $1 AND l.name_folded IN `+db.ValuesFrom(2, 1, len(names)), args...)
	for _, l := range list {
		byName[Fold(l.Name)] = l
	}
	return byName, err
}

// NamedIn reads labels of several repositories by their folded names, with one statement.
func NamedIn(tx *db.Tx, repos []repo.ID, folded []string) (map[repo.ID]map[string]*Label, error) {
	in := map[repo.ID]map[string]*Label{}
	if len(repos) == 0 || len(folded) == 0 {
		return in, nil
	}
	args := db.Args(repos)
	for _, name := range folded {
		args = append(args, name)
	}
	list, err := query(tx, ` WHERE l.repo_id IN `+db.Values(1, len(repos))+` AND l.name_folded IN `+
		db.ValuesFrom(len(repos)+1, 1, len(folded)), args...)
	for _, l := range list {
		if in[l.RepoID] == nil {
			in[l.RepoID] = map[string]*Label{}
		}
		in[l.RepoID][Fold(l.Name)] = l
	}
	return in, err
}

// ByIDs reads labels by id. Deleted labels are missing from the map.
func ByIDs(tx *db.Tx, repoID repo.ID, ids []int64) (map[int64]*Label, error) {
	byID := make(map[int64]*Label, len(ids))
	if len(ids) == 0 {
		return byID, nil
	}
	args := make([]any, 1, len(ids)+1)
	args[0] = repoID
	for _, id := range ids {
		args = append(args, id)
	}
	list, err := query(tx, ` WHERE l.repo_id = $1 AND l.id IN `+db.ValuesFrom(2, 1, len(ids)), args...)
	for _, l := range list {
		byID[l.ID] = l
	}
	return byID, err
}

// maxLabels is the maximum number of labels of a repository, because they do not count for a quota.
const maxLabels = 5000

// insert inserts a label and sets its id. Errors: 422 if the name exists, and for too many labels.
func insert(tx *db.Tx, l *Label) error {
	err := tx.QueryRow(`INSERT INTO labels (repo_id, name, name_folded, color, description, is_default, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7) ON CONFLICT (repo_id, name_folded) DO NOTHING RETURNING id`,
		l.RepoID, l.Name, Fold(l.Name), l.Color, l.Description, l.Default, tx.Now).Scan(&l.ID)
	if errors.Is(err, db.ErrNoRows) {
		return nameExists()
	}
	if err != nil {
		return err
	}
	var tooMany bool
	err = tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM labels WHERE repo_id = $1 LIMIT 1 OFFSET $2)`,
		l.RepoID, maxLabels).Scan(&tooMany)
	if err != nil {
		return err
	}
	if tooMany {
		return errs.Validation(errs.Field{Resource: resource, Field: "name", Code: errs.Custom,
			Message: fmt.Sprintf("a repository may have at most %d labels", maxLabels)})
	}
	return nil
}

// OfIssues reads the labels of issues, of any repositories: the ids in an issue's row belong to its
// repository.
func OfIssues(tx *db.Tx, ids []int64) (map[int64]*Label, error) {
	return db.QueryByID(ids, func(l *Label) int64 { return l.ID }, func() ([]*Label, error) {
		return query(tx, ` WHERE l.id IN `+db.Values(1, len(ids)), db.Args(ids)...)
	})
}

// insertAll inserts labels of a new repository in one statement.
func insertAll(tx *db.Tx, list []*Label) error {
	args := make([]any, 0, 8*len(list))
	for _, l := range list {
		args = append(args, l.RepoID, l.Name, Fold(l.Name), l.Color, l.Description, l.Default, tx.Now, tx.Now)
	}
	err := tx.Run(`INSERT INTO labels (repo_id, name, name_folded, color, description, is_default, created_at, updated_at)
		VALUES `+db.Values(len(list), 8), args...)
	return err
}

// ByName reads a label. Its name is matched case-insensitively. Error: 404.
func ByName(tx *db.Tx, repoID repo.ID, name string) (*Label, error) {
	if !utf8.ValidString(name) || strings.IndexByte(name, 0) >= 0 {
		return nil, errs.Absent()
	}
	return scan(tx.QueryRow(`SELECT `+columns+` FROM labels l WHERE l.repo_id = $1 AND l.name_folded = $2`,
		repoID, Fold(name)))
}

// list reads a page of the repository's labels by name, and their number. The query needs only an index to
// count and find them.
func list(tx *db.Tx, repoID repo.ID, p web.Page) (found []*Label, total int64, err error) {
	found, err = query(tx, ` WHERE l.repo_id = $1 AND l.name_folded IN (SELECT name_folded FROM labels
		WHERE repo_id = $1 ORDER BY name_folded LIMIT $2 OFFSET $3)
		ORDER BY l.name_folded`, repoID, p.Size, p.Offset())
	var known bool
	if total, known = p.Total(len(found)); err == nil && !known {
		err = tx.QueryRow(`SELECT count(*) FROM labels WHERE repo_id = $1`, repoID).Scan(&total)
	}
	return found, total, err
}

// counts counts the labels of repositories.
func counts(tx *db.Tx, repos []repo.ID) (map[repo.ID]int64, error) {
	return db.QueryMap[repo.ID, int64](tx, `SELECT repo_id, count(*) FROM labels WHERE repo_id IN `+
		db.Values(1, len(repos))+` GROUP BY repo_id`, db.Args(repos)...)
}

// listMany reads a page of the labels of each repository by name, with one statement.
func listMany(tx *db.Tx, repos []repo.ID, p web.Page) ([]*Label, error) {
	parts := make([]string, len(repos))
	for n := range repos {
		parts[n] = fmt.Sprintf(`SELECT id FROM (SELECT id FROM labels WHERE repo_id = $%d
			ORDER BY name_folded LIMIT $1 OFFSET $2) p%d`, n+3, n)
	}
	return query(tx, ` WHERE l.id IN (`+strings.Join(parts, ` UNION ALL `)+`) ORDER BY l.name_folded`,
		db.Args(repos, p.Size, p.Offset())...)
}

// Within returns the labels of a milestone's issues by name.
func Within(tx *db.Tx, repoID repo.ID, milestoneID int64) ([]*Label, error) {
	return query(tx, ` WHERE l.repo_id = $1 AND l.id IN (SELECT p.value FROM postings q
			JOIN postings p ON p.issue_id = q.issue_id AND p.kind = $2
			WHERE q.kind = $3 AND q.value = $4 AND q.repo_id = $1)
		ORDER BY l.name_folded`, repoID, int64(posting.ByLabel), int64(posting.ByMilestone), milestoneID)
}

// update writes all fields that can change.
func update(tx *db.Tx, l *Label) error {
	return tx.Run(`UPDATE labels SET name = $2, name_folded = $3, color = $4, description = $5, updated_at = $6
		WHERE id = $1`, l.ID, l.Name, Fold(l.Name), l.Color, l.Description, tx.Now)
}

// Delete deletes a label. The repository's row must be locked. The caller removes the label from issues.
func Delete(tx *db.Tx, l *Label) error {
	return tx.Run(`DELETE FROM labels WHERE id = $1`, l.ID)
}
