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

// docs are the API descriptions.
type docs struct{ hosting, plants *rendition }

func newDocs(rights apidoc.Rights) *docs {
	hosting := zipped(func() ([]byte, error) { return apidoc.CodeHosting(rights) })
	plants := zipped(func() ([]byte, error) { return apidoc.Plants(rights) })
	return &docs{hosting: &rendition{made: hosting}, plants: &rendition{made: plants}}
}

// Rights returns the rights of all routes, which the API descriptions include.
func (s *Server) Rights() apidoc.Rights {
	rights := map[string]string{}
	for _, r := range s.routes {
		rights[r.Method+" "+strings.ReplaceAll(r.Pattern, "...}", "}")] = string(r.Right)
	}
	return func(method, path string) string { return rights[method+" "+path] }
}

// rendition is a document that contains the address of the server. It is stored compressed, at a tenth of its
// size: once as generated, and once for the address of the last request, since few servers have two.
type rendition struct {
	made func() (zipped []byte, err error) // compressed, with a placeholder address
	last atomic.Pointer[published]
}

type published struct {
	site   string
	zipped []byte
	size   int // of the uncompressed text in bytes
	etag   string
}

// zipped returns a function that loads and compresses a text once.
func zipped(load func() ([]byte, error)) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		text, err := load()
		if err != nil {
			return nil, err
		}
		zipped, err := zip(text)
		// Parsing the YAML leaves tens of megabytes of garbage, which an idle server would hold for
		// minutes.
		debug.FreeOSMemory()
		return zipped, err
	})
}

// publish returns the rendition for an address.
func (d *rendition) publish(made []byte, site string) (*published, error) {
	if p := d.last.Load(); p != nil && p.site == site {
		return p, nil
	}
	var b bytes.Buffer
	if err := unzip(&b, made); err != nil {
		return nil, err
	}
	text := apidoc.At(b.Bytes(), site)
	zipped, err := zip(text)
	if err != nil {
		return nil, err
	}
	p := &published{site, zipped, len(text), web.Tag(text)}
	d.last.Store(p)
	return p, nil
}

// answer sends the rendition, compressed if the client accepts it. The ETag is weak because it is the same
// for both forms (RFC 9110, 8.8.1).
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
	h.Set("Content-Type", "application/json; charset=utf-8")
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

// GET /openapi/code-hosting.json
//
// CodeHostingDocument serves the OpenAPI document of the code-hosting API, with the address that the client
// used.
func (s *Server) CodeHostingDocument(w http.ResponseWriter, r *http.Request) error {
	return s.answerDocument(w, r, s.docs.hosting)
}

// GET /openapi/plants.json
//
// PlantsDocument serves the OpenAPI document of the plant store, with the address that the client used.
func (s *Server) PlantsDocument(w http.ResponseWriter, r *http.Request) error {
	return s.answerDocument(w, r, s.docs.plants)
}

// answerDocument serves a document to pages of all origins.
func (s *Server) answerDocument(w http.ResponseWriter, r *http.Request, d *rendition) error {
	s.allowOrigins(w.Header())
	return d.answer(w, r)
}
