package main

import (
	"context"

	"arbor/internal/pin"
	"arbor/internal/repo"
	"arbor/internal/star"
)

// fillStars adds stars, one of them on a private repository, subscribes bob to the greenhouse, and pins what alice and
// the organization show first.
func (d *demo) fillStars(ctx context.Context, repos *repo.Service) error {
	stars := star.New(d.store.db, repos)
	for _, m := range []struct {
		by, owner, name string
		kind            star.Kind
	}{
		{"bob", "alice", "greenhouse", star.Star},
		{"root-gardener", "alice", "greenhouse", star.Star},
		{"bob", demoOrg, "seeds", star.Star},
		{"alice", "alice", "diary", star.Star},
		{"alice", "bob", "greenhouse", star.Star},
		{"bob", "alice", "greenhouse", star.Watch},
	} {
		found, err := repos.Find(ctx, d.callers[m.by], m.owner, m.name)
		if err != nil {
			return err
		}
		if err := stars.Put(ctx, &found.Access, m.kind); err != nil {
			return err
		}
	}
	pins := pin.New(d.store.db)
	for owner, name := range map[string]string{"alice": "greenhouse", demoOrg: "seeds"} {
		found, err := repos.Find(ctx, d.callers["alice"], owner, name)
		if err != nil {
			return err
		}
		err = pins.Change(ctx, d.callers["alice"], owner, func([]repo.ID) []repo.ID { return []repo.ID{found.Access.ID} })
		if err != nil {
			return err
		}
	}
	return nil
}
