package gitdata

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/history"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxContributors is the maximum length of the list, as at GitHub.
const maxContributors = 500

// maxAuthors is the number of addresses that are looked up, those with most commits.
const maxAuthors = 4 * maxContributors

// contributor is an account, or an author without one, with the number of commits.
type contributor struct {
	account *account.Account // nil for an author without one
	history.AuthorCount
}

// contributorJSON is GitHub's contributor.
type contributorJSON struct {
	*account.Simple
	Contributions int64 `json:"contributions"`
}

// anonymousJSON is a contributor without an account.
type anonymousJSON struct {
	Email         string `json:"email"`
	Name          string `json:"name"`
	Type          string `json:"type"` // Anonymous
	Contributions int64  `json:"contributions"`
}

func (c *contributor) json(i *web.Info) any {
	if c.account != nil {
		return contributorJSON{account.NewSimple(c.account, i), c.Commits}
	}
	return anonymousJSON{c.Email, c.Name, "Anonymous", c.Commits}
}

// GET /repos/{owner}/{repo}/contributors
//
// ListContributors lists the authors of the default branch's commits, most commits first, at most 500; with
// anon also authors without an account. A repository without commits returns 204, as at GitHub.
func (api *API) ListContributors(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	anon := web.QueryOf(r).Get("anon")
	tip, err := api.revision(r.Context(), a, "", false)
	if errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound) {
		return web.NoContent(w)
	}
	if err != nil {
		return err
	}
	return api.cached(w, r, a, basis{refs: true, people: true, pair: string(tip)},
		func(ctx context.Context) (any, error) {
			authors, err := api.authors(ctx, a, tip)
			if err != nil {
				return nil, err
			}
			list, err := api.contributors(ctx, authors, anon == "1" || anon == "true")
			if err != nil {
				return nil, err
			}
			out := []any{}
			for _, c := range web.Cut(w, r, list[:min(len(list), maxContributors)]) {
				out = append(out, c.json(web.From(ctx)))
			}
			return out, nil
		})
}

// authors counts the commits of a history by author. One process walks all of it, once for each tip.
func (api *API) authors(ctx context.Context, a *repo.Access, tip git.SHA) ([]history.AuthorCount, error) {
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	key := "authors " + a.ID.String() + " " + string(tip)
	found, err := api.walks.ReadAlone(ctx, objectsOf(a), key, func() (o outcome, err error) {
		o.authors, err = history.Authors(ctx, objects, tip, maxAuthors)
		return o, err
	})
	return found.authors, err
}

// Contributor is an account, or an author without one.
type Contributor struct {
	Account *account.Account // nil for an author without one
	Name    string           // in commits
	Commits int64
}

// Contributors returns a page of the authors of the default branch's commits, most commits first, at most 500.
func (api *API) Contributors(ctx context.Context, a *repo.Access, at web.Page) (*web.List[Contributor], error) {
	tip, err := api.revision(ctx, a, "", false)
	if errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound) {
		return &web.List[Contributor]{}, nil
	}
	if err != nil {
		return nil, err
	}
	authors, err := api.authors(ctx, a, tip)
	if err != nil {
		return nil, err
	}
	found, err := api.contributors(ctx, authors, true)
	if err != nil {
		return nil, err
	}
	list := make([]Contributor, min(len(found), maxContributors))
	for n := range list {
		list[n] = Contributor{found[n].account, found[n].Name, found[n].Commits}
	}
	return web.CutAt(at, list), nil
}

// contributors finds the accounts of authors. An account may have several addresses.
func (api *API) contributors(
	ctx context.Context, authors []history.AuthorCount, anon bool,
) (list []*contributor, err error) {
	emails := make([]string, len(authors))
	for n, who := range authors {
		emails[n] = who.Email
	}
	var found map[string]*account.Account
	err = api.db.Read(ctx, func(tx *db.Tx) (err error) {
		found, err = account.ByEmails(tx, emails)
		return err
	})
	if err != nil {
		return nil, err
	}
	of := map[any]*contributor{} // by id or address
	for _, who := range authors {
		known := found[account.Fold(who.Email)]
		if known == nil && !anon {
			continue
		}
		key := any(account.Fold(who.Email))
		if known != nil {
			key = known.ID
		}
		if c := of[key]; c != nil {
			c.Commits += who.Commits
			continue
		}
		of[key] = &contributor{known, who}
		list = append(list, of[key])
	}
	slices.SortStableFunc(list, func(a, b *contributor) int { return cmp.Compare(b.Commits, a.Commits) })
	return list, nil
}
