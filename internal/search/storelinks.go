package search

import (
	"strings"

	"arbor/internal/db"
	"arbor/internal/markdown"
	"arbor/internal/repo"
)

// mayFix are beginnings of all words by which a text says that it closes an issue.
var mayFix = [...]string{"clos", "fix", "resolv"}

// linkPulls writes what those of some issues fix that are pull requests, as their texts are now.
func linkPulls(tx *db.Tx, ids map[int64]bool) error {
	type pull struct {
		id, number        int64
		repo              repo.ID
		owner, name, body string
	}
	list, err := queryAmong(tx, func(row db.Scanner) (p pull, err error) {
		err = row.Scan(&p.id, &p.number, &p.repo, &p.owner, &p.name, &p.body)
		return p, err
	}, `SELECT i.id, i.number, i.repo_id, o.login, r.name, COALESCE(i.body, '') FROM issues i
		JOIN repos r ON r.id = i.repo_id JOIN accounts o ON o.id = r.owner_id
		WHERE i.pull = TRUE AND i.id IN `, ids)
	if err != nil || len(list) == 0 {
		return err
	}
	pulls, rows := make([]any, len(list)), []any{}
	for n, p := range list {
		pulls[n] = p.id
		if !saysFix(p.body) {
			continue
		}
		for _, number := range markdown.Parse(p.body).References().Fixes(p.owner, p.name) {
			if number != p.number {
				rows = append(rows, p.id, p.repo, number)
			}
		}
	}
	if err := tx.Run(`DELETE FROM pull_fixes WHERE pull_id IN `+db.ValuesFrom(1, 1, len(pulls)), pulls...); err != nil {
		return err
	}
	for len(rows) > 0 {
		most := min(len(rows), db.MaxValues/3*3)
		if err := tx.Run(`INSERT INTO pull_fixes (pull_id, repo_id, number) VALUES `+db.Values(most/3, 3)+
			` ON CONFLICT DO NOTHING`, rows[:most]...); err != nil {
			return err
		}
		rows = rows[most:]
	}
	return nil
}

func saysFix(body string) bool {
	body = strings.ToLower(body)
	for _, word := range mayFix {
		if strings.Contains(body, word) {
			return true
		}
	}
	return false
}
