package main

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/forge"
	"arbor/internal/invitation"
	"arbor/internal/repo/network"
)

// forkGreenhouse forks alice's greenhouse for bob, who invites alice to the fork and to an organization.
func (d *demo) forkGreenhouse(ctx context.Context, f *forge.Forge) error {
	found, err := f.Repos.Find(ctx, d.callers["bob"], "alice", "greenhouse")
	if err != nil {
		return err
	}
	if _, err = f.Network.Fork(ctx, &found.Access, network.NewFork{}); err != nil {
		return err
	}
	fork, err := f.Repos.Find(ctx, d.callers["bob"], "bob", "greenhouse")
	if err != nil {
		return err
	}
	if _, err := f.Invitations.Invite(ctx, &fork.Access, "alice", account.Push); err != nil {
		return err
	}
	if _, err := f.Accounts.CreateOrg(ctx, "nursery", "bob"); err != nil {
		return err
	}
	_, err = f.Invitations.InviteMember(ctx, d.callers["bob"], "nursery", invitation.Person{Login: "alice"},
		false, nil)
	return err
}
