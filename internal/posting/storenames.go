package posting

import (
	"slices"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// idsOf finds the labels or milestones with the names, by repository.
func idsOf(tx *db.Tx, e Named, repos []Repo) (map[repo.ID][]int64, error) {
	found := map[repo.ID][]int64{}
	for part := range slices.Chunk(repos, db.MaxValues) {
		if err := readIDs(tx, e, part, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func readIDs(tx *db.Tx, e Named, repos []Repo, into map[repo.ID][]int64) error {
	b := &builder{tx: tx}
	b.scope = values(b, repoIDs(repos))
	return db.QueryEach(tx, func(row db.Scanner) error {
		var repoID repo.ID
		var id int64
		if err := row.Scan(&repoID, &id); err != nil {
			return err
		}
		into[repoID] = append(into[repoID], id)
		return nil
	}, `SELECT l.repo_id, l.id`+b.named(e), b.args...)
}

func repoIDs(repos []Repo) []repo.ID {
	list := make([]repo.ID, len(repos))
	for n, r := range repos {
		list[n] = r.ID
	}
	return list
}
