package repo

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Handler answers a request about a repository that the caller may use so.
type Handler func(w http.ResponseWriter, r *http.Request, a *Access) error

// With turns h into a web.Handler: it finds the repository that {owner} and
// {repo} name and checks that the caller has at least the role. Invisible is
// 404 in the same bytes as absent, visible but not allowed 403 (decision 13);
// an old name redirects callers that may see the repository (decision 54). It is 403, too,
// if the account has the right and its token does not.
func (s *Service) With(need account.Role, h Handler) web.Handler {
	return s.with(need, h, (*Access).HoldsWritable)
}

// WithArchived is With for what may be done with an archived repository, too.
func (s *Service) WithArchived(need account.Role, h Handler) web.Handler {
	return s.with(need, h, (*Access).Holds)
}

// WithVisible is With for a handler that changes nothing, with any method: the caller needs to see
// the repository, and no more.
func (s *Service) WithVisible(h Handler) web.Handler { return s.with(account.Pull, h, nil) }

// with is With; holds is asked at the end of each transaction of an unsafe request; nil: there are none.
func (s *Service) with(need account.Role, h Handler, holds func(*Access, *db.Tx) error) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		caller := account.CallerFrom(r.Context())
		owner, name := web.Param(r, "owner"), web.Param(r, "repo")
		a, err := s.Find(r.Context(), caller, owner, name)
		if err != nil {
			return err
		}
		if a.Moved {
			return redirect(w, r, a.Access.Repo, "", "")
		}
		if holds == nil || r.Method == http.MethodGet || r.Method == http.MethodHead {
			err = a.Access.mayUse(need, false)
		} else {
			var ctx context.Context
			ctx, err = s.toChange(r.Context(), &a.Access, need, holds)
			r = r.WithContext(ctx)
		}
		if err != nil {
			return err
		}
		err = h(w, r, &a.Access)
		var moved *MovedError
		if errors.As(err, &moved) {
			return redirect(w, r, moved.To, moved.Param, moved.Value)
		}
		return err
	}
}

// ToChange returns the context for an operation that changes the repository, for callers with at least the role:
// each transaction asks at its end whether that is still so. A page asks for it before the operation; With asks
// for routes of the API. Errors: 403 for a missing right, a token that does not suffice and an archived repository.
func (s *Service) ToChange(ctx context.Context, a *Access, need account.Role) (context.Context, error) {
	return s.toChange(audit.Allowed(ctx, need.String()), a, need, (*Access).HoldsWritable)
}

// ToChangeArchived is ToChange for what may be done with an archived repository, too.
func (s *Service) ToChangeArchived(ctx context.Context, a *Access, need account.Role) (context.Context, error) {
	return s.toChange(audit.Allowed(ctx, need.String()), a, need, (*Access).Holds)
}

func (s *Service) toChange(
	ctx context.Context, a *Access, need account.Role, holds func(*Access, *db.Tx) error,
) (context.Context, error) {
	if err := a.mayUse(need, true); err != nil {
		return ctx, err
	}
	check := func(tx *db.Tx) error { return holds(a, tx) }
	if a.Archived {
		if err := s.db.Read(ctx, check); err != nil {
			return ctx, err
		}
	}
	return db.WithCheck(ctx, check), nil
}

// mayUse returns the 403 for what the caller's token or role does not allow, or nil.
func (a *Access) mayUse(need account.Role, change bool) error {
	if err := a.TokenLets(change); err != nil {
		return err
	}
	return a.Require(need)
}

// MovedError says that what a request names by a placeholder of its address is in another repository now,
// which the caller sees, under another name. As an error it is a 404; requests are redirected, those of
// pages, too.
type MovedError struct {
	To    *Repo
	Param string // the placeholder
	Value string // the name there
}

func (e *MovedError) Error() string { return "moved to " + e.To.FullName() + ": " + e.Value }

// Unwrap is the 404.
func (e *MovedError) Unwrap() error { return errs.Absent() }

// TokenLets returns the 403 for what the caller's token does not let it do on the
// repository, or nil.
func (a *Access) TokenLets(change bool) error {
	switch c := a.Caller; {
	case c == nil:
		return nil
	case c.Refusal != nil && c.App != 0 && !change && !a.Private:
		a.Role, a.Granted = min(a.Role, account.Pull), false // read as by everybody
	case c.Refusal != nil:
		return c.Refusal
	case change && (c.Reach == account.Chosen || c.Reach == account.Installed) && !a.MayChange():
		return c.Insufficient(0)
	}
	return nil
}

// MayChange reports that the caller's token lets it change the repository, where its role does.
func (a *Access) MayChange() bool {
	return a.Caller.Most(int64(a.ID), a.OwnerID, a.Private) >= account.Push
}

// Holds returns an error if the caller has lost the access since the request began: a
// token was revoked, a role taken away or the repository hidden. It is called at the end
// of each transaction of an unsafe request. Errors: 401, 403, 404.
func (a *Access) Holds(tx *db.Tx) error {
	_, err := a.held(tx)
	return err
}

// HoldsWritable is Holds for what an archived repository does not take: 403.
func (a *Access) HoldsWritable(tx *db.Tx) error {
	now, err := a.held(tx)
	if err == nil && now.Archived {
		err = ErrArchived()
	}
	return err
}

func (a *Access) held(tx *db.Tx) (*Access, error) {
	now, err := a.Now(tx)
	switch {
	case err != nil:
		return nil, err
	case now.Role < account.Pull:
		return nil, errs.Absent()
	case now.Purges != a.Purges: // what the request saw of objects may be gone
		return nil, errPurged()
	}
	return now, now.Require(a.Role)
}

// ErrArchived is what GitHub answers to writes to an archived repository.
func ErrArchived() error {
	return errs.New(errs.Forbidden, "Repository was archived so is read-only.")
}

// Now is the access as it is now. Errors: 401 for a token that ended, 403 for a
// suspended account, 404 for a repository that is gone. The role may be below Pull.
func (a *Access) Now(tx *db.Tx) (*Access, error) { return accessAgain(tx, a.Caller, a.ID) }

// Found is what an address led to.
type Found struct {
	Access
	Moved bool // under a name that the repository no longer has
}

// Find resolves OWNER/NAME for a caller, also by a former name. Error: 404 when
// the repository does not exist or the caller may not see it.
func (s *Service) Find(ctx context.Context, caller *account.Caller, owner, name string) (Found, error) {
	key, state := newFoundKey(caller, owner, name), s.db.State(ctx)
	f, err := s.found.Read(state, key, func() (Found, error) {
		a, err := s.findBy(ctx, accessByName, caller, key)
		moved := errs.Is(err, errs.NotFound)
		if moved {
			a, err = s.findBy(ctx, accessByFormerName, caller, key)
		}
		if err != nil {
			return Found{}, err
		}
		return Found{Access: *a, Moved: moved}, nil
	})
	if err != nil {
		return Found{}, err
	}
	f = f.copyFor(caller)
	f.AsOf = state
	return f, nil
}

// findBy runs one of the queries that find a repository by its name.
func (s *Service) findBy(
	ctx context.Context, query func(*db.Tx, *account.Caller, string, string) (*Access, error),
	caller *account.Caller, key foundKey,
) (a *Access, err error) {
	err = s.db.ReadOne(ctx, func(tx *db.Tx) (err error) {
		a, err = onlyVisible(query(tx, caller, key.owner, key.name))
		return err
	})
	return a, err
}

// onlyVisible treats a repository that the caller may not see as absent. From then on both
// cases are the same, also in the number of statements (decision 13).
func onlyVisible(a *Access, err error) (*Access, error) {
	if err == nil && a.Role < account.Pull {
		return nil, errs.Absent()
	}
	return a, err
}

// Require returns the 403 that names the missing right, or nil.
func (a *Access) Require(need account.Role) error {
	if a.Role >= need {
		return nil
	}
	switch {
	case a.Caller != nil && (a.Caller.Reach == account.Chosen || a.Caller.App != 0) &&
		a.Caller.Most(int64(a.ID), a.OwnerID, a.Private) < need:
		return a.Caller.Insufficient(0)
	case need == account.Admin:
		return errs.New(errs.Forbidden, "Must have admin rights to Repository.")
	default:
		return errs.New(errs.Forbidden, "Must have push access to Repository.")
	}
}

// Place is what the store says of a user at a repository.
type Place struct {
	Owner   *bool  // of the organization that owns it; nil: no member
	Granted *int64 // the role of a collaborator; nil: none
}

// Role is the caller's role in a repository (decisions 12, 62), as far as the token goes; the
// caller may be nil.
func (p Place) Role(caller *account.Caller, r *Repo) account.Role {
	role := p.grantedRole(caller, r)
	if !r.Private {
		role = max(role, account.Pull)
	}
	return min(role, caller.Most(int64(r.ID), r.OwnerID, r.Private))
}

// grantedRole is the caller's role without the one that everybody has.
func (p Place) grantedRole(caller *account.Caller, r *Repo) account.Role {
	role := account.None
	if r.Deleted() || r.Withdrawn && !caller.SeesAll() {
		return role
	}
	if caller != nil && (caller.Reach == account.OneRepo || caller.Covers(int64(r.ID), r.OwnerID)) {
		return caller.Most(int64(r.ID), r.OwnerID, r.Private)
	}
	if p.Granted != nil {
		role = account.Role(*p.Granted)
	}
	if caller == nil {
		return role
	}
	if caller.SeesAll() || caller.ID == r.OwnerID || p.Owner != nil && *p.Owner {
		return account.Admin
	}
	if p.Owner != nil {
		role = max(role, r.Owner.DefaultRole)
	}
	return role
}

// Redirect is redirect for packages that find repositories themselves.
func Redirect(w http.ResponseWriter, r *http.Request, to *Repo) error {
	return redirect(w, r, to, "", "")
}

// redirect sends the client from a repository's former address to the present
// one, in the same tree of routes (decision 54). A placeholder that is named gets another value.
func redirect(w http.ResponseWriter, r *http.Request, to *Repo, param, value string) error {
	info := web.From(r.Context())
	segments := strings.Split(r.URL.EscapedPath(), "/")
	pattern := strings.Split(info.Pattern, "/")
	at := slices.Index(pattern, "{owner}")
	if at < 0 || at+1 >= len(segments) {
		return errs.Absent()
	}
	segments[at], segments[at+1] = url.PathEscape(to.Owner.Login), url.PathEscape(to.Name)
	if n := slices.Index(pattern, "{"+param+"}"); n >= 0 && n < len(segments) {
		segments[n] = url.PathEscape(value)
	}
	if strings.HasSuffix(account.Fold(web.Param(r, "repo")), ".git") {
		segments[at+1] += ".git"
	}
	target := info.API(strings.Join(segments, "/"))
	if r.URL.RawQuery != "" {
		target += "?" + r.URL.RawQuery
	}
	status := http.StatusTemporaryRedirect
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		status = http.StatusMovedPermanently
	}
	w.Header().Set("Location", target)
	return web.JSON(w, r, status, map[string]string{
		"message": http.StatusText(status), "url": target, "documentation_url": info.Docs,
	})
}
