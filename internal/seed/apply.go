package seed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	"arbor/internal/account/signkey"
	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/oauth"
	"arbor/internal/repo"
	"arbor/internal/repo/transport"
	"arbor/internal/scope"
	"arbor/internal/server"
	"arbor/internal/signup"
	"arbor/internal/web"
)

// applier applies one seed.
type applier struct {
	s         *Seed
	db        *db.DB
	clock     *clock
	server    *server.Server
	repos     *repo.Service
	transport *transport.Service
	accounts  *account.Service
	tokens    *token.Service
	callers   map[string]*account.Caller // by the folded login
	made      map[*Repo]bool
	events    []event
}

// event is one request at its time.
type event struct {
	at time.Time
	p  *position // who is to blame
	do func(ctx context.Context) error
}

func (a *applier) apply(ctx context.Context) error {
	for i := range a.s.Users {
		if err := a.user(ctx, &a.s.Users[i]); err != nil {
			return err
		}
	}
	for i := range a.s.Orgs {
		if err := a.org(ctx, &a.s.Orgs[i]); err != nil {
			return err
		}
	}
	for i := range a.s.OAuthApps {
		if err := a.oauthApp(ctx, &a.s.OAuthApps[i]); err != nil {
			return err
		}
	}
	for i := range a.s.Repos {
		if err := a.repo(ctx, &a.s.Repos[i]); err != nil {
			return err
		}
	}
	for i := range a.s.Orgs {
		if err := a.teams(ctx, &a.s.Orgs[i]); err != nil {
			return err
		}
	}
	for i := range a.s.Repos {
		a.tracker(&a.s.Repos[i])
	}
	if err := a.happen(ctx); err != nil {
		return err
	}
	for i := range a.s.Repos {
		if err := a.finish(ctx, &a.s.Repos[i]); err != nil {
			return err
		}
	}
	a.clock.set(a.s.Start)
	for i := range a.s.Plants {
		p := &a.s.Plants[i]
		body := struct {
			ID   int64   `json:"id"`
			Name string  `json:"name"`
			Tag  *string `json:"tag,omitempty"`
		}{*p.ID, p.Name, p.Tag}
		if err := a.s.errorAt(&p.position, a.send(ctx, p.Owner, "POST", "/plants", body, nil)); err != nil {
			return err
		}
	}
	if err := a.server.Settle(ctx); err != nil {
		return err
	}
	if err := a.requireFactors(ctx); err != nil {
		return err
	}
	if up := &a.s.SignUp; up.Mode != "" {
		err := signup.Change(ctx, a.db, nil, signup.Settings{Mode: signup.Mode(up.Mode), Domains: up.Domains})
		if err != nil {
			return a.s.errorAt(&up.position, err)
		}
	}
	return a.invite(ctx)
}

func (a *applier) oauthApp(ctx context.Context, p *OAuthApp) error {
	a.clock.set(a.s.Start)
	return a.s.errorAt(&p.position, a.server.Forge().OAuth.CreateChosen(ctx, oauth.Chosen{Owner: p.Owner,
		ClientID: p.ClientID, Secret: p.Secret, About: oauth.About{Name: p.Name, Description: p.Description,
			Homepage: p.Homepage, Callbacks: p.Callbacks, DeviceFlow: p.DeviceFlow}}))
}

// requireFactors has organizations and the site require second factors, as the operator would.
func (a *applier) requireFactors(ctx context.Context) error {
	for i := range a.s.Orgs {
		if o := &a.s.Orgs[i]; o.RequireFactors {
			if err := a.accounts.RequireFactors(ctx, nil, o.Login, 0); err != nil {
				return a.s.errorAt(&o.position, err)
			}
		}
	}
	if !a.s.RequireFactors {
		return nil
	}
	return a.s.errorAt(&a.s.position, a.accounts.RequireFactors(ctx, nil, "", 0))
}

// invite invites people, at the present time.
func (a *applier) invite(ctx context.Context) error {
	a.clock.set(time.Now())
	for i := range a.s.Orgs {
		o := &a.s.Orgs[i]
		for _, login := range o.Invitations {
			err := a.send(ctx, o.Owners[0], "POST", web.Path("orgs", o.Login, "invitations"),
				fields{"login": login}, nil)
			if err != nil {
				return a.s.errorAt(&o.position, err)
			}
		}
	}
	for i := range a.s.Repos {
		r := &a.s.Repos[i]
		for _, p := range r.Invitations {
			if err := a.inviteTo(ctx, r, p); err != nil {
				return a.s.errorAt(&p.position, err)
			}
		}
	}
	return nil
}

// inviteTo invites somebody to a repository: clients do this in the browser alone.
func (a *applier) inviteTo(ctx context.Context, r *Repo, p Permission) error {
	by, err := a.caller(r.admin)
	if err != nil {
		return err
	}
	to, err := a.repos.Find(ctx, by, r.owner, r.short)
	if err != nil {
		return err
	}
	role, _ := account.ParseRole(p.Role)
	_, err = a.server.Forge().Invitations.Invite(ctx, &to.Access, p.Login, role)
	return err
}

// happen sends what trackers consist of, all repositories' in the order of time:
// so ids grow with time, as they do in a store that people filled.
func (a *applier) happen(ctx context.Context) error {
	slices.SortStableFunc(a.events, func(x, y event) int { return x.at.Compare(y.at) })
	for _, e := range a.events {
		a.clock.set(e.at)
		if err := a.s.errorAt(e.p, e.do(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// fields are those of a request's body that have a value.
type fields map[string]any

func (f fields) text(name, value string) fields {
	if value != "" {
		f[name] = value
	}
	return f
}

func (f fields) texts(name string, values []string) fields {
	if len(values) > 0 {
		f[name] = values
	}
	return f
}

func (p *Profile) fields() fields {
	return fields{}.text("name", p.Name).text("email", p.Email).text("company", p.Company).text("blog",
		p.Blog).text("location", p.Location)
}

func (a *applier) user(ctx context.Context, u *User) error {
	a.clock.set(u.CreatedAt)
	made, err := a.accounts.CreateUser(ctx, account.NewUser{Login: u.Login, Admin: u.Admin})
	if err != nil {
		return a.s.errorAt(&u.position, err)
	}
	a.callers[account.Fold(u.Login)] = &account.Caller{ID: made.ID, Login: made.Login,
		SiteAdmin: made.SiteAdmin}
	if body := u.fields().text("bio", u.Bio); len(body) > 0 {
		if err := a.send(ctx, u.Login, "PATCH", "/user", body, nil); err != nil {
			return a.s.errorAt(&u.position, err)
		}
	}
	if u.Email != "" {
		if err := a.accounts.VerifyEmail(ctx, u.Login, u.Email); err != nil {
			return a.s.errorAt(&u.position, err)
		}
	}
	if u.TOTP != "" {
		err := a.db.Write(ctx, func(tx *db.Tx) error { return factor.SeedTOTP(tx, made.ID, u.TOTP) })
		if err != nil {
			return a.s.errorAt(&u.position, err)
		}
	}
	for i := range u.Tokens {
		t := &u.Tokens[i]
		n := token.NewToken{Login: u.Login, Value: t.Value, Note: t.Note, Scopes: scope.All}
		if t.Scopes != nil {
			if n.Scopes, err = scope.Parse(*t.Scopes); err != nil {
				return a.s.errorAt(&t.position, err)
			}
		}
		if !t.ExpiresAt.IsZero() {
			n.Expires = t.ExpiresAt.Sub(u.CreatedAt)
		}
		if _, _, err := a.tokens.CreateToken(ctx, n); err != nil {
			return a.s.errorAt(&t.position, err)
		}
	}
	for i := range u.Keys {
		k := &u.Keys[i]
		err := a.send(ctx, u.Login, "POST", "/user/keys", fields{"key": k.Text}.text("title", k.Title), nil)
		if err != nil {
			return a.s.errorAt(&k.position, err)
		}
	}
	return a.signing(ctx, u)
}

// signing adds the keys with which a user signs.
func (a *applier) signing(ctx context.Context, u *User) error {
	for i := range u.Signing {
		k := &u.Signing[i]
		path, send := "/user/ssh_signing_keys", fields{"key": k.Text}.text("title", k.Title)
		if signkey.KindOf(k.Text) == signkey.OpenPGP {
			path, send = "/user/gpg_keys", fields{"armored_public_key": k.Text}.text("name", k.Title)
		}
		if err := a.send(ctx, u.Login, "POST", path, send, nil); err != nil {
			return a.s.errorAt(&k.position, err)
		}
	}
	return nil
}

func (a *applier) org(ctx context.Context, o *Org) error {
	a.clock.set(o.CreatedAt)
	admin := o.Owners[0]
	if _, err := a.accounts.CreateOrg(ctx, o.Login, admin); err != nil {
		return a.s.errorAt(&o.position, err)
	}
	body := o.fields().text("description", o.Description).text("default_repository_permission", o.Permission)
	if len(body) > 0 {
		if err := a.send(ctx, admin, "PATCH", web.Path("orgs", o.Login), body, nil); err != nil {
			return a.s.errorAt(&o.position, err)
		}
	}
	for _, login := range o.Owners[1:] {
		err := a.send(ctx, admin, "PUT", web.Path("orgs", o.Login, "memberships", login),
			fields{"role": "admin"}, nil)
		if err != nil {
			return a.s.errorAt(&o.position, err)
		}
	}
	for i := range o.Members {
		m := &o.Members[i]
		err := a.send(ctx, admin, "PUT", web.Path("orgs", o.Login, "memberships", m.Login),
			fields{"role": "member"}, nil)
		if err == nil && m.Public {
			err = a.send(ctx, m.Login, "PUT", web.Path("orgs", o.Login, "public_members", m.Login), nil, nil)
		}
		if err != nil {
			return a.s.errorAt(&m.position, err)
		}
	}
	return nil
}

// teams creates the teams of an organization, whose first owner is in those alone that name it.
func (a *applier) teams(ctx context.Context, o *Org) error {
	a.clock.set(o.CreatedAt)
	ids := map[string]int64{}
	for i := range o.Teams {
		t := &o.Teams[i]
		if err := a.team(ctx, o, t, ids); err != nil {
			return a.s.errorAt(&t.position, err)
		}
	}
	return nil
}

func (a *applier) team(ctx context.Context, o *Org, t *Team, ids map[string]int64) error {
	admin, privacy := o.Owners[0], "closed"
	if t.Secret {
		privacy = "secret"
	}
	body := fields{"name": t.Name, "privacy": privacy}.text("description", t.Description)
	if t.Parent != "" {
		body["parent_team_id"] = ids[t.Parent]
	}
	var made struct {
		ID   int64
		Slug string
	}
	if err := a.send(ctx, admin, "POST", web.Path("orgs", o.Login, "teams"), body, &made); err != nil {
		return err
	}
	ids[t.Name] = made.ID
	at := func(parts ...string) string {
		return web.Path(append([]string{"orgs", o.Login, "teams", made.Slug}, parts...)...)
	}
	if err := a.send(ctx, admin, "DELETE", at("memberships", admin), nil, nil); err != nil {
		return err
	}
	for role, logins := range map[string][]string{"maintainer": t.Maintainers, "member": t.Members} {
		for _, login := range logins {
			if err := a.send(ctx, admin, "PUT", at("memberships", login), fields{"role": role},
				nil); err != nil {
				return err
			}
		}
	}
	for _, p := range t.Repos {
		err := a.send(ctx, admin, "PUT", at("repos", o.Login, p.Login), fields{"permission": p.Role}, nil)
		if err != nil {
			return a.s.errorAt(&p.position, err)
		}
	}
	return nil
}

// Tokens are the values of a user's tokens, in their order; nil for a user whom
// the seed does not have.
func (s *Seed) Tokens(login string) []string {
	for _, u := range s.Users {
		if account.Fold(u.Login) == account.Fold(login) {
			list := make([]string, len(u.Tokens))
			for i, t := range u.Tokens {
				list[i] = t.Value
			}
			return list
		}
	}
	return nil
}

// isRefusal reports whether the interface refused a request with a status.
func isRefusal(err error, status int) bool {
	var said *refusal
	return errors.As(err, &said) && said.Status == status
}

// errNo is a refusal that the interface does not pronounce itself.
func errNo(format string, args ...any) error {
	return errs.New(errs.Invalid, strings.TrimSpace(fmt.Sprintf(format, args...)))
}
