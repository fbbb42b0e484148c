package settings

import (
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/notification"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

type notificationsView struct {
	view
	notification.Settings
	Mail    bool   // the server sends mail
	Address string // to which it goes; empty: none is verified
}

// GET /settings/notifications
//
// Notifications shows which notifications the caller gets by mail.
func (p *Pages) Notifications(w http.ResponseWriter, r *http.Request) error {
	v, err := p.notifications(r)
	return p.t.Show(w, r, "notifications.html", v, err)
}

func (p *Pages) notifications(r *http.Request) (*notificationsView, error) {
	v := &notificationsView{Mail: p.mail.On()}
	var err error
	if v.view, err = p.frame(r, "notifications", "Notifications"); err != nil {
		return nil, err
	}
	if v.Settings, err = p.kit.Notices.MailSettings(r.Context(), caller(r)); err != nil {
		return nil, err
	}
	v.Address, err = p.kit.Notices.MailAddress(r.Context(), caller(r))
	return v, err
}

// POST /settings/notifications
//
// SaveNotifications chooses which notifications the caller gets by mail, and whether at once or as a list of each day or
// week.
func (p *Pages) SaveNotifications(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	digest, ok := web.ParseNumber(f.Get("digest"))
	if f.Get("digest") == "0" {
		digest, ok = 0, true
	}
	to := notification.Settings{Participating: f.Get("participating") != "", Watching: f.Get("watching") != "",
		Own: f.Get("own") != "", Digest: notification.Digest(digest)}
	ctx, err := p.kit.WriteOwn(r, scope.User, false)
	switch {
	case err != nil:
	case !ok:
		err = errs.Validation(errs.Field{Resource: notification.Resource, Field: "digest", Code: errs.InvalidField})
	default:
		err = p.kit.Notices.SetMailSettings(ctx, caller(r), to)
	}
	if err == nil {
		return page.Done(w, r, "/settings/notifications", "Your choice was saved.")
	}
	return page.RefuseWith(p.t, w, r, "notifications.html", err, p.notifications, func(v *notificationsView) {
		v.Settings = to
	})
}
