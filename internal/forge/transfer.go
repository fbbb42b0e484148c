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
	"arbor/internal/invitation"
	"arbor/internal/issuekit"
	"arbor/internal/pin"
	"arbor/internal/pull"
	"arbor/internal/pull/automerge"
	"arbor/internal/repo"
	"arbor/internal/repo/settings"
	"arbor/internal/team"
)

// Transfer changes the owner of a repository. Its network stays the same. Forks of a private repository are
// withdrawn automatically if their owners can no longer see it.
func (f *Forge) Transfer(tx *db.Tx, r *repo.Repo, h settings.Handover, by account.ID) error {
	from, former := r.OwnerID, *r
	// Undelivered events of the former organization are dropped.
	if r.Owner.Kind == account.Organization {
		if err := hook.Leave(tx, r.ID, from); err != nil {
			return err
		}
	}
	// The row, the redirect from the old address, and the counters of both owners.
	if err := settings.SetOwner(tx, r, h); err != nil {
		return err
	}
	if err := fulltext.NoteRepo(tx, int64(r.ID)); err != nil { // its name may have changed
		return err
	}
	// The teams of the former organization lose it.
	if err := team.LeaveRepo(tx, r.ID); err != nil {
		return err
	}
	// An organization pins repositories of its own alone.
	if former.Owner.Kind == account.Organization {
		if err := pin.Leave(tx, r.ID, from); err != nil {
			return err
		}
	}
	// Other people may push, and other rules apply.
	if err := automerge.WakeRepo(tx, r.ID); err != nil {
		return err
	}
	// The former owner keeps a role; the new owner needs none.
	if err := settings.FollowOwner(tx, r, h); err != nil {
		return err
	}
	// Nobody invited people for the new owner.
	if err := invitation.FollowOwner(tx, r); err != nil {
		return err
	}
	// Feeds of organizations.
	if err := activity.FollowTransfer(tx, r); err != nil {
		return err
	}
	// Pull requests from its branches are listed under the new owner.
	if err := pull.FollowTransfer(tx, r.ID, from, r.OwnerID); err != nil {
		return err
	}
	// Close pull requests whose authors can no longer see both sides.
	if err := f.Pulls.FollowLoss(tx, r, by); err != nil {
		return err
	}
	// Other people have access.
	if err := dropLost(tx, issuekit.InRepo(r.ID), by); err != nil {
		return err
	}
	// Webhooks of the repository and of its new organization.
	told := repository("transferred", by, nil)
	told.About.User = from
	if err := hook.Record(tx, r.ID, told); err != nil {
		return err
	}
	// An installation includes the repositories of its account.
	if err := f.Apps.FollowTransfer(tx, &former, r.OwnerID, by); err != nil {
		return err
	}
	return recordTransfer(tx, &former, r, h, by)
}

// recordTransfer records a transfer in the audit log: for the former organization, for the new one, and for
// users who got a role.
func recordTransfer(tx *db.Tx, former, r *repo.Repo, h settings.Handover, by account.ID) error {
	changes := map[string]any{"old_name": former.FullName(), "name": r.FullName()}
	if former.Owner.Kind == account.Organization {
		// The former owners may not see its new name.
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
