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

// Delete is Write for an operation that only takes something away.
func (k *Kit) Delete(r *http.Request, a *repo.Access, need account.Role) (context.Context, error) {
	return k.Repos.ToChange(r.Context(), a, need)
}

// Reader is the page's caller as the API lets it read code and issues: nobody, where the token lacks the scopes.
func Reader(r *http.Request) *account.Caller {
	c := account.CallerFrom(r.Context())
	if c == nil || c.Allows(scope.PublicRepo, true) != nil {
		return nil
	}
	return c
}
