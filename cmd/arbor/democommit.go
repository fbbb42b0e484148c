package main

import (
	"context"

	"arbor/internal/git"
	"arbor/internal/repo"
)

// commitWithoutClone adds a commit to alice's greenhouse as the API does for a
// client without a clone: blob, trees and commit are written, then a ref moves.
func (d *demo) commitWithoutClone(ctx context.Context, repos *repo.Service) error {
	alice := d.callers["alice"]
	found, err := repos.Find(ctx, alice, "alice", "greenhouse")
	if err != nil {
		return err
	}
	a := &found.Access
	tip, err := repos.Resolve(ctx, a, "main")
	if err != nil {
		return err
	}
	objects := repos.Git(a.ID)
	base, err := objects.PeelToTree(ctx, tip)
	if err != nil {
		return err
	}
	blob := git.NewObject{Type: git.TypeBlob, Data: []byte("April: open the vents\nJune: shade the roof\n")}
	tree, err := objects.BuildTree(ctx, base, []git.TreeEdit{{Path: "docs/vents.txt", Mode: git.ModeFile, SHA: blob.SHA()}})
	if err != nil {
		return err
	}
	author, err := repos.Identity(ctx, alice)
	if err != nil {
		return err
	}
	commit, err := (&git.Commit{Tree: tree.SHA, Parents: []git.SHA{tip}, Author: author, Committer: author,
		Message: "Say when to open the vents\n\nMade over the API, without a clone.\n"}).Encode()
	if err != nil {
		return err
	}
	if _, err := repos.WriteObjects(ctx, a.ID, append(tree.Objects, blob, commit)); err != nil {
		return err
	}
	_, err = repos.UpdateRef(ctx, a, "refs/heads/main", commit.SHA(), false)
	return err
}
