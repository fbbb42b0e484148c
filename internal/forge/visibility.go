package forge

import (
	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
	"arbor/internal/repo/settings"
	"arbor/internal/star"
)

// ChangeVisibility publishes a private repository, or hides a public one. Edit rejects forks before.
func (f *Forge) ChangeVisibility(tx *db.Tx, r *repo.Repo, by account.ID) error {
	changes := map[string]any{"old_visibility": repo.Visibility(r.Private),
		"visibility": repo.Visibility(!r.Private)}
	if err := audit.Record(tx, r.Audited(audit.RepoAccess, changes)); err != nil {
		return err
	}
	// Close pull requests between it and its forks, before it leaves the network.
	if err := f.Pulls.FollowVisibility(tx, r, by); err != nil {
		return err
	}
	// A network is either public or private, so its forks form their own.
	if err := network.Leave(tx, r, false); err != nil {
		return err
	}
	// The row, and the owner's counters.
	if err := settings.SetVisibility(tx, r, !r.Private); err != nil {
		return err
	}
	if err := activity.FollowVisibility(tx, r); err != nil {
		return err
	}
	// Stars and watches are listed and counted by visibility.
	if err := star.FollowVisibility(tx, r); err != nil {
		return err
	}
	if r.Private {
		if err := dropLost(tx, issuekit.InRepo(r.ID), by); err != nil {
			return err
		}
	}
	if err := tellVisibility(tx, r, by); err != nil {
		return err
	}
	return activity.NoteVisibility(tx, r, by)
}
