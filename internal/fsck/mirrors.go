package fsck

import (
	"context"
	"fmt"

	"arbor/internal/db"
	"arbor/internal/mirror"
	"arbor/internal/repo"
)

// lookAtMirrors finds mirrors without a repository, repositories with two pull mirrors, and passwords and
// webhook secrets that the key in the data folder cannot decrypt: backups do not contain that key. It repairs
// nothing.
func (c *checker) lookAtMirrors(ctx context.Context) error {
	var locked []mirror.Locked
	var problems []string
	err := c.DB.ReadLong(ctx, func(tx *db.Tx) (err error) {
		problems, err = db.QueryTexts(tx, `SELECT 'mirror ' || m.id ||
				' belongs to repository ' || m.repo_id || ', which does not exist' FROM mirrors m
				WHERE NOT EXISTS (SELECT 1 FROM repos r WHERE r.id = m.repo_id)
			UNION ALL SELECT 'the repository ' || repo_id || ' is a mirror of ' || COUNT(*) || ' repositories' FROM mirrors
				WHERE push = FALSE GROUP BY repo_id HAVING COUNT(*) > 1`)
		if err == nil {
			locked, err = c.mirrors.Locked(tx)
		}
		return err
	})
	if err != nil {
		return err
	}
	ids := make([]repo.ID, len(locked))
	for n, l := range locked {
		ids[n] = l.RepoID
	}
	names, err := c.names(ctx, ids)
	if err != nil {
		return err
	}
	for _, problem := range problems {
		c.find(Finding{Part: "mirrors", Problem: problem})
	}
	for _, l := range locked {
		problem := "mirrors/key cannot decrypt the secret of the mirror's webhook: create a new one"
		switch {
		case l.SSH:
			problem = fmt.Sprintf("mirrors/key cannot decrypt the key pair of mirror %d: set it up again", l.Mirror)
		case l.Mirror != 0:
			problem = fmt.Sprintf("mirrors/key cannot decrypt the password of mirror %d: enter it again", l.Mirror)
		}
		c.find(Finding{Part: "mirrors", Repository: names[l.RepoID], Warning: true, Problem: problem})
	}
	return nil
}
