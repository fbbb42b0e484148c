package repo

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/git"
)

// FolderKind is what a name beside the repositories' folders says.
type FolderKind int

// The kinds of names in a shard.
const (
	FolderUnknown FolderKind = iota // nothing that this package makes
	FolderKept                      // the folder of a repository
	FolderGone                      // one that waits for its removal
)

// FolderOf reads a name in a shard; id is the repository's, of the latter two.
func FolderOf(name string) (id ID, k FolderKind) {
	if id, ok := folderID(name); ok {
		return id, FolderKept
	}
	if g, ok := parseGone(name); ok {
		return g.id, FolderGone
	}
	return 0, FolderUnknown
}

// Unowned gives those of the ids that neither a repository has nor one that is being
// made: their folders are left over. List the folders first.
func (s *Service) Unowned(ctx context.Context, ids []ID) (left []ID, err error) {
	o, err := s.ask(ctx, ids)
	for _, id := range ids {
		if !o.repos[id] && !o.reserved[id] {
			left = append(left, id)
		}
	}
	return left, err
}

// Tips lists where the refs of a repository lead, by full name.
func (s *Service) Tips(ctx context.Context, repoID ID) (tips map[string]git.SHA, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		tips = map[string]git.SHA{}
		rows, err := tx.Query(`SELECT name, sha FROM refs WHERE repo_id = $1`, repoID)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			var sha git.SHA
			if err := rows.Scan(&name, &sha); err != nil {
				return err
			}
			tips[name] = sha
		}
		return rows.Err()
	})
	return tips, err
}
