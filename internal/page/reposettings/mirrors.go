package reposettings

import (
	"net/http"
	"strconv"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/mirror"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// mirrorsView is the mirrors of the repository.
type mirrorsView struct {
	view
	Pull     *mirror.Mirror // nil: it is none
	Push     []*mirror.Mirror
	Off      bool // the server has no mirrors
	URL      string
	Username string
	Minutes  string
	Follow   bool
	Once     bool
	Adds     bool   // a push mirror was typed
	HookURL  string // for a webhook of the source
	Secret   string // of that, which was made; empty: none
}

// minutes writes a time as the form has it.
func minutes(d time.Duration) string { return strconv.FormatInt(int64(d/time.Minute), 10) }

// GET /{owner}/{repo}/settings/mirrors
//
// Mirrors lists the mirrors. Errors: 401, 403.
func (p *Pages) Mirrors(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.mirrors(r, a)
	return p.t.Show(w, r, "mirrors.html", v, err)
}

func (p *Pages) mirrors(r *http.Request, a *repo.Access) (*mirrorsView, error) {
	v := &mirrorsView{Off: p.of.Mirrors.Off, HookURL: mirror.HookURL(r, a), Follow: true, Minutes: minutes(mirror.DefaultEvery)}
	var err error
	if v.view, err = p.frame(r, a, "mirrors", "Mirrors"); err != nil {
		return nil, err
	}
	if v.Push, err = p.of.Mirrors.ListPush(r.Context(), a); err != nil {
		return nil, err
	}
	v.Pull, err = p.of.Mirrors.Get(r.Context(), a)
	if errs.Is(err, errs.NotFound) {
		v.Pull, err = nil, nil
	}
	if v.Pull != nil {
		v.URL, v.Username, v.Follow, v.Once = v.Pull.URL, v.Pull.Username, v.Pull.FollowHead, v.Pull.Once
		v.Minutes = minutes(v.Pull.Every)
	}
	return v, err
}

// POST /{owner}/{repo}/settings/mirrors
//
// ChangeMirrors sets up, updates or removes a mirror or the secret of its webhook, as do says. Errors: 401, 403, 404.
func (p *Pages) ChangeMirrors(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayAdmin(a); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if f.Get("do") == "secret" {
		return p.newMirrorSecret(w, r, a)
	}
	done, err := p.changeMirrors(r, a, f)
	if err == nil {
		return page.Done(w, r, at(a, "/mirrors"), done)
	}
	return page.RefuseWith(p.t, w, r, "mirrors.html", err,
		func(r *http.Request) (*mirrorsView, error) { return p.mirrors(r, a) },
		func(v *mirrorsView) {
			v.URL, v.Username, v.Minutes = f.Get("remote_url"), f.Get("username"), f.Get("minutes")
			v.Follow, v.Once, v.Adds = f.Checked("follow"), f.Checked("once"), f.Get("do") == "add"
		})
}

// newMirrorSecret makes the secret of the webhook of the source, and shows it only now.
func (p *Pages) newMirrorSecret(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx, err := p.kit.Write(r, a, account.Admin)
	if err != nil {
		return err
	}
	secret, err := p.of.Mirrors.NewSecret(ctx, a)
	if err != nil {
		return err
	}
	v, err := p.mirrors(r, a)
	if err != nil {
		return err
	}
	v.Secret = secret
	return p.t.Secret(w, r, "mirrors.html", v)
}

// changeMirrors does what a form says, and returns what was done.
func (p *Pages) changeMirrors(r *http.Request, a *repo.Access, f page.Form) (done string, err error) {
	mirrors, do := p.of.Mirrors, f.Get("do")
	open := p.kit.Write
	if do == "remove" || do == "end" || do == "forget" {
		open = p.kit.DeleteArchived
	}
	ctx, err := open(r, a, account.Admin)
	if err != nil {
		return "", err
	}
	e := mirror.Edit{URL: f.Text("remote_url"), Username: f.Text("username"), FollowHead: f.Checked("follow"),
		Once: f.Checked("once")}
	if password := f.Get("password"); password != "" {
		e.Password = web.Some(password)
	}
	switch do {
	case "set":
		every, _ := web.ParseNumber(f.Get("minutes"))
		e.Every = time.Duration(min(max(every, 1), 1<<20)) * time.Minute
		_, _, err = mirrors.Set(ctx, a, e)
		return "The repository is a mirror. It is copied soon.", err
	case "end":
		return "The repository is no longer a mirror.", mirrors.Remove(ctx, a)
	case "forget":
		return "The secret was removed.", mirrors.RemoveSecret(ctx, a)
	case "add":
		_, err = mirrors.AddPush(ctx, a, e)
		return "The push mirror was added. It is copied soon.", err
	case "remove":
		id, _ := web.ParseNumber(f.Get("id"))
		if err = mirrors.RemovePush(ctx, a, id); errs.Is(err, errs.NotFound) {
			err = nil // somebody else was faster
		}
		return "The push mirror was removed.", err
	case "accept":
		id, ok := web.ParseNumber(f.Get("id"))
		if !ok && f.Get("id") != "" { // none: the pull mirror
			return "", errs.Absent()
		}
		_, err = mirrors.AcceptHostKey(ctx, a, id, f.Text("fingerprint"))
		return "The host key was accepted. It is copied soon.", err
	case "push":
		return "The push mirrors are updated soon.", mirrors.Ask(ctx, a, true)
	default:
		return "The mirror is updated soon.", mirrors.Ask(ctx, a, false)
	}
}
