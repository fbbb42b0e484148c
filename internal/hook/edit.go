package hook

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/hook/outgoing"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Service holds what the operations on hooks share.
type Service struct {
	db       *db.DB
	repos    *repo.Service
	networks outgoing.Networks
}

// New returns the service. Hooks may send to the internet and to the given internal networks.
func New(d *db.DB, repos *repo.Service, networks outgoing.Networks) *Service {
	return &Service{d, repos, networks}
}

// Edit is what somebody gives a hook; other fields keep their values.
type Edit struct {
	URL         web.Opt[string]
	ContentType web.Opt[string] // json or form
	Insecure    web.Opt[bool]
	Secret      web.Opt[string] // the one that answers show keeps the one that there is
	Replace     bool            // the configuration as a whole: a secret that is not given goes
	Active      web.Opt[bool]
	Events      web.Opt[[]string]
	Add, Remove []string
}

// readConfig reads the fields of a configuration. Their names are as in a body with prefix before them.
func (s *Service) readConfig(o *web.Object, e *Edit, prefix string) {
	e.URL, e.Secret = o.String("url", maxURL), o.String("secret", maxSecret)
	s.checkURL(&o.Faults, e, prefix)
	e.ContentType = o.Enum("content_type", contentTypes...)
	if raw := o.Raw("insecure_ssl"); raw != nil {
		switch text := strings.Trim(string(raw), `"`); text {
		case "0", "1":
			e.Insecure = web.Some(text == "1")
		default:
			o.Wrong(prefix+"insecure_ssl", errs.InvalidField, `"insecure_ssl" must be "0" or "1"`)
		}
	}
}

var contentTypes = []string{"json", "form"}

// check looks at the values of an edit, and at the secret that is only shown. prefix stands before the names of the
// configuration's fields. Error: 422.
func (s *Service) check(e *Edit, prefix string) error {
	f := web.Faults{Resource: Resource}
	for _, list := range [][]string{e.Events.Value, e.Add, e.Remove} {
		if f.CheckStrings("events", list, maxEvents, 0) {
			checkEvents(&f, "events", list)
		}
	}
	f.CheckText(prefix+"url", e.URL.Value, maxURL)
	f.CheckText(prefix+"secret", e.Secret.Value, maxSecret)
	s.checkURL(&f, e, prefix)
	if e.URL.Null {
		f.Wrong(prefix+"url", errs.MissingField, "")
	}
	if e.ContentType.Given() {
		f.CheckEnum("content_type", e.ContentType.Value, contentTypes...)
	}
	if e.Secret.Value == hidden {
		e.Secret = web.Opt[string]{}
		e.Replace = false // the one that there is was meant
	}
	return f.Err()
}

func (s *Service) checkURL(f *web.Faults, e *Edit, prefix string) {
	if !e.URL.Given() {
		return
	}
	if err := s.CheckURL(e.URL.Value); err != nil {
		f.Wrong(prefix+"url", errs.Custom, err.Error())
	}
}

// urlError is the reason why an address is invalid.
type urlError string

func (e urlError) Error() string { return string(e) }

// CheckURL returns an error if a webhook may not use an address.
func (s *Service) CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f }):
		return urlError("url must be an address that begins with http:// or https://")
	case u.User != nil:
		return urlError("url must not have a user or password in it, which would be shown: use a secret")
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return urlError("url has a port that is none")
		}
	}
	if s.networks.CheckHost(u.Hostname()) != nil {
		return urlError("url is not supported because it leads to an inner network (" + u.Hostname() +
			"), which this server's operator has not allowed with --allow-hook-networks")
	}
	return nil
}

// readEvents reads a list of events.
func readEvents(o *web.Object, field string) web.Opt[[]string] {
	list := o.Strings(field, maxEvents, 0)
	checkEvents(&o.Faults, field, list.Value)
	return list
}

func checkEvents(f *web.Faults, field string, list []string) {
	for _, e := range list {
		if !known(e) {
			f.Wrong(field, errs.InvalidField, "unknown event "+strconv.Quote(errs.Clip(e)))
			break
		}
	}
}

// apply changes a hook.
func (c *Edit) apply(h *Hook, info *web.Info, now db.Time) {
	h.URL, h.Insecure = c.URL.Or(h.URL), c.Insecure.Or(h.Insecure)
	h.Form = c.ContentType.Or(h.ContentType()) == "form"
	switch {
	case c.Secret.Value != "":
		h.Secret = &c.Secret.Value
	case c.Secret.Set || c.Replace:
		h.Secret = nil
	}
	if c.Events.Given() {
		h.Events = c.Events.Value
	}
	h.Events = slices.DeleteFunc(append(slices.Clone(h.Events), c.Add...),
		func(e string) bool { return slices.Contains(c.Remove, e) })
	h.Events = tidy(h.Events)
	if h.Active = c.Active.Or(h.Active); c.Active.Or(false) && h.LastStatus == "disabled" {
		h.LastStatus, h.LastMessage = "unused", nil
	}
	// a request of the App can change its config alone
	if h.AppID != 0 && c.URL.Given() && !c.Active.Given() {
		h.Active = true
	}
	h.Site, h.Prefix, h.UpdatedAt = info.Site, info.Prefix, now
}

// Create adds a hook and pings it. Errors: 404; 422 for one that is there, and for one too many.
func (s *Service) Create(ctx context.Context, o Owner, c Edit) (*Hook, error) {
	c.URL.Set, c.URL.Null = true, !c.URL.Given() // it needs one
	if err := s.check(&c, "config."); err != nil {
		return nil, err
	}
	var made *Hook
	err := s.db.WriteAs(ctx, o.right, func(tx *db.Tx) error {
		entry, err := o.hold(tx)
		if err != nil {
			return err
		}
		made = &Hook{RepoID: o.repo, OrgID: o.org, Active: true, Events: []string{"push"},
			Salt: newSalt(), Form: true,
			CreatedAt: tx.Now, LastStatus: "unused"}
		c.apply(made, web.From(ctx), tx.Now)
		if err := checkOthers(tx, made); err != nil {
			return err
		}
		if err := insert(tx, made); err != nil {
			return err
		}
		if err := note(tx, entry, audit.HookCreate, made); err != nil {
			return err
		}
		return addOne(tx, made, Event{Name: Ping, Actor: account.IDOf(o.caller)})
	})
	return made, err
}

func newSalt() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// told returns the audit log's data of a webhook: no secret, and of the address only the host, because
// paths may contain secrets.
func told(h *Hook) map[string]any {
	return map[string]any{"hook_id": h.ID, "host": hostOf(h.URL), "events": h.Events, "active": h.Active}
}

// note records what happens to a hook.
func note(tx *db.Tx, e audit.Entry, action audit.Action, h *Hook) error {
	e.Action, e.Changes = action, told(h)
	return audit.Record(tx, e)
}

// checkOthers refuses a hook that another one of its place is, and one too many.
func checkOthers(tx *db.Tx, h *Hook) error {
	others, err := list(tx, h.place())
	if err != nil {
		return err
	}
	where := "repository"
	if h.OrgID != 0 {
		where = "organization"
	}
	if h.ID == 0 && len(others) >= MaxHooks {
		return errs.Validation(errs.Field{Resource: Resource, Code: errs.Custom,
			Message: "A " + where + " cannot have more than " + strconv.FormatInt(MaxHooks, 10) + " hooks"})
	}
	for _, x := range others {
		if x.ID != h.ID && x.URL == h.URL && x.Form == h.Form {
			return errs.Validation(errs.Field{Resource: Resource, Code: errs.Custom,
				Message: "Hook already exists on this " + where})
		}
	}
	return nil
}

// Edit changes a hook. Errors: 404, 422 for what another hook is.
func (s *Service) Edit(ctx context.Context, o Owner, id int64, c Edit) (*Hook, error) {
	if err := s.check(&c, "config."); err != nil {
		return nil, err
	}
	return s.onHeld(ctx, o, id, func(tx *db.Tx, h *Hook, entry audit.Entry) error {
		return c.write(tx, h, web.From(ctx), entry)
	})
}

// write applies the change to a hook that is held. Error: 422 for what another hook is.
func (c *Edit) write(tx *db.Tx, h *Hook, info *web.Info, entry audit.Entry) error {
	before := *h
	c.apply(h, info, tx.Now)
	if h.URL != before.URL || h.Form != before.Form {
		if err := checkOthers(tx, h); err != nil {
			return err
		}
	}
	if err := update(tx, h); err != nil {
		return err
	}
	if before.Active && !h.Active {
		if err := dropWaiting(tx, h.ID); err != nil {
			return err
		}
	}
	reconfigured := h.URL != before.URL || h.Form != before.Form || h.Insecure != before.Insecure ||
		c.Secret.Set || c.Replace && before.Secret != nil
	if reconfigured && h.Active {
		if err := wake(tx, h.ID); err != nil {
			return err
		}
	}
	for action, differs := range map[audit.Action]bool{
		audit.HookConfigChanged: reconfigured,
		audit.HookEventsChanged: !slices.Equal(h.Events, before.Events),
		audit.HookActiveChanged: h.Active != before.Active,
	} {
		if !differs {
			continue
		}
		if err := note(tx, entry, action, h); err != nil {
			return err
		}
	}
	return nil
}

// onHeld runs fn on a hook as it is once its place is held. Error: 404.
func (s *Service) onHeld(
	ctx context.Context, o Owner, id int64, fn func(tx *db.Tx, h *Hook, entry audit.Entry) error,
) (h *Hook, err error) {
	err = s.db.WriteAs(ctx, o.right, func(tx *db.Tx) error {
		entry, err := o.hold(tx)
		if err != nil {
			return err
		}
		if h, err = byID(tx, o.ownerKey, id); err != nil {
			return err
		}
		return fn(tx, h, entry)
	})
	return h, err
}

// Remove removes a hook with its past and pending deliveries. Error: 404.
func (s *Service) Remove(ctx context.Context, o Owner, id int64) error {
	_, err := s.onHeld(ctx, o, id, func(tx *db.Tx, h *Hook, entry audit.Entry) error {
		if err := note(tx, entry, audit.HookDestroy, h); err != nil {
			return err
		}
		return remove(tx, h.ID)
	})
	return err
}

// Get reads a hook. Error: 404.
func (s *Service) Get(ctx context.Context, o Owner, id int64) (h *Hook, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Hook, error) { return byID(tx, o.ownerKey, id) })
}

// List reads all hooks, the oldest first.
func (s *Service) List(ctx context.Context, o Owner) (found []*Hook, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*Hook, error) { return list(tx, o.ownerKey) })
}
