package release

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/hook"
	"arbor/internal/notification"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// event is the webhook payload about a release.
func event(id int64, action string, by account.ID) hook.Event {
	return hook.Event{Name: "release", Action: action, Actor: by, About: hook.About{ID: id}}
}

// tell records the webhook events, notifications and activities of a new release (before is nil) or a
// changed one.
func (s *Service) tell(tx *db.Tx, before, after *Release, by *account.Caller) error {
	var list []hook.Event
	add := func(action string) { list = append(list, event(after.ID, action, account.IDOf(by))) }
	if before == nil {
		add("created")
	}
	if !after.Draft && (before == nil || before.Draft) {
		add("published")
		err := notification.Note(tx, notification.Act{RepoID: after.RepoID, Release: after.ID,
			Actor:    account.IDOf(by),
			Everyone: true, About: []notification.What{{Kind: notification.Published}}})
		if err == nil && (before == nil || before.PublishedAt.IsZero()) {
			err = s.forge.PublishRelease(tx, after)
		}
		if err != nil {
			return err
		}
	}
	if before != nil && after.Draft && !before.Draft {
		add("unpublished")
	}
	// It is a full release, or a prerelease, for everyone from now on.
	seen := func(r *Release, pre bool) bool { return r != nil && !r.Draft && r.Prerelease == pre }
	if seen(after, false) && !seen(before, false) {
		add("released")
	}
	if seen(after, true) && !seen(before, true) {
		add("prereleased")
	}
	if changes := changed(before, after); len(changes) > 0 {
		e := event(after.ID, "edited", account.IDOf(by))
		e.About.Changes = changes
		list = append(list, e)
	}
	return hook.Record(tx, after.RepoID, list...)
}

// changed returns the values that an edit replaced.
func changed(before, after *Release) map[string]any {
	changes := map[string]any{}
	if before == nil {
		return changes
	}
	if old := textOf(before.Name); old != textOf(after.Name) {
		changes["name"] = hook.From(old)
	}
	if old := textOf(before.Body); old != textOf(after.Body) {
		changes["body"] = hook.From(old)
	}
	if before.Tag != after.Tag {
		changes["tag_name"] = hook.From(before.Tag)
	}
	return changes
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// recordDeleted records the webhook event of a release that is being deleted.
func (s *Service) recordDeleted(tx *db.Tx, a *repo.Access, r *Release) error {
	info, err := hook.Listening(tx, a.ID, "release")
	if err != nil || info == nil {
		return err
	}
	ctx := web.WithInfo(context.Background(), info) // of no request: nothing waits in a transaction
	payload, err := s.ForHook(ctx, tx, a, r.ID)
	if err != nil {
		return err
	}
	e := event(r.ID, "deleted", account.IDOf(a.Caller))
	if e.About.Parts, err = hook.Part("release", payload); err != nil {
		return err
	}
	return hook.Record(tx, a.ID, e)
}

// ForHook renders the release with an id for webhook payloads. Error: 404.
func (s *Service) ForHook(ctx context.Context, tx *db.Tx, a *repo.Access, id int64) (any, error) {
	r, err := byID(tx, a.ID, id)
	if err != nil {
		return nil, err
	}
	p, err := loadPage(ctx, tx, map[repo.ID]*repo.Access{a.ID: a}, []*Release{r})
	if err != nil {
		return nil, err
	}
	if err := p.Bodies(web.Unsent(ctx), s.issues); err != nil {
		return nil, err
	}
	return p.payload(0)
}
