package forge

import (
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/repo/settings"
)

// Transfer gives a repository to another owner. Its network stays as it is: forks of a
// private one whose owners do not see it any more are withdrawn by that alone.
func (f *Forge) Transfer(tx *db.Tx, r *repo.Repo, h settings.Handover, by account.ID) error {
	from, former := r.OwnerID, *r
	// The organization that had it is not told any more of what it was not told yet.
	if r.Owner.Kind == account.Organization {
		if err := hook.Leave(tx, r.ID, from); err != nil {
			return err
		}
	}
	// The row, the redirect from the old address, the counters of both owners.
	if err := settings.SetOwner(tx, r, h); err != nil {
		return err
	}
	if err := fulltext.NoteRepo(tx, int64(r.ID)); err != nil { // it may have another name
		return err
	}
	// Who had it stays with a role, who has it needs none.
	if err := settings.FollowOwner(tx, r, h); err != nil {
		return err
	}
	// The feeds of organizations.
	if err := activity.FollowTransfer(tx, r); err != nil {
		return err
	}
	// Pull requests from its branches are found by the new owner.
	if err := pull.FollowTransfer(tx, r.ID, from, r.OwnerID); err != nil {
		return err
	}
	// Those whose authors no longer see both sides are closed.
	if err := f.Pulls.FollowLoss(tx, r, by); err != nil {
		return err
	}
	// Who may not be assigned any more is not.
	if err := issue.FollowTransfer(tx, r); err != nil {
		return err
	}
	// Its own hooks, and those of the organization that has it now.
	told := repository("transferred", by, nil)
	told.About.User = from
	if err := hook.Record(tx, r.ID, told); err != nil {
		return err
	}
	// Apps reach what their installations' accounts own.
	if err := f.Apps.FollowTransfer(tx, &former, r.OwnerID, by); err != nil {
		return err
	}
	return recordTransfer(tx, &former, r, h, by)
}

// recordTransfer notes a transfer in the audit log: for the organization that gave, for the one
// that got, and for those who got a role by it.
func recordTransfer(tx *db.Tx, former, r *repo.Repo, h settings.Handover, by account.ID) error {
	changes := map[string]any{"old_name": former.FullName(), "name": r.FullName()}
	if former.Owner.Kind == account.Organization {
		// What it is called elsewhere, its former owners may not be allowed to know.
		if err := audit.Record(tx, former.Audited(audit.RepoTransferOut, nil)); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(h.Join)) {
		granted := map[string]any{"permission": h.Join[id].String()}
		if err := recordCollaborator(tx, r, audit.RepoAddMember, id, by, granted); err != nil {
			return err
		}
	}
	return audit.Record(tx, r.Audited(audit.RepoTransfer, changes))
}
