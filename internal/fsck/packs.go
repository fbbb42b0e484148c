package fsck

import (
	"context"

	"arbor/internal/packs"
	"arbor/internal/repo"
)

// lookAtPacks looks at packs that lie in a depot or in the database: that each is there with its size. With Full it
// reads them.
func (c *checker) lookAtPacks(ctx context.Context) error {
	n, err := c.packs.Verify(ctx, packs.Verification{
		Deep:     c.Full,
		Progress: func(done, all int64) { c.Progress("packs", done, all) },
		Problem: func(ids []repo.ID, problem string) {
			names, err := c.names(ctx, ids)
			if err != nil {
				names = map[repo.ID]string{}
			}
			for _, id := range ids {
				c.find(Finding{Part: Files, Repository: names[id], Problem: problem})
			}
		},
		Bundle: func(problem string) {
			c.find(Finding{Part: Files, Warning: true, Problem: problem + ": clones do without it, and a server makes it again"})
		},
		Left: func(key string) {
			c.find(Finding{Part: Files, Warning: true,
				Problem: key + " belongs to nothing; a server that runs removes it within hours"})
		},
	})
	c.report.Packs = n
	return err
}
