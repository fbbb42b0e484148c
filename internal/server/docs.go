package server

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime/debug"
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
type docs struct{ page, hosting, plants *rendition }

func newDocs(routes []Route) *docs {
	page := func() (*apidoc.Page, error) {
		var numbers []apidoc.Number
		for _, c := range plant.Conditions() {
			numbers = append(numbers, apidoc.Number(c))
		}
		return apidoc.NewPage(numbers, others(routes))
	}
	document := func(load func() ([]byte, error)) *rendition {
		return newRendition("application/json; charset=utf-8", apidoc.At, func() (text []byte, policy string, err error) {
			text, err = load()
			return text, "", err
		})
	}
	return &docs{
		page: newRendition("text/html; charset=utf-8", apidoc.PageAt, func() (text []byte, policy string, err error) {
			p, err := page()
			if err != nil {
				return nil, "", err
			}
			return p.HTML, p.Policy, nil
		}),
		hosting: document(apidoc.CodeHosting),
		plants:  document(apidoc.Plants),
	}
}

// rendition is a page or document for who reaches the server by one address. It
// is kept compressed, which is a tenth of it: as it was made, and for the last
// address, since hardly any server has two.
type rendition struct {
	kind string // its content type
	at   func(text []byte, site string) []byte
	made func() (*template, error)
	last atomic.Pointer[published]
}

// template is a rendition for the address that stands for all.
type template struct {
	zipped []byte
	policy string // its Content-Security-Policy; empty: it needs none
}

type published struct {
	site   string
	zipped []byte
	size   int // of the text in bytes
	etag   string
}

func newRendition(kind string, at func(text []byte, site string) []byte, load func() (text []byte, policy string, err error)) *rendition {
	return &rendition{kind: kind, at: at, made: sync.OnceValues(func() (*template, error) {
		text, policy, err := load()
		if err != nil {
			return nil, err
		}
		zipped, err := zip(text)
		// What it was made of is tens of megabytes of garbage, which a server
		// that does little else would keep for minutes.
		debug.FreeOSMemory()
		return &template{zipped, policy}, err
	})}
}

// publish makes the rendition for an address.
func (d *rendition) publish(t *template, site string) (*published, error) {
	if p := d.last.Load(); p != nil && p.site == site {
		return p, nil
	}
	var b bytes.Buffer
	if err := unzip(&b, t.zipped); err != nil {
		return nil, err
	}
	text := d.at(b.Bytes(), site)
	zipped, err := zip(text)
	if err != nil {
		return nil, err
	}
	p := &published{site, zipped, len(text), web.Tag(text)}
	d.last.Store(p)
	return p, nil
}

// answer sends it compressed to who takes that. The entity tag is weak, so it
// stands for both forms (RFC 9110, 8.8.1).
func (d *rendition) answer(w http.ResponseWriter, r *http.Request) error {
	t, err := d.made()
	if err != nil {
		return err
	}
	p, err := d.publish(t, web.From(r.Context()).Site)
	if err != nil {
		return err
	}
	h := w.Header()
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = publicCache
	h["Vary"] = varyEncoding
	if t.policy != "" {
		h.Set("Content-Security-Policy", t.policy)
	}
	if web.NotModified(w, r, p.etag) {
		return nil
	}
	h.Set("Content-Type", d.kind)
	if web.AcceptsGzip(r.Header["Accept-Encoding"]) {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(p.zipped)))
		_, err := w.Write(p.zipped)
		return err
	}
	h.Set("Content-Length", strconv.Itoa(p.size))
	if r.Method == http.MethodHead {
		return nil
	}
	return unzip(w, p.zipped)
}

func zip(text []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	err := z.Close()
	return bytes.Clone(b.Bytes()), err
}

func unzip(w io.Writer, zipped []byte) error {
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	if err == nil {
		_, err = io.Copy(w, z)
	}
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
	w.Header().Set("Referrer-Policy", "no-referrer")
	return s.docs.page.answer(w, r)
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

// answerDocument lets programs of other sites read it, too.
func answerDocument(w http.ResponseWriter, r *http.Request, d *rendition) error {
	h := w.Header()
	h["Access-Control-Allow-Origin"] = any1
	h["Access-Control-Expose-Headers"] = exposed
	return d.answer(w, r)
}
