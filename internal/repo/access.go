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

// Handler handles a request about a repository after the caller's right was checked.
type Handler func(w http.ResponseWriter, r *http.Request, a *Access) error

// With turns h into a web.Handler that finds the repository {owner}/{repo} and checks that the caller has
// at least the role need. An invisible repository gets exactly the 404 of a missing one, a visible one
// without the right 403 (decision 13). A former name redirects callers who can see the repository (decision
// 54). It also returns 403 if the account has the right and its token does not.
func (s *Service) With(need account.Role, h Handler) web.Handler {
	return s.with(need, h, true, false)
}

// WithArchived is With for operations that are also allowed on archived repositories.
func (s *Service) WithArchived(need account.Role, h Handler) web.Handler {
	return s.with(need, h, true, true)
}

// WithVisible is With for a handler that changes nothing, with any method: the repository must be visible
// to the caller.
func (s *Service) WithVisible(h Handler) web.Handler { return s.with(account.Pull, h, false, false) }

// with is With. changes reports whether unsafe requests change the repository, onArchived whether also an archived
// one.
func (s *Service) with(need account.Role, h Handler, changes, onArchived bool) web.Handler {
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
		if !changes || r.Method == http.MethodGet || r.Method == http.MethodHead {
			err = a.Access.mayUse(need, false)
		} else {
			err = s.toChange(r.Context(), &a.Access, need, onArchived)
		}
		if err != nil {
			return err
		}
		err = h(w, r, &a.Access)
		if moved, ok := errors.AsType[*MovedError](err); ok {
			return redirect(w, r, moved.To, moved.Param, moved.Value)
		}
		return err
	}
}

// ToChange checks that the caller has at least the role need, and returns the context for an operation that
// changes the repository, with that right for the audit log. Pages call it before an operation; With
// checks the same for routes of the API. Errors: 403 for a missing right, an insufficient token and an archived
// repository.
func (s *Service) ToChange(ctx context.Context, a *Access, need account.Role) (context.Context, error) {
	return audit.Allowed(ctx, need.String()), s.toChange(ctx, a, need, false)
}

// ToChangeArchived is ToChange for what may be done with an archived repository, too.
func (s *Service) ToChangeArchived(ctx context.Context, a *Access, need account.Role) (context.Context, error) {
	return audit.Allowed(ctx, need.String()), s.toChange(ctx, a, need, true)
}

func (s *Service) toChange(ctx context.Context, a *Access, need account.Role, onArchived bool) error {
	a.onArchived = onArchived
	err := a.mayUse(need, true)
	if err == nil && (a.Archived || a.Importing) {
		err = s.db.Read(ctx, a.Holds)
	}
	return err
}

// OnArchived lets the access change an archived repository, too, and returns it: for operations that no route checks.
func (a *Access) OnArchived() *Access {
	a.onArchived = true
	return a
}

// MayRead returns 403 if the caller's token or role does not allow reading what the role need reads.
func (a *Access) MayRead(need account.Role) error { return a.mayUse(need, false) }

// mayUse returns 403 if the caller's token or role does not allow the use.
func (a *Access) mayUse(need account.Role, change bool) error {
	if err := a.TokenLets(change); err != nil {
		return err
	}
	return a.Require(need)
}

// MovedError means that the resource in a placeholder of the address is now in another repository that the
// caller can see, under another name. It is a 404; requests of the API and of pages are redirected.
type MovedError struct {
	To    *Repo
	Param string // the placeholder
	Value string // its new name
}

func (e *MovedError) Error() string { return "moved to " + e.To.FullName() + ": " + e.Value }

// Unwrap returns the 404.
func (e *MovedError) Unwrap() error { return errs.Absent() }

// TokenLets returns 403 if the caller's token does not allow reading, or with change writing, the
// repository.
func (a *Access) TokenLets(change bool) error {
	switch c := a.Caller; {
	case c == nil:
		return nil
	case c.Refusal != nil && c.App != 0 && !change && !a.Private:
		a.Role, a.Granted = min(a.Role, account.Pull), false // reads like an anonymous caller
	case c.Refusal != nil:
		return c.Refusal
	case a.closed() && (change || a.Private):
		return account.NotApproved(a.Owner.Login)
	case a.reached != nil && a.reached.Lacks() && (change || a.Private):
		return c.Insufficient(0)
	case a.reached != nil && a.reached.Lacks():
		a.Granted = false
	case change && c.Reach >= account.Chosen && c.Reach != account.OneRepo && !a.MayChange():
		return c.Insufficient(0)
	}
	return nil
}

// MayChange reports whether the caller's token allows changing the repository if the role does.
func (a *Access) MayChange() bool { return a.Most(a.Private) >= account.Push }

// Most is the highest role that the caller's token allows on the repository, or on it as a private one.
func (a *Access) Most(private bool) account.Role {
	if a.reached != nil {
		return a.Caller.MostForApp(*a.reached, private)
	}
	return a.Caller.Most(int64(a.ID), a.OwnerID, private)
}

// Holds returns an error if the caller has lost access since it was found: the token was revoked, the
// role removed, the repository hidden, or archived and not to be changed then ([Service.WithArchived]). An Access is
// the db.Right of operations on the repository. Errors: 401, 403, 404.
func (a *Access) Holds(tx *db.Tx) error {
	if a.Caller == nil {
		return tx.CheckOutsideRequest()
	}
	now, err := a.Now(tx)
	switch {
	case err != nil:
		return err
	case now.Role < account.Pull:
		return errs.Absent()
	case now.Purges != a.Purges: // objects that the request has read may be gone
		return errPurged()
	case now.Role < a.Role:
		return now.Require(a.Role)
	case now.closed() && !a.closed():
		return account.NotApproved(a.Owner.Login)
	case a.MayChange() && !now.MayChange(): // an installation lost the permission
		return a.Caller.Insufficient(0)
	case now.Archived && !a.onArchived:
		return ErrArchived()
	case now.Importing && !a.onArchived:
		return ErrImporting()
	}
	return nil
}

// ErrArchived is GitHub's error for writes to an archived repository.
func ErrArchived() error {
	return errs.New(errs.Forbidden, "Repository was archived so is read-only.")
}

// ErrImporting is the error for writes to a repository while an import fills it.
func ErrImporting() error {
	return errs.New(errs.Forbidden, "Repository is being imported, so it is read-only until that ends.")
}

// ErrMirror is the error for updates of the branches and tags of a repository that mirrors another one.
func ErrMirror() error {
	return errs.New(errs.Forbidden, "Repository is a mirror, so its branches and tags are read-only. Push to its source.")
}

// Now reads the access again. Errors: 401 for a revoked token, 403 for a suspended account, 404 for a
// deleted repository. The role may be below Pull.
func (a *Access) Now(tx *db.Tx) (*Access, error) { return accessAgain(tx, a.Caller, a.ID) }

// Found is the repository at an address.
type Found struct {
	Access
	Moved bool // the address has a former name
}

// Find resolves OWNER/NAME for a caller, also a former name. Error: 404 if the repository does not exist or
// is not visible to the caller.
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

// findBy runs a query that finds a repository by name.
func (s *Service) findBy(
	ctx context.Context, query func(*db.Tx, *account.Caller, string, string) (*Access, error),
	caller *account.Caller, key foundKey,
) (a *Access, err error) {
	return db.GetOne(ctx, s.db, func(tx *db.Tx) (*Access, error) {
		return onlyVisible(query(tx, caller, key.owner, key.name))
	})
}

// onlyVisible answers for a repository that the caller cannot see as if it did not exist. Both cases run the
// same number of statements (decision 13).
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
	case a.closed():
		return account.NotApproved(a.Owner.Login)
	case a.Caller != nil && (a.Caller.Reach == account.Chosen || a.Caller.App != 0 || a.Caller.ForApp != 0) &&
		a.Most(a.Private) < need:
		return a.Caller.Insufficient(0)
	case need == account.Admin:
		return errs.New(errs.Forbidden, "Must have admin rights to Repository.")
	default:
		return errs.Newf(errs.Forbidden, "Must have %s access to Repository.", need)
	}
}

// Roles holds the stored roles of a user for a repository.
type Roles struct {
	Owner   *bool  // of the organization that owns it; nil: not a member
	Granted *int64 // the role of a collaborator; nil: not a collaborator
	// For a token by which an App acts for the user: what the installation permits that reaches the repository;
	// nil: none reaches it, or the App is an OAuth App to which the owner is open.
	Reached *account.Permitted
}

// Role returns the caller's role in a repository (decisions 12, 62), limited by the token. caller may be
// nil.
func (p Roles) Role(caller *account.Caller, r *Repo) account.Role {
	role := p.grantedRole(caller, r)
	if !r.Private {
		role = max(role, account.Pull)
	}
	if p.Reached != nil {
		return min(role, caller.MostForApp(*p.Reached, r.Private))
	}
	return min(role, caller.Most(int64(r.ID), r.OwnerID, r.Private))
}

// grantedRole returns the caller's role without the public one.
func (p Roles) grantedRole(caller *account.Caller, r *Repo) account.Role {
	role := account.None
	if r.Deleted() || r.Withdrawn && !caller.SeesAll() || p.Reached != nil && p.Reached.Closed() {
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

// Redirect redirects to the current address of a repository, for packages that find repositories
// themselves.
func Redirect(w http.ResponseWriter, r *http.Request, to *Repo) error {
	return redirect(w, r, to, "", "")
}

// redirect redirects from a repository's former address to the current one in the same route tree (decision
// 54). If param is set, it also replaces the value of that placeholder.
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
	if n := slices.Index(pattern, "{"+param+"...}"); n >= 0 && len(pattern)-1 < len(segments) {
		end := len(segments) - (len(pattern) - n - 1) // what follows the placeholder stays
		segments = slices.Concat(segments[:n], []string{web.Path(strings.Split(value, "/")...)[1:]}, segments[end:])
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
