package code

import (
	"net/http"
	"time"

	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/repo"
)

// lastChanges are the commits that changed a path and its entries last.
type lastChanges struct {
	Latest  *page.Commit
	Entries map[string]lastChange
	Whole   bool
}

type lastChange struct {
	SHA     string
	When    time.Time
	Subject string
}

// changes asks for them, as far as they are found quickly or, for the whole, within seconds.
func (p *Pages) changes(
	r *http.Request, a *repo.Access, at *gitdata.Located, whole bool,
) (*lastChanges, error) {
	c := &lastChanges{}
	q := page.Query("ref", string(at.SHA))
	if whole {
		q.Set("whole", "1")
	}
	err := p.ask(r, p.do.LastChanges, of(a, "/contents", segments(at.Path)), q, c)
	return c, err
}

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
	changes, err := p.changes(r, a, &place.At, true)
	if err != nil {
		return err
	}
	list, err := p.list(r, a, &place.At)
	if err != nil {
		return err
	}
	v := &listing{at: place}
	v.show(r, list, changes)
	if err := p.latest(r, a, v, changes); err != nil {
		return err
	}
	return p.t.Page(w, r, "entries.html", v)
}
