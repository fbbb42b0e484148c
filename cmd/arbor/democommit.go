package main

import (
	"context"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// demoCommit adds a file to a branch, or replaces it; a branch that is not there
// begins with main.
type demoCommit struct {
	by, owner, branch, path, content, message string // the repository is OWNER/greenhouse
}

// commitWithoutClone adds a commit to alice's greenhouse.
func (d *demo) commitWithoutClone(ctx context.Context, repos *repo.Service) error {
	return d.commit(ctx, repos, demoCommit{by: "alice", owner: "alice", branch: "main",
		path:    "docs/vents.txt",
		content: "April: open the vents\nJune: shade the roof\n",
		message: "Say when to open the vents\n\nMade over the API, without a clone.\n"})
}

// commit creates a commit as the API does for a client without a clone: blob,
// trees and commit are written, then a ref moves.
func (d *demo) commit(ctx context.Context, repos *repo.Service, c demoCommit) error {
	found, err := repos.Find(ctx, d.callers[c.by], c.owner, "greenhouse")
	if err != nil {
		return err
	}
	a := &found.Access
	tip, err := repos.Ref(ctx, a, "refs/heads/"+c.branch)
	born := !errs.Is(err, errs.NotFound)
	if !born {
		tip, err = repos.Ref(ctx, a, "refs/heads/main")
	}
	if err != nil {
		return err
	}
	objects, release, err := repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	base, err := objects.PeelToTree(ctx, tip)
	if err != nil {
		return err
	}
	blob := git.NewObject{Type: git.TypeBlob, Data: []byte(c.content)}
	tree, err := objects.BuildTree(ctx, base,
		[]git.TreeEdit{{Path: c.path, Mode: git.ModeFile, SHA: blob.SHA()}})
	if err != nil {
		return err
	}
	author, err := repos.Identity(ctx, a.Caller)
	if err != nil {
		return err
	}
	commit, err := (&git.Commit{
		Tree: tree.SHA, Parents: []git.SHA{tip}, Author: author, Committer: author, Message: c.message,
	}).Encode()
	if err != nil {
		return err
	}
	if _, err := repos.WriteObjects(ctx, a, append(tree.Objects, blob, commit)); err != nil {
		return err
	}
	if born {
		_, err = repos.UpdateRef(ctx, a, "refs/heads/"+c.branch, commit.SHA(), false)
	} else {
		_, err = repos.CreateRef(ctx, a, "refs/heads/"+c.branch, commit.SHA())
	}
	return err
}
