// Package shelf is the page of the plant store, /dashboard/plants: a list, adding and removing.
package shelf

import (
	"embed"
	"net/http"
	"strconv"

	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/route"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Pages answers the page.
type Pages struct {
	kit      *page.Kit
	t        *page.Templates
	numbered web.Handler
}

// New returns the page. The store's interface does not return ids, which removal needs: numbered answers a page
// of the caller's plants with theirs, under the right of the route that lists plants.
func New(kit *page.Kit, numbered web.Handler) *Pages {
	return &Pages{kit, roomTemplates, numbered}
}

// Routes are the page and the target of its forms.
func (p *Pages) Routes() []route.Route {
	own := p.kit.ForPeople()
	return []route.Route{
		own.SignedIn("GET /dashboard/plants", p.List),
		own.SignedIn("POST /dashboard/plants", p.Change),
	}
}

// maxShown is how many bytes of a name or a tag the page shows.
const maxShown = 500

type plant struct {
	ID        int64
	Name, Tag string
}

// ShownName and ShownTag are the beginnings of long texts.
func (p *plant) ShownName() page.Clipped { return page.Clip(p.Name, maxShown) }

// ShownTag is the beginning of the tag.
func (p *plant) ShownTag() page.Clipped { return page.Clip(p.Tag, maxShown) }

// view is what plants.html shows.
type view struct {
	page.Frame
	Plants        []plant
	ID, Name, Tag string // what was typed
}

// GET /dashboard/plants
//
// List answers the caller's plants by id, those behind the query's after; for site administrators all plants.
func (p *Pages) List(w http.ResponseWriter, r *http.Request) error {
	v := &view{}
	if err := p.fill(r, v); err != nil {
		return err
	}
	return p.t.Page(w, r, "plants.html", v)
}

func (p *Pages) fill(r *http.Request, v *view) (err error) {
	if v.Frame, err = p.kit.Frame(r, "Plants"); err != nil {
		return err
	}
	query := page.Query("after", web.QueryOf(r).Get("after"))
	more, err := p.kit.Read(r, inside.Request{Path: "/plants", Query: query, Handler: p.numbered}, &v.Plants)
	if err != nil {
		return err
	}
	if len(query) > 0 {
		v.Pages.Newer = "/dashboard/plants"
	}
	if more {
		v.Pages.Older = "?after=" + strconv.FormatInt(v.Plants[len(v.Plants)-1].ID, 10)
	}
	return nil
}

// POST /dashboard/plants
//
// Change adds a plant, or removes the one that the form names. What the store refuses is said on the page.
func (p *Pages) Change(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, done := &view{}, "The plant was added."
	if id := form.Text("remove"); id != "" {
		done = "The plant was removed."
		err = p.kit.Change(r, http.MethodDelete, web.Path("plants", id), nil, nil)
	} else {
		v.ID, v.Name, v.Tag = form.Text("id"), form.Get("name"), form.Get("tag")
		err = p.add(r, v)
	}
	if err == nil {
		return page.Done(w, r, "/dashboard/plants", done)
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	if err := p.fill(r, v); err != nil {
		return err
	}
	v.Problem = problem
	return p.t.Again(w, r, "plants.html", problem, v)
}

// add sends what was typed. A text that is not a number is sent unchanged, and the store answers with the error.
func (p *Pages) add(r *http.Request, v *view) error {
	body := map[string]any{"id": v.ID, "name": v.Name}
	if id, err := strconv.ParseInt(v.ID, 10, 64); err == nil {
		body["id"] = id
	}
	if v.Tag != "" {
		body["tag"] = v.Tag
	}
	return p.kit.Change(r, http.MethodPost, "/plants", body, nil)
}
