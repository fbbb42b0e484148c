package people

import (
	"net/http"
	"slices"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/pin"
	"arbor/internal/repo"
	"arbor/internal/repo/list"
)

// perOverview is how many repositories an overview lists.
const perOverview = 10

// overview reads what a person presents: the readme of the public repository of the same name, as at GitHub, what they
// pinned, or else the repositories that were pushed to last, and what everybody may know that happened.
func (p *Pages) overview(r *http.Request, v *profile) error {
	if err := p.pinned(r, v); err != nil {
		return err
	}
	if err := p.readme(r, v, v.Who.Login, "README.md", false); err != nil {
		return err
	}
	if len(v.Pinned) == 0 {
		if err := p.recent(r, v, pin.Max); err != nil {
			return err
		}
	}
	events, _, err := p.of.Activities.OfUserInPublic(r.Context(), page.Reader(r), v.Who.Login, page.First(15))
	v.Events = page.Feed(events)
	return err
}

// orgOverview reads what an organization presents, as at GitHub: profile/README.md of its public repository .github, for
// members of .github-private if it has one; what it pinned, or else its repositories with the most stars; and the
// others that were pushed to last: what stands in the cards is not listed again below them.
func (p *Pages) orgOverview(r *http.Request, v *profile) error {
	if err := p.pinned(r, v); err != nil {
		return err
	}
	const at = "profile/README.md"
	if v.Role != "" {
		if err := p.readme(r, v, ".github-private", at, true); err != nil {
			return err
		}
	}
	if v.Readme == "" {
		if err := p.readme(r, v, ".github", at, false); err != nil {
			return err
		}
	}
	if err := p.popular(r, v); err != nil {
		return err
	}
	if err := p.recent(r, v, perOverview+pin.Max); err != nil {
		return err
	}
	above := map[int64]bool{}
	for _, repo := range slices.Concat(v.Pinned, v.Popular) {
		above[repo.ID] = true
	}
	v.Repos = slices.DeleteFunc(v.Repos, func(repo page.Repository) bool { return above[repo.ID] })
	v.Repos = v.Repos[:min(perOverview, len(v.Repos))]
	return nil
}

// pinned reads what the account pinned.
func (p *Pages) pinned(r *http.Request, v *profile) error {
	id := account.ID(v.Who.ID)
	found, err := p.of.Pins.Of(r.Context(), page.Reader(r), []account.ID{id})
	v.Pinned = page.NewRepositories(found[id])
	return err
}

// popular reads the repositories that have the most stars, if nothing is pinned, and any has one.
func (p *Pages) popular(r *http.Request, v *profile) error {
	if len(v.Pinned) > 0 {
		return nil
	}
	found, _, err := p.of.Lists.OfUser(r.Context(), page.Reader(r), v.Who.Login, "owner",
		list.Order{By: "stars", Desc: true}, page.First(pin.Max))
	found = slices.DeleteFunc(found, func(a *repo.Access) bool { return a.Stars == 0 })
	v.Popular = page.NewRepositories(found)
	return err
}

// recent reads the repositories that were pushed to last.
func (p *Pages) recent(r *http.Request, v *profile, most int64) error {
	repos, _, err := p.of.Lists.OfUser(r.Context(), page.Reader(r), v.Who.Login, "owner",
		list.Order{By: "pushed", Desc: true}, page.First(most))
	v.Repos = page.NewRepositories(repos)
	return err
}

// readme reads a file of a repository of the account, which must be public or private.
func (p *Pages) readme(r *http.Request, v *profile, name, path string, private bool) error {
	found, err := p.of.Repos.Find(r.Context(), page.Reader(r), v.Who.Login, name)
	if errs.Is(err, errs.NotFound) || err == nil && (found.Moved || found.Access.Private != private) {
		return nil
	}
	if err == nil {
		v.Readme, err = p.of.Readme(r, &found.Access, path)
	}
	return err
}
