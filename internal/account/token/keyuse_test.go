package token

import (
	"context"
	"testing"

	"arbor/internal/account/key"
	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// Who looks for keys that nobody needs any more sees when each was used. That costs a write an hour, not
// one for each fetch.
func TestLastUseOfAKey(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b, ctx := newBundle(t, engine), context.Background()
		b.user("alice")
		keys := key.New(b.db, b.accounts)
		const text = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHcxd/Ey2aQxvQ2yGZvUQnRi7AkuWdZPjxQNyWcQQgAK"
		k, err := keys.AddUserKey(ctx, "alice", key.NewKey{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		for round := range 3 {
			c, err := b.s.CallerOfKey(ctx, k.Fingerprint)
			if err != nil {
				t.Fatal(err)
			}
			b.s.NoteKeyUse(c)
			if waiting := len(b.s.keyUses.pending); waiting != 1 && round == 0 || waiting != 0 && round > 0 {
				t.Errorf("round %d: %d uses wait to be stored", round, waiting)
			}
			b.s.flush(ctx)
			list, err := keys.UserKeys(ctx, "alice")
			if err != nil || len(list) != 1 || list[0].LastUsedAt.IsZero() {
				t.Errorf("round %d: %v, %v", round, list, err)
			}
		}
	})
}
