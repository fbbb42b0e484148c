package forge

import (
	"encoding/json"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/detect"
	"arbor/internal/fulltext"
	"arbor/internal/hook"
	"arbor/internal/invitation"
	"arbor/internal/pull/automerge"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// repository returns a webhook event of a repository.
func repository(action string, by account.ID, changes map[string]any) hook.Event {
	return hook.Event{Name: "repository", Action: action, Actor: by, About: hook.About{Changes: changes}}
}

// Edit applies the effects of changed settings of a repository.
func (f *Forge) Edit(tx *db.Tx, before, after *repo.Repo, by account.ID) error {
	if before.Name != after.Name || textOf(before.Description) != textOf(after.Description) ||
		before.Topics != after.Topics {
		if err := fulltext.NoteRepo(tx, int64(after.ID)); err != nil {
			return err
		}
	}
	if before.DefaultBranch != after.DefaultBranch {
		if err := detect.Note(tx, after.ID); err != nil {
			return err
		}
	}
	if before.Merging != after.Merging || before.DefaultBranch != after.DefaultBranch ||
		before.Archived != after.Archived {
		if err := automerge.WakeRepo(tx, after.ID); err != nil {
			return err
		}
	}
	return tellEdited(tx, before, after, by)
}

// tellEdited records the webhook events of changed settings.
func tellEdited(tx *db.Tx, before, after *repo.Repo, by account.ID) error {
	var list []hook.Event
	if before.Name != after.Name {
		list = append(list, repository("renamed", by, map[string]any{
			"repository": map[string]any{"name": hook.From(before.Name)}}))
	}
	changes := map[string]any{}
	if was := before.Description; textOf(was) != textOf(after.Description) {
		changes["description"] = hook.From(was)
	}
	if was := before.Homepage; textOf(was) != textOf(after.Homepage) {
		changes["homepage"] = hook.From(was)
	}
	if was := before.DefaultBranch; was != after.DefaultBranch {
		changes["default_branch"] = hook.From(was)
	}
	if was := before.Topics; was != after.Topics {
		changes["topics"] = hook.From(was.Names())
	}
	if len(changes) > 0 {
		list = append(list, repository("edited", by, changes))
	}
	if before.Archived != after.Archived {
		action := "unarchived"
		if after.Archived {
			action = "archived"
		}
		list = append(list, repository(action, by, nil))
	}
	return hook.Record(tx, after.ID, list...)
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// tellCreated records the webhook events of a new repository: for the parent of a fork, for the
// organization that owns it, and for Apps installed for all repositories of its owner.
func tellCreated(tx *db.Tx, r *repo.Repo, by account.ID) error {
	if r.ParentID != 0 {
		err := hook.Record(tx, r.ParentID,
			hook.Event{Name: "fork", Actor: by, About: hook.About{ID: int64(r.ID)}})
		if err != nil {
			return err
		}
	}
	return hook.RecordForOwner(tx, r.OwnerID, r.ID, repository("created", by, nil))
}

// tellDeleted records the webhook events of a deleted repository, for its organization and for Apps that
// can access it. Its own webhooks are deleted with it.
func tellDeleted(tx *db.Tx, r *repo.Repo, by account.ID) error {
	if err := hook.Drop(tx, r.ID); err != nil {
		return err
	}
	info, err := hook.ListeningOwner(tx, r.OwnerID, "repository")
	if err != nil || info == nil {
		return err
	}
	e := repository("deleted", by, nil)
	e.About.Parts, err = hook.Part("repository", repo.NewPayload(&repo.Access{Repo: r}, info))
	if err != nil {
		return err
	}
	if err := addOwner(tx, e.About.Parts, r, by, info); err != nil {
		return err
	}
	return hook.RecordForOwner(tx, r.OwnerID, r.ID, e)
}

// addOwner renders the owner of a repository that is being deleted for a webhook payload: the organization,
// and the sender if the operator deletes it, because GitHub's payloads always have one.
func addOwner(
	tx *db.Tx, parts map[string]json.RawMessage, r *repo.Repo, by account.ID, info *web.Info,
) error {
	owner, err := account.ByID(tx, r.OwnerID)
	if err != nil {
		return err
	}
	if r.Owner.Kind == account.Organization {
		if parts["organization"], err = web.Marshal(account.NewOrganization(owner, info)); err != nil {
			return err
		}
	}
	if by == 0 {
		parts["sender"], err = web.Marshal(account.NewSimple(owner, info))
	}
	return err
}

// tellVisibility records the webhook events of a changed visibility.
func tellVisibility(tx *db.Tx, r *repo.Repo, by account.ID) error {
	if r.Private {
		return hook.Record(tx, r.ID, repository("privatized", by, nil))
	}
	return hook.Record(tx, r.ID, hook.Event{Name: "public", Actor: by}, repository("publicized", by, nil))
}

// tellCollaborator records the webhook event of a collaborator who was added, removed or got another role.
func tellCollaborator(
	tx *db.Tx, r *repo.Repo, userID account.ID, before, after account.Role, by account.ID,
) error {
	e := hook.Event{Name: "member", Action: "added", Actor: by, About: hook.About{User: userID}}
	switch {
	case before == after:
		return nil
	case after == account.None:
		e.Action = "removed"
	case before != account.None:
		e.Action = "edited"
		e.About.Changes = map[string]any{"old_permission": hook.From(before.Name()),
			"permission": map[string]any{"from": before.Name(), "to": after.Name()}}
	default:
		e.About.Changes = map[string]any{"permission": map[string]any{"to": after.Name()}}
	}
	return hook.Record(tx, r.ID, e)
}

// TellMember ends the invitation of a user who joined an organization, and records the webhook event of one who joined
// or left. Reviews of a new member may count.
func (f *Forge) TellMember(tx *db.Tx, org, user *account.Account, owner, joined bool, by account.ID) error {
	if joined {
		if err := invitation.SettleMember(tx, org, user); err != nil {
			return err
		}
		if err := f.BeginOrgAccess(tx, org.ID); err != nil {
			return err
		}
	}
	info, err := hook.ListeningOwner(tx, org.ID, "organization")
	if err != nil || info == nil {
		return err
	}
	action := "member_removed"
	if joined {
		action = "member_added"
	}
	m := &account.Membership{Org: org, User: user, Owner: owner}
	membership, err := json.Marshal(account.MembershipOf(m, info))
	if err != nil {
		return err
	}
	return hook.RecordForOwner(tx, org.ID, 0, hook.Event{Name: "organization", Action: action, Actor: by,
		About: hook.About{User: user.ID, Parts: map[string]json.RawMessage{"membership": membership}}})
}

// tellOrgDeleted records the webhook event of an organization that is being deleted. Its webhooks are kept
// until the event is delivered.
func tellOrgDeleted(tx *db.Tx, id, by account.ID) error {
	info, err := hook.ListeningOwner(tx, id, "organization")
	if err != nil || info == nil {
		return err
	}
	org, err := account.ByID(tx, id)
	if err != nil {
		return err
	}
	e := hook.Event{Name: "organization", Action: "deleted", Actor: by}
	if e.About.Parts, err = hook.Part("organization", account.NewOrganization(org, info)); err != nil {
		return err
	}
	if by == 0 { // the operator: GitHub's payloads always have a sender
		if e.About.Parts["sender"], err = json.Marshal(account.NewSimple(org, info)); err != nil {
			return err
		}
	}
	return hook.Bequeath(tx, id, e)
}

// TellRename records the webhook event of an organization's new login.
func (f *Forge) TellRename(tx *db.Tx, org *account.Account, from string, by account.ID) error {
	return hook.RecordForOwner(tx, org.ID, 0, hook.Event{Name: "organization", Action: "renamed", Actor: by,
		About: hook.About{Changes: map[string]any{"login": hook.From(from)}}})
}
