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

// FolderOf reads a name in a shard; of the latter two kinds id is the repository's, and
// purges its Repo.Purges when it had that folder.
func FolderOf(name string) (id ID, purges int64, k FolderKind) {
	if f, ok := parseFolder(name); ok {
		return f.id, f.purges, FolderKept
	}
	if g, ok := parseGone(name); ok {
		return g.id, g.purges, FolderGone
	}
	return 0, 0, FolderUnknown
}

// Unowned gives those of the names of folders that belong neither to a repository nor to
// one that is being made: they are left over. List the folders first.
func (s *Service) Unowned(ctx context.Context, names []string) (left []string, err error) {
	folders := make([]folder, len(names))
	for i, name := range names {
		folders[i], _ = parseFolder(name)
	}
	o, err := s.ask(ctx, folders)
	for i, f := range folders {
		if !o.owns(f) && !o.reserved[f.id] {
			left = append(left, names[i])
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
