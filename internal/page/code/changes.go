package code

import (
	"net/http"

	"arbor/internal/page"
	"arbor/internal/repo"
)

// GET /{owner}/{repo}/last-changes/{path...}
//
// LastChanges answers a page of a directory's entries with all last commits: the script puts the list in the
// place of one that lacks some. Error: 404.
func (p *Pages) LastChanges(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	place, err := p.place(r, a, "tree")
	if err != nil {
		return err
	}
	if place.At.Type != "tree" {
		return page.SeeOther(w, r, place.Link("blob", place.At.Path))
	}
	changes, err := p.with.Git.LastChanges(r.Context(), a, place.At.SHA, place.At.Path, true)
	if err != nil {
		return err
	}
	list, err := p.list(r, a, &place.At)
	if err != nil {
		return err
	}
	v := &listing{at: place}
	v.show(r, list, changes)
	return p.t.Show(w, r, "entries.html", v, p.latest(r, a, v, changes))
}
