package team

import (
	"encoding/json"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/hook"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Actions of the audit log.
const (
	created   = audit.TeamCreate
	edited    = audit.TeamUpdate
	destroyed = audit.TeamDestroy
)

// record notes what happens to a team in the audit log of its organization.
func record(tx *db.Tx, t *Team, action audit.Action, changes map[string]any) error {
	if changes == nil {
		changes = map[string]any{}
	}
	changes["team"] = t.Slug
	return audit.Record(tx, audit.Entry{Action: action, Org: t.Org.Audited(), Right: audit.OrgOwner,
		Changes: changes})
}

// recordMember notes what happens to a membership. Below and Outside stand for none.
func recordMember(tx *db.Tx, a *Access, user *account.Account, was, now Role) error {
	action, changes := audit.TeamUpdateMember, map[string]any{"team": a.Slug}
	switch {
	case was < Member:
		action = audit.TeamAddMember
	case now < Member:
		action = audit.TeamRemoveMember
	}
	if was >= Member {
		changes["old_role"] = was.String()
	}
	if now >= Member {
		changes["role"] = now.String()
	}
	right := audit.OrgOwner
	switch {
	case user.ID == account.IDOf(a.Caller):
		right = audit.Self
	case !a.Owner:
		right = audit.TeamMaintainer
	}
	return audit.Record(tx, audit.Entry{Action: action, Org: a.Org.Audited(), User: user.Audited(),
		Right:   right,
		Changes: changes})
}

// recordRepo notes what happens to the role of a team on a repository.
func recordRepo(tx *db.Tx, t *Team, r *repo.Repo, was, now account.Role) error {
	action, changes := audit.TeamUpdateRepo, map[string]any{"team": t.Slug}
	switch account.None {
	case was:
		action = audit.TeamAddRepo
	case now:
		action = audit.TeamRemoveRepo
	}
	if was != account.None {
		changes["old_permission"] = was.String()
	}
	if now != account.None {
		changes["permission"] = now.String()
	}
	return audit.Record(tx, r.Audited(action, changes))
}

// changesOf returns what an edit changed: as payloads of webhooks have it, and for the audit log.
func changesOf(before, after *Team) (told, audited map[string]any) {
	told, audited = map[string]any{}, map[string]any{}
	if before.Name != after.Name {
		told["name"] = hook.From(before.Name)
		audited["old_name"], audited["name"] = before.Name, after.Name
	}
	if text(before.Description) != text(after.Description) {
		told["description"] = hook.From(text(before.Description))
		audited["fields"] = []string{"description"}
	}
	if before.Secret != after.Secret {
		told["privacy"] = hook.From(before.Privacy())
		audited["old_privacy"], audited["privacy"] = before.Privacy(), after.Privacy()
	}
	if before.Quiet != after.Quiet {
		told["notification_setting"] = hook.From(before.Notifications())
		audited["notification_setting"] = after.Notifications()
	}
	if before.parentID() != after.parentID() {
		told["parent"] = hook.From(before.parentSlug())
		audited["old_parent"], audited["parent"] = before.parentSlug(), after.parentSlug()
	}
	return told, audited
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (t *Team) parentSlug() string {
	if t.Parent == nil {
		return ""
	}
	return t.Parent.Slug
}

// tell records the webhook event of a team. Only webhooks of its organization get it, and Apps there.
func tell(tx *db.Tx, t *Team, by *account.Caller, action string, changes map[string]any) error {
	info, err := hook.ListeningOwner(tx, t.Org.ID, "team")
	if err != nil || info == nil {
		return err
	}
	parts, err := hook.Part("team", newPayload(t, info))
	if err != nil {
		return err
	}
	return hook.RecordForOwner(tx, t.Org.ID, 0, hook.Event{Name: "team", Action: action,
		Actor: account.IDOf(by),
		About: hook.About{Changes: changes, Parts: parts}})
}

// tellMember records the webhook event of a person who joined or left a team.
func tellMember(tx *db.Tx, a *Access, user *account.Account, action string) error {
	info, err := hook.ListeningOwner(tx, a.Org.ID, "membership")
	if err != nil || info == nil {
		return err
	}
	parts := map[string]json.RawMessage{"scope": json.RawMessage(`"team"`)}
	if parts["team"], err = web.Marshal(newPayload(a.Team, info)); err != nil {
		return err
	}
	if parts["member"], err = web.Marshal(account.NewSimple(user, info)); err != nil {
		return err
	}
	return hook.RecordForOwner(tx, a.Org.ID, 0, hook.Event{Name: "membership", Action: action,
		Actor: account.IDOf(a.Caller), About: hook.About{User: user.ID, Parts: parts}})
}

// tellRepo records the webhook events of a team whose role on a repository changed. The repository's own webhooks
// hear of closed teams alone, since they are for others than the owners of the organization.
func tellRepo(tx *db.Tx, a *Access, r *repo.Repo, was, now account.Role) error {
	e := hook.Event{Name: "team", Action: "edited", Actor: account.IDOf(a.Caller)}
	list := []hook.Event{e}
	switch account.None {
	case was:
		list[0].Action = "added_to_repository"
		add := e
		add.Name, add.Action = "team_add", ""
		list = append(list, add)
	case now:
		list[0].Action = "removed_from_repository"
	default:
		list[0].About.Changes = map[string]any{"repository": map[string]any{"permissions": hook.From(
			repo.NewPermissions(was))}}
	}
	for n := range list {
		if err := tellOnRepo(tx, a.Team, r, list[n]); err != nil {
			return err
		}
	}
	return nil
}

func tellOnRepo(tx *db.Tx, t *Team, r *repo.Repo, e hook.Event) error {
	forRepo := e.Name == "team_add" && !t.Secret
	info, err := hook.ListeningOwner(tx, t.Org.ID, e.Name)
	if forRepo {
		info, err = hook.Listening(tx, r.ID, e.Name)
	}
	if err != nil || info == nil {
		return err
	}
	if e.About.Parts, err = hook.Part("team", newPayload(t, info)); err != nil {
		return err
	}
	if forRepo {
		return hook.Record(tx, r.ID, e)
	}
	return hook.RecordForOwner(tx, t.Org.ID, r.ID, e)
}
