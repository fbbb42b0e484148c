package settings

import (
	"net/http"
	"strings"
	"time"

	"arbor/internal/account/signkey"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

type signingView struct {
	view
	GPG, SSH []signingKey
	Typed    string // the name
	Text     string
}

// signingKey is a key that signs, in the list of its kind.
type signingKey struct {
	ID        signkey.ID
	Kind      string // as in the form: gpg or ssh
	Name      string
	Handle    string
	Subkeys   string
	Emails    []signingEmail
	Ended     string // expired or revoked; empty: it counts
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
}

type signingEmail struct {
	Address  string
	Verified bool
}

// signingKind is how the form and tokens name a kind of keys.
type signingKind struct {
	kind         signkey.Kind
	write, admin scope.Set
}

var signingKinds = map[string]signingKind{
	"gpg": {signkey.OpenPGP, scope.WriteGPGKeys, scope.AdminGPGKeys},
	"ssh": {signkey.SSH, scope.WriteSigningKeys, scope.AdminSigningKeys},
}

// GET /settings/signing
//
// SigningKeys lists the keys with which the caller signs commits and tags.
func (p *Pages) SigningKeys(w http.ResponseWriter, r *http.Request) error {
	v, err := p.signingList(r)
	return p.t.Show(w, r, "signing.html", v, err)
}

func (p *Pages) signingList(r *http.Request) (*signingView, error) {
	v := &signingView{}
	var err error
	if v.view, err = p.frame(r, "signing", "Signing keys"); err != nil {
		return nil, err
	}
	for name, to := range map[string]*[]signingKey{"gpg": &v.GPG, "ssh": &v.SSH} {
		keys, err := p.signing.Own(r.Context(), caller(r), signingKinds[name].kind)
		if err != nil {
			return nil, err
		}
		for n := range keys.List {
			*to = append(*to, newSigningKey(name, &keys.List[n], keys.Verified))
		}
	}
	return v, nil
}

func newSigningKey(kind string, k *signkey.Key, verified map[string]bool) signingKey {
	s := signingKey{ID: k.ID, Kind: kind, Name: k.Name, Handle: k.Handle, CreatedAt: page.Moment(k.CreatedAt)}
	if k.ExpiresAt != 0 {
		s.ExpiresAt = page.Moment(k.ExpiresAt)
	}
	switch {
	case k.Revoked:
		s.Ended = "revoked"
	case k.ExpiresAt != 0 && time.Now().After(s.ExpiresAt):
		s.Ended = "expired"
	}
	handles := make([]string, len(k.Subkeys))
	for n, sub := range k.Subkeys {
		handles[n] = sub.Handle
	}
	s.Subkeys = strings.Join(handles, ", ")
	for _, address := range k.Emails {
		s.Emails = append(s.Emails, signingEmail{address, verified[address]})
	}
	return s
}

// POST /settings/signing
//
// ChangeSigningKeys adds a key, or with do=remove deletes the one of kind and id.
func (p *Pages) ChangeSigningKeys(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	done := "The key was added."
	if f.Get("do") == "remove" {
		done = "The key was removed."
		err = p.removeSigningKey(r, f)
	} else {
		err = p.addSigningKey(r, f)
	}
	if err == nil {
		return page.Done(w, r, "/settings/signing", done)
	}
	return page.RefuseWith(p.t, w, r, "signing.html", err, p.signingList, func(v *signingView) {
		v.Typed, v.Text = f.Get("name"), f.Get("key")
	})
}

// addSigningKey adds a key, whose text says of which kind it is.
func (p *Pages) addSigningKey(r *http.Request, f page.Form) error {
	text, name := f.Text("key"), "ssh"
	if signkey.KindOf(text) == signkey.OpenPGP {
		name = "gpg"
	}
	of := signingKinds[name]
	ctx, err := p.kit.WriteOwn(r, of.write, false)
	if err == nil {
		_, err = p.signing.Add(ctx, caller(r), signkey.NewKey{Kind: of.kind, Name: f.Text("name"), Text: text})
	}
	return err
}

// removeSigningKey deletes a key; a key that is already gone is not an error.
func (p *Pages) removeSigningKey(r *http.Request, f page.Form) error {
	of, known := signingKinds[f.Get("kind")]
	if !known {
		return errs.New(errs.Invalid, "kind must be gpg or ssh")
	}
	ctx, err := p.kit.DeleteOwn(r, of.admin, false)
	if err != nil {
		return err
	}
	id, _ := web.ParseNumber(f.Get("id"))
	if err = p.signing.Remove(ctx, caller(r), of.kind, signkey.ID(id)); errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}
