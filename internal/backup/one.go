package backup

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/repo"
)

// OneRepository restores into an empty store the rows of a backup, and the objects and files of one repository
// alone. The store is good for taking that repository out of it and for nothing else. Errors: those of FromFolder;
// one that names the repository if the backup does not hold it.
func OneRepository(ctx context.Context, dir string, to Destination, owner, name string) error {
	return fromFolder(ctx, dir, to, func(r *restore) error {
		if err := r.begin(ctx); err != nil {
			return err
		}
		if err := r.loadTables(ctx); err != nil {
			return err
		}
		d, err := db.Open(ctx, r.Database)
		if err != nil {
			return err
		}
		folder, named, err := pathsOf(ctx, d, owner, name)
		if err := errors.Join(err, d.Close()); err != nil {
			return err
		}
		var list []File
		for _, f := range r.manifest.Files {
			if named[f.Path] || strings.HasPrefix(f.Path, folder+"/") {
				list = append(list, f)
			}
		}
		r.manifest.Files = list
		return r.copyFiles(ctx)
	})
}

// pathsOf returns where a repository's folder and its other files are in the data folder.
func pathsOf(ctx context.Context, d *db.DB, owner, name string) (folder string, named map[string]bool, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		var id repo.ID
		var purges int64
		err := tx.QueryRow(`SELECT r.id, r.purges FROM repos r JOIN accounts o ON o.id = r.owner_id
			WHERE o.login_folded = $1 AND r.name_folded = $2`, account.Fold(owner), account.Fold(name)).Scan(&id, &purges)
		if errors.Is(err, db.ErrNoRows) {
			return fmt.Errorf("the backup holds no repository %s/%s", owner, name)
		} else if err != nil {
			return err
		}
		folder = path.Join(repositoriesDir, filepath.ToSlash(repo.FolderPath(id, purges)))
		named = map[string]bool{}
		return file.ListOf(tx, id, func(f *file.File) { named[file.Path(f.Name)] = true })
	})
	return folder, named, err
}
