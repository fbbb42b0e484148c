package page

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/scope"
)

// Write returns the context for an operation that stores something in the repository, for callers with at least the
// role. Errors: those of [repo.Service.ToChange]; 507 while a disk has little room.
func (k *Kit) Write(r *http.Request, a *repo.Access, need account.Role) (context.Context, error) {
	ctx, err := k.Repos.ToChange(r.Context(), a, need)
	if err != nil {
		return ctx, err
	}
	return k.Room(ctx, a.Caller)
}

// WriteArchived is Write for what an archived repository takes, too.
func (k *Kit) WriteArchived(r *http.Request, a *repo.Access, need account.Role) (context.Context, error) {
	ctx, err := k.Repos.ToChangeArchived(r.Context(), a, need)
	if err != nil {
		return ctx, err
	}
	return k.Room(ctx, a.Caller)
}

// Delete is Write for an operation that only takes something away.
func (k *Kit) Delete(r *http.Request, a *repo.Access, need account.Role) (context.Context, error) {
	return k.Repos.ToChange(r.Context(), a, need)
}

// DeleteArchived is Delete for what an archived repository takes, too.
func (k *Kit) DeleteArchived(r *http.Request, a *repo.Access, need account.Role) (context.Context, error) {
	return k.Repos.ToChangeArchived(r.Context(), a, need)
}

// WriteOwn returns the context for an operation that stores something of the page's caller, or of an organization. A
// classic token needs one of the scopes; fine reports whether fine-grained tokens suffice. Errors: 403 for a token that
// does not suffice; 507 while a disk has little room.
func (k *Kit) WriteOwn(r *http.Request, scopes scope.Set, fine bool) (context.Context, error) {
	ctx, err := k.DeleteOwn(r, scopes, fine)
	if err != nil {
		return ctx, err
	}
	return k.Room(ctx, account.CallerFrom(ctx))
}

// DeleteOwn is WriteOwn for an operation that only takes something away.
func (k *Kit) DeleteOwn(r *http.Request, scopes scope.Set, fine bool) (context.Context, error) {
	return r.Context(), account.CallerFrom(r.Context()).Allows(scopes, fine)
}

// Reader is the page's caller as the API lets it read code and issues: nobody, where the token lacks the scopes.
func Reader(r *http.Request) *account.Caller {
	c := account.CallerFrom(r.Context())
	if c == nil || c.Allows(scope.PublicRepo, true) != nil {
		return nil
	}
	return c
}
