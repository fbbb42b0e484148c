package server

import (
	"net/http"
	"strconv"
	"sync"

	"arbor/internal/apidoc"
	"arbor/internal/plant"
	"arbor/internal/web"
)

// operation names where the documentation page speaks of the route:
// get-repos-owner-repo (decision 15).
func (r *Route) operation() string { return apidoc.Operation(r.Method, r.Pattern) }

// docs are what the server says of itself, each made when it is first asked for.
type docs struct {
	page    func() (*apidoc.Page, error)
	hosting func() ([]byte, error)
	plants  func() ([]byte, error)
}

func newDocs(routes []Route) *docs {
	return &docs{
		page: sync.OnceValues(func() (*apidoc.Page, error) {
			var numbers []apidoc.Number
			for _, c := range plant.Conditions() {
				numbers = append(numbers, apidoc.Number(c))
			}
			return apidoc.NewPage(numbers, others(routes))
		}),
		hosting: apidoc.CodeHosting,
		plants:  apidoc.Plants,
	}
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
	site := web.From(r.Context()).Site
	h := w.Header()
	h.Set("Content-Security-Policy", page.Policy)
	h.Set("Referrer-Policy", "no-referrer")
	return publish(w, r, "text/html; charset=utf-8", page.HTML, func(b []byte) []byte { return apidoc.PageAt(b, site) })
}

// GET /openapi/code-hosting.json
//
// CodeHostingDocument answers the OpenAPI document of the code-hosting API,
// with the address under which the caller reached the server.
func (s *Server) CodeHostingDocument(w http.ResponseWriter, r *http.Request) error {
	return answerDocument(w, r, s.docs.hosting)
}

// GET /openapi/plants.json
//
// PlantsDocument answers the OpenAPI document of the plant store, likewise.
func (s *Server) PlantsDocument(w http.ResponseWriter, r *http.Request) error {
	return answerDocument(w, r, s.docs.plants)
}

func answerDocument(w http.ResponseWriter, r *http.Request, document func() ([]byte, error)) error {
	text, err := document()
	if err != nil {
		return err
	}
	site := web.From(r.Context()).Site
	h := w.Header()
	h["Access-Control-Allow-Origin"] = any1
	h["Access-Control-Expose-Headers"] = exposed
	return publish(w, r, "application/json; charset=utf-8", text, func(b []byte) []byte { return apidoc.At(b, site) })
}

// publish answers what is the same for everyone who uses the same address of
// the server.
func publish(w http.ResponseWriter, r *http.Request, kind string, body []byte, at func([]byte) []byte) error {
	h := w.Header()
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = publicCache
	body = at(body)
	if web.NotModified(w, r, web.Tag(body)) {
		return nil
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, err := w.Write(body)
	return err
}
