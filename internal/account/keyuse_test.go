package account

import (
	"context"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// Who looks for keys that nobody needs any more sees when each was used. That costs a write an hour, not
// one for each fetch.
func TestLastUseOfAKey(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b, ctx := newBundle(t, engine), context.Background()
		b.user("alice")
		const text = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHcxd/Ey2aQxvQ2yGZvUQnRi7AkuWdZPjxQNyWcQQgAK"
		k, err := b.s.AddUserKey(ctx, "alice", NewKey{Text: text})
		testkit.NoError(t, err)
		for round := range 3 {
			c, err := b.s.CallerOfKey(ctx, k.Fingerprint)
			testkit.NoError(t, err)
			b.s.NoteKeyUse(c)
			if waiting := len(b.s.keyUses.pending); waiting != 1 && round == 0 || waiting != 0 && round > 0 {
				t.Errorf("round %d: %d uses wait to be stored", round, waiting)
			}
			b.s.flush(ctx)
			list, err := b.s.UserKeys(ctx, "alice")
			if err != nil || len(list) != 1 || list[0].LastUsedAt.IsZero() {
				t.Errorf("round %d: %v, %v", round, list, err)
			}
		}
	})
}
