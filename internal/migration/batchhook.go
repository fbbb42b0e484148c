package migration

import (
	"errors"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/repo"
)

// hooks writes webhooks. They are inactive and have no secret, because no source reveals secrets: an administrator
// enters the secret and switches the webhook on. A webhook that was imported before is not changed.
func (b *batch) hooks(list []*row) error {
	for _, r := range newRows(list) {
		rec := r.Record.(*Hook)
		made, left, err := hook.InsertPast(b.tx, b.im.s.Mirrors.Networks, hook.Past{Repo: b.im.a.ID, URL: rec.URL,
			Form: rec.ContentType == "form", Insecure: rec.Insecure, Events: rec.Events})
		switch {
		case errs.KindOf(err) == errs.Internal && err != nil:
			return err
		case err != nil:
			r.refusal = errors.New(repo.ErrText(err))
			continue
		}
		r.id = made
		word := "switch it on"
		if rec.HadSecret {
			word = "enter its secret and switch it on"
		}
		b.note("%s came inactive: %s at Settings, Webhooks", describe(rec), word)
		if len(left) > 0 {
			b.note("%s: events that this server does not know were left out: %s", describe(rec), strings.Join(left, ", "))
		}
	}
	for _, r := range changedRows(list) {
		b.note("%s has changed at the source, and was not changed here", describe(r.Record))
	}
	return nil
}
