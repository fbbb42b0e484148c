package main

import (
	"context"

	"arbor/internal/repo"
)

// forkGreenhouse gives bob a fork of alice's greenhouse.
func (d *demo) forkGreenhouse(ctx context.Context, repos *repo.Service) error {
	found, err := repos.Find(ctx, d.callers["bob"], "alice", "greenhouse")
	if err != nil {
		return err
	}
	_, err = repos.Fork(ctx, &found.Access, repo.NewFork{})
	return err
}
