// Package reference shows the API, as package apidoc describes it.
//
//   - /docs, /docs/{tag}: reference.go
package reference

import (
	"embed"
	"html/template"
	"net/http"
	"strings"

	"arbor/internal/apidoc"
	"arbor/internal/errs"
	"arbor/internal/markdown"
	"arbor/internal/page"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Pages answers the pages of this room.
type Pages struct {
	kit  *page.Kit
	t    *page.Templates
	load func() ([]*apidoc.Reference, error)
}

// New returns the pages. load returns both interfaces; it is called for each page.
func New(kit *page.Kit, load func() ([]*apidoc.Reference, error)) *Pages {
	return &Pages{kit, roomTemplates, load}
}

// Routes are the pages.
func (p *Pages) Routes() []route.Route {
	free := p.kit.Router(route.Needs(scope.None, route.None))
	return []route.Route{
		free.Anyone("GET /docs", p.Index),
		free.Anyone("GET /docs/{tag}", p.Tag),
	}
}

type view struct {
	page.Frame
	site string
	All  []*apidoc.Reference
	Tag  *apidoc.Tag // nil: the list of all operations
}

// Said renders a description.
func (v *view) Said(text string) template.HTML {
	return template.HTML(markdown.Parse(v.At(text)).HTML(markdown.Links{}))
}

// At puts the site's address in the place of the example's.
func (v *view) At(text string) string { return strings.ReplaceAll(text, apidoc.Site, v.site) }

// Path renders the path of an address, which may break after its slashes.
func (v *view) Path(path string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(path), "/", "/<wbr>"))
}

// GET /docs
//
// Index answers the list of all operations. Each documentation_url leads to an operation's line in it, and the
// script on to its description.
func (p *Pages) Index(w http.ResponseWriter, r *http.Request) error { return p.show(w, r, "") }

// GET /docs/{tag}
//
// Tag answers the operations of one group. Error: 404.
func (p *Pages) Tag(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, web.Param(r, "tag"))
}

func (p *Pages) show(w http.ResponseWriter, r *http.Request, tag string) error {
	v := &view{site: web.From(r.Context()).Site}
	var err error
	if v.All, err = p.load(); err != nil {
		return err
	}
	for _, one := range v.All {
		for _, t := range one.Tags {
			if t.Name == tag {
				v.Tag = t
			}
		}
	}
	title := "API"
	if tag != "" {
		if v.Tag == nil {
			return errs.Absent()
		}
		title = "API: " + tag
	}
	v.Frame, err = p.kit.Frame(r, title)
	return p.t.Show(w, r, "reference.html", v, err)
}
