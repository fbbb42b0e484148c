package server

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"arbor/internal/apidoc"
	"arbor/internal/plant"
	"arbor/internal/web"
)

// operation names where the documentation page speaks of the route:
// get-repos-owner-repo (decision 15).
func (r *Route) operation() string { return apidoc.Operation(r.Method, r.Pattern) }

// docs are what the server says of itself, each made when it is first asked for.
type docs struct {
	page            func() (*apidoc.Page, error)
	pages           rendition
	hosting, plants rendition
}

func newDocs(routes []Route) *docs {
	page := sync.OnceValues(func() (*apidoc.Page, error) {
		var numbers []apidoc.Number
		for _, c := range plant.Conditions() {
			numbers = append(numbers, apidoc.Number(c))
		}
		return apidoc.NewPage(numbers, others(routes))
	})
	html := func() ([]byte, error) {
		p, err := page()
		if err != nil {
			return nil, err
		}
		return p.HTML, nil
	}
	const json = "application/json; charset=utf-8"
	return &docs{
		page:    page,
		pages:   rendition{kind: "text/html; charset=utf-8", load: html, at: apidoc.PageAt},
		hosting: rendition{kind: json, load: apidoc.CodeHosting, at: apidoc.At},
		plants:  rendition{kind: json, load: apidoc.Plants, at: apidoc.At},
	}
}

// rendition is a page or document for who reaches the server by one address. The
// last one is kept: hardly any server has two.
type rendition struct {
	kind string // its content type
	load func() ([]byte, error)
	at   func(body []byte, site string) []byte
	last atomic.Pointer[published]
}

type published struct {
	site string
	body []byte
	etag string
}

func (d *rendition) answer(w http.ResponseWriter, r *http.Request) error {
	site := web.From(r.Context()).Site
	p := d.last.Load()
	if p == nil || p.site != site {
		body, err := d.load()
		if err != nil {
			return err
		}
		body = d.at(body, site)
		p = &published{site, body, web.Tag(body)}
		d.last.Store(p)
	}
	h := w.Header()
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = publicCache
	if web.NotModified(w, r, p.etag) {
		return nil
	}
	h.Set("Content-Type", d.kind)
	h.Set("Content-Length", strconv.Itoa(len(p.body)))
	_, err := w.Write(p.body)
	return err
}

// others are the addresses beside the two services.
func others(routes []Route) []apidoc.Address {
	var list []apidoc.Address
	for _, r := range routes {
		switch r.Group {
		case Git:
			list = append(list, apidoc.Address{Method: r.Method, Pattern: r.Pattern, About: "For git."})
		case Pages:
			list = append(list, apidoc.Address{Method: r.Method, Pattern: r.Pattern, About: "For people and their machines."})
		}
	}
	return list
}

// GET /docs
//
// Docs answers the documentation page, for people: both services, each
// operation at the anchor that documentation_url names.
func (s *Server) Docs(w http.ResponseWriter, r *http.Request) error {
	page, err := s.docs.page()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", page.Policy)
	h.Set("Referrer-Policy", "no-referrer")
	return s.docs.pages.answer(w, r)
}

// GET /openapi/code-hosting.json
//
// CodeHostingDocument answers the OpenAPI document of the code-hosting API,
// with the address under which the caller reached the server.
func (s *Server) CodeHostingDocument(w http.ResponseWriter, r *http.Request) error {
	return answerDocument(w, r, &s.docs.hosting)
}

// GET /openapi/plants.json
//
// PlantsDocument answers the OpenAPI document of the plant store, likewise.
func (s *Server) PlantsDocument(w http.ResponseWriter, r *http.Request) error {
	return answerDocument(w, r, &s.docs.plants)
}

// answerDocument lets programs of other sites read it, too.
func answerDocument(w http.ResponseWriter, r *http.Request, d *rendition) error {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = any1
	h["Access-Control-Expose-Headers"] = exposed
	return d.answer(w, r)
}
