package repo

import (
	"strings"

	"arbor/internal/db"
)

// writeTopics replaces the topics of a repository whose row is locked.
func writeTopics(tx *db.Tx, id ID, names []string) error {
	err := tx.Run(`UPDATE repos SET topics = $2, updated_at = $3 WHERE id = $1`, id, strings.Join(names, " "), tx.Now)
	if err != nil {
		return err
	}
	if err := tx.Run(`DELETE FROM repo_topics WHERE repo_id = $1`, id); err != nil || len(names) == 0 {
		return err
	}
	var args []any
	for _, name := range names {
		args = append(args, id, name)
	}
	return tx.Run(`INSERT INTO repo_topics (repo_id, topic) VALUES `+db.Values(len(names), 2), args...)
}
