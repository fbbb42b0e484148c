// Package shelf is the page of the plant store, /dashboard/plants: a list, adding and removing.
package shelf

import (
	"embed"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/plant"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Pages answers the page.
type Pages struct {
	kit    *page.Kit
	t      *page.Templates
	plants *plant.Service
}

// New returns the page.
func New(kit *page.Kit, plants *plant.Service) *Pages { return &Pages{kit, roomTemplates, plants} }

// Routes are the page and the target of its forms.
func (p *Pages) Routes() []route.Route {
	own := p.kit.ForPeople()
	return []route.Route{
		own.SignedIn("GET /dashboard/plants", p.List),
		own.SignedIn("POST /dashboard/plants", p.Change),
	}
}

// Bounds of the page.
const (
	maxPlants = 50
	maxShown  = 500 // bytes of a name or a tag
)

// row is a plant with the beginnings of long texts.
type row struct {
	ID        int64
	Name, Tag page.Clipped
}

// view is what plants.html shows.
type view struct {
	page.Frame
	Plants        []row
	ID, Name, Tag string // what was typed
}

// GET /dashboard/plants
//
// List answers the caller's plants by id, those behind the query's after; for site administrators all plants.
func (p *Pages) List(w http.ResponseWriter, r *http.Request) error {
	v := &view{}
	return p.t.Show(w, r, "plants.html", v, p.fill(r, v))
}

func (p *Pages) fill(r *http.Request, v *view) (err error) {
	if v.Frame, err = p.kit.Frame(r, "Plants"); err != nil {
		return err
	}
	caller, err := callerOf(r)
	if err != nil {
		return err
	}
	after := web.QueryOf(r).Get("after")
	var behind web.Opt[int64]
	if id, err := plant.ReadID(after); err == nil {
		behind = web.Some(id)
	}
	list, err := p.plants.Page(r.Context(), caller, behind, maxPlants)
	if err != nil {
		return err
	}
	for _, x := range list.Rows {
		tag := ""
		if x.Tag != nil {
			tag = *x.Tag
		}
		v.Plants = append(v.Plants, row{x.ID, page.Clip(x.Name, maxShown), page.Clip(tag, maxShown)})
	}
	if after != "" {
		v.Pages.Newer = "/dashboard/plants"
	}
	if list.More {
		v.Pages.Older = "?after=" + strconv.FormatInt(list.Rows[len(list.Rows)-1].ID, 10)
	}
	return nil
}

// callerOf is the page's caller, whose token opens the plant store. Error: 403.
func callerOf(r *http.Request) (*account.Caller, error) {
	c := account.CallerFrom(r.Context())
	if c == nil {
		return nil, page.NoCaller()
	}
	if c.Allows(scope.Plants, false) != nil {
		return nil, plant.NoScope()
	}
	return c, nil
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
		err = p.remove(r, id)
	} else {
		v.ID, v.Name, v.Tag = form.Text("id"), form.Get("name"), form.Get("tag")
		err = p.add(r, v)
	}
	if err == nil {
		return page.Done(w, r, "/dashboard/plants", done)
	}
	return page.RefuseWith(p.t, w, r, "plants.html", err,
		func(r *http.Request) (*view, error) { return v, p.fill(r, v) }, nil)
}

// add adds the plant that was typed. Errors: those of plant.Parse and plant.Service.Create.
func (p *Pages) add(r *http.Request, v *view) error {
	caller, err := callerOf(r)
	if err != nil {
		return err
	}
	ctx, err := p.kit.Room(r.Context(), caller)
	if err != nil {
		return err
	}
	made, err := plant.Parse(v.ID, v.Name, v.Tag)
	if err != nil {
		return err
	}
	return p.plants.Create(ctx, caller, made)
}

func (p *Pages) remove(r *http.Request, id string) error {
	caller, err := callerOf(r)
	if err != nil {
		return err
	}
	n, err := plant.ReadID(id)
	if err != nil {
		return err
	}
	return p.plants.Delete(r.Context(), caller, n)
}
