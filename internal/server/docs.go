package server

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"arbor/internal/apidoc"
	"arbor/internal/web"
)

// docs are what the server says of itself.
type docs struct{ page, script, redoc, hosting, plants *rendition }

// The same is compiled into all servers of a process: it is read and compressed when one is first asked for
// it.
var (
	zippedPage   = zipped(func() ([]byte, error) { return apidoc.Page, nil })
	zippedScript = zipped(func() ([]byte, error) { return apidoc.Script, nil })
	zippedRedoc  = zipped(func() ([]byte, error) { return apidoc.Redoc, nil })
)

func newDocs(rights apidoc.Rights) *docs {
	hosting := zipped(func() ([]byte, error) { return apidoc.CodeHosting(rights) })
	plants := zipped(func() ([]byte, error) { return apidoc.Plants(rights) })
	const script, document = "text/javascript; charset=utf-8", "application/json; charset=utf-8"
	return &docs{
		page:    &rendition{kind: "text/html; charset=utf-8", made: zippedPage},
		script:  &rendition{kind: script, made: zippedScript},
		redoc:   &rendition{kind: script, made: zippedRedoc},
		hosting: &rendition{kind: document, made: hosting, at: apidoc.At},
		plants:  &rendition{kind: document, made: plants, at: apidoc.At},
	}
}

// Rights are the rights of all routes, of which the documents are made.
func (s *Server) Rights() apidoc.Rights {
	rights := map[string]string{}
	for _, r := range s.routes {
		rights[r.Method+" "+strings.ReplaceAll(r.Pattern, "...}", "}")] = string(r.Right)
	}
	return func(method, path string) string { return rights[method+" "+path] }
}

// rendition is a page or a document, for the address by which clients reach the server. It
// is kept compressed, which is a tenth of it: as it was made, and for the last
// address, since hardly any server has two.
type rendition struct {
	kind string                                // its content type
	at   func(text []byte, site string) []byte // nil: it is the same for all addresses
	made func() (zipped []byte, err error)     // for the address that stands for all
	last atomic.Pointer[published]
}

type published struct {
	site   string
	zipped []byte
	size   int // of the text in bytes
	etag   string
}

// zipped makes a function that loads and compresses a text once.
func zipped(load func() ([]byte, error)) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		text, err := load()
		if err != nil {
			return nil, err
		}
		zipped, err := zip(text)
		// The YAML leaves tens of megabytes of garbage, which an idle server would keep for minutes.
		debug.FreeOSMemory()
		return zipped, err
	})
}

// publish makes the rendition for an address.
func (d *rendition) publish(made []byte, site string) (*published, error) {
	if d.at == nil {
		site = ""
	}
	if p := d.last.Load(); p != nil && p.site == site {
		return p, nil
	}
	var b bytes.Buffer
	if err := unzip(&b, made); err != nil {
		return nil, err
	}
	text, zipped := b.Bytes(), made
	if d.at != nil {
		var err error
		text = d.at(text, site)
		if zipped, err = zip(text); err != nil {
			return nil, err
		}
	}
	p := &published{site, zipped, len(text), web.Tag(text)}
	d.last.Store(p)
	return p, nil
}

// answer sends it, compressed to clients that take that. The entity tag is weak, so it
// stands for both forms (RFC 9110, 8.8.1).
func (d *rendition) answer(w http.ResponseWriter, r *http.Request) error {
	made, err := d.made()
	if err != nil {
		return err
	}
	p, err := d.publish(made, web.From(r.Context()).Site)
	if err != nil {
		return err
	}
	h := w.Header()
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = publicCache
	h["Vary"] = varyEncoding
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

// GET /docs
//
// Docs answers the documentation page, for people: both services, each
// operation where documentation_url leads to.
func (s *Server) Docs(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Content-Security-Policy", apidoc.PagePolicy)
	return s.docs.page.answer(w, r)
}

// GET /docs/docs.js
//
// DocsScript answers what opens the documents on the page.
func (s *Server) DocsScript(w http.ResponseWriter, r *http.Request) error {
	return s.docs.script.answer(w, r)
}

// GET /docs/redoc.js
//
// DocsRenderer answers what shows them.
func (s *Server) DocsRenderer(w http.ResponseWriter, r *http.Request) error {
	return s.docs.redoc.answer(w, r)
}

// GET /openapi/code-hosting.json
//
// CodeHostingDocument answers the OpenAPI document of the code-hosting API,
// with the address under which the caller reached the server.
func (s *Server) CodeHostingDocument(w http.ResponseWriter, r *http.Request) error {
	return s.answerDocument(w, r, s.docs.hosting)
}

// GET /openapi/plants.json
//
// PlantsDocument answers the OpenAPI document of the plant store, likewise.
func (s *Server) PlantsDocument(w http.ResponseWriter, r *http.Request) error {
	return s.answerDocument(w, r, s.docs.plants)
}

// answerDocument lets programs of other sites read it, too.
func (s *Server) answerDocument(w http.ResponseWriter, r *http.Request, d *rendition) error {
	s.allowOrigins(w.Header())
	return d.answer(w, r)
}
