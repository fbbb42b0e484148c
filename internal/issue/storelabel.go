package issue

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/errs"
)

const labelColumns = `l.id, l.repo_id, l.name, l.color, l.description, l.is_default`

func scanLabel(row scanner) (*Label, error) {
	var l Label
	err := row.Scan(&l.ID, &l.RepoID, &l.Name, &l.Color, &l.Description, &l.Default)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	return &l, err
}

func queryLabels(tx *db.Tx, rest string, args ...any) ([]*Label, error) {
	rows, err := tx.Query(`SELECT `+labelColumns+` FROM labels l`+rest, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*Label
	for rows.Next() {
		l, err := scanLabel(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return list, rows.Err()
}

// labelsNamed finds labels by name, under FoldLabel of it.
func labelsNamed(tx *db.Tx, repoID int64, names []string) (map[string]*Label, error) {
	byName := make(map[string]*Label, len(names))
	if len(names) == 0 {
		return byName, nil
	}
	args := []any{repoID}
	for _, n := range names {
		args = append(args, FoldLabel(n))
	}
	list, err := queryLabels(tx, ` WHERE l.repo_id = $1 AND l.name_folded IN `+db.ValuesFrom(2, 1, len(names)), args...)
	for _, l := range list {
		byName[FoldLabel(l.Name)] = l
	}
	return byName, err
}

// labelsByID finds labels; those that were deleted are missing from the map.
func labelsByID(tx *db.Tx, repoID int64, ids []int64) (map[int64]*Label, error) {
	byID := make(map[int64]*Label, len(ids))
	if len(ids) == 0 {
		return byID, nil
	}
	args := make([]any, 1, len(ids)+1)
	args[0] = repoID
	for _, id := range ids {
		args = append(args, id)
	}
	list, err := queryLabels(tx, ` WHERE l.repo_id = $1 AND l.id IN `+db.ValuesFrom(2, 1, len(ids)), args...)
	for _, l := range list {
		byID[l.ID] = l
	}
	return byID, err
}

// insertLabel adds a label and sets its id. Error: 422 when the name is taken.
func insertLabel(tx *db.Tx, l *Label) error {
	err := tx.QueryRow(`INSERT INTO labels (repo_id, name, name_folded, color, description, is_default)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (repo_id, name_folded) DO NOTHING RETURNING id`,
		l.RepoID, l.Name, FoldLabel(l.Name), l.Color, l.Description, l.Default).Scan(&l.ID)
	if errors.Is(err, db.ErrNoRows) {
		return errs.Validation(errs.Field{Resource: "Label", Field: "name", Code: errs.AlreadyExists})
	}
	return err
}

// labelsOf finds the labels of a page of issues, of any repositories: ids that
// stand in an issue's row are of its repository.
func labelsOf(tx *db.Tx, ids []int64) (map[int64]*Label, error) {
	byID := make(map[int64]*Label, len(ids))
	if len(ids) == 0 {
		return byID, nil
	}
	args := make([]any, len(ids))
	for n, id := range ids {
		args[n] = id
	}
	list, err := queryLabels(tx, ` WHERE l.id IN `+db.Values(1, len(ids)), args...)
	for _, l := range list {
		byID[l.ID] = l
	}
	return byID, err
}

// insertLabels adds labels of a new repository in one statement.
func insertLabels(tx *db.Tx, list []*Label) error {
	args := make([]any, 0, 6*len(list))
	for _, l := range list {
		args = append(args, l.RepoID, l.Name, FoldLabel(l.Name), l.Color, l.Description, l.Default)
	}
	_, err := tx.Exec(`INSERT INTO labels (repo_id, name, name_folded, color, description, is_default) VALUES `+
		db.Values(len(list), 6), args...)
	return err
}
