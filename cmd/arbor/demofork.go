package main

import (
	"context"

	"arbor/internal/forge"
	"arbor/internal/repo/network"
)

// forkGreenhouse forks alice's greenhouse for bob.
func (d *demo) forkGreenhouse(ctx context.Context, f *forge.Forge) error {
	found, err := f.Repos.Find(ctx, d.callers["bob"], "alice", "greenhouse")
	if err != nil {
		return err
	}
	_, err = f.Network.Fork(ctx, &found.Access, network.NewFork{})
	return err
}
