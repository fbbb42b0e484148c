package project

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/scope"
	"arbor/internal/star"
)

// mark applies a change for which a token needs one of the scopes, and leads back to where the button was. open gives
// the context of the change.
func (p *Pages) mark(w http.ResponseWriter, r *http.Request, a *repo.Access, scopes scope.Set,
	open func(*http.Request, *repo.Access, account.Role) (context.Context, error),
	change func(context.Context) error,
) error {
	form, err := page.ReadForm(r)
	if err == nil {
		err = a.Caller.Allows(scopes, false)
	}
	if err != nil {
		return err
	}
	ctx, err := open(r, a, account.Pull)
	if err == nil {
		err = change(ctx)
	}
	if err != nil {
		return err
	}
	return page.SeeOther(w, r, page.ReturnTo(form.Get("return_to"), pathOf(a.FullName())))
}

// POST /{owner}/{repo}/star
//
// Star stars the repository, and leads back to the form's return_to.
func (p *Pages) Star(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.mark(w, r, a, scope.PublicRepo, p.kit.WriteArchived, func(ctx context.Context) error {
		return p.kit.Stars.Put(ctx, a, star.Star)
	})
}

// POST /{owner}/{repo}/unstar
//
// Unstar takes the star away, and leads back to the form's return_to.
func (p *Pages) Unstar(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.mark(w, r, a, scope.PublicRepo, p.kit.DeleteArchived, func(ctx context.Context) error {
		return p.kit.Stars.Drop(ctx, a, star.Star)
	})
}

// POST /{owner}/{repo}/watch
//
// Watch subscribes the caller to the repository, and redirects to the form's return_to.
func (p *Pages) Watch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.mark(w, r, a, star.WatchScopes, p.kit.WriteArchived, func(ctx context.Context) error {
		_, err := p.kit.Stars.Subscribe(ctx, a, star.Everything)
		return err
	})
}

// POST /{owner}/{repo}/unwatch
//
// Unwatch ends watching, and leads back to the form's return_to.
func (p *Pages) Unwatch(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.mark(w, r, a, star.WatchScopes, p.kit.DeleteArchived, func(ctx context.Context) error {
		_, err := p.kit.Stars.Subscribe(ctx, a, star.NoWish)
		return err
	})
}

// POST /{owner}/{repo}/ignore
//
// Ignore ends all notifications of the repository, and leads back to the form's return_to.
func (p *Pages) Ignore(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.mark(w, r, a, star.WatchScopes, p.kit.WriteArchived, func(ctx context.Context) error {
		_, err := p.kit.Stars.Subscribe(ctx, a, star.Nothing)
		return err
	})
}

// peopleView is what marked.html shows.
type peopleView struct {
	page.Frame
	Users []page.User
}

// GET /{owner}/{repo}/stargazers
//
// Stargazers answers who starred the repository, the first one first.
func (p *Pages) Stargazers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.people(w, r, a, "Stargazers", star.Star)
}

// GET /{owner}/{repo}/watchers
//
// Watchers answers who watches the repository, the first one first.
func (p *Pages) Watchers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.people(w, r, a, "Watchers", star.Watch)
}

func (p *Pages) people(w http.ResponseWriter, r *http.Request, a *repo.Access, title string, k star.Kind) error {
	v := &peopleView{}
	var err error
	if v.Frame, err = p.kit.RepoFrame(r, a, "", title); err != nil {
		return err
	}
	at := page.At(r, perList)
	list, total, err := p.kit.Stars.People(r.Context(), a, k, at)
	if err != nil {
		return err
	}
	for _, one := range list {
		v.Users = append(v.Users, *page.NewUser(one.Account))
	}
	v.Pages = page.PagerOf(r, at, total)
	return p.t.Page(w, r, "marked.html", v)
}
