package page

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

// shared are the templates that all pages have.
var shared = sync.OnceValue(func() *template.Template {
	funcs := functions()
	funcs["assets"] = theAssets
	return template.Must(template.New("").Funcs(funcs).ParseFS(files, "templates/*.html"))
})

// plain are the shared ones alone, for pages of errors. One that has been executed cannot be cloned.
var plain = sync.OnceValue(func() *template.Template { return template.Must(shared().Clone()) })

// Templates are those of one room, and the shared ones.
type Templates struct{ set func() *template.Template }

// ReadTemplates are a room's templates, templates/*.html of its files and of those of rooms below it. A template is named
// by its file. They are read once in a process, when a page is first asked for; a mistake in them is a panic then, and in
// every test of a page.
func ReadTemplates(from ...fs.FS) *Templates {
	return &Templates{sync.OnceValue(func() *template.Template {
		set := template.Must(shared().Clone())
		for _, files := range from {
			template.Must(set.ParseFS(files, "templates/*.html"))
		}
		return set
	})}
}

// policy lets pages load their own files alone, and send forms to their own site alone.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Outward is a view whose form leads to another site once it was taken.
type Outward interface {
	LeadsTo() string // scheme and host of it, in plain letters; empty: to none
}

// headersFor are headers that let the view's form lead where it says: browsers hold redirects against the policy, too.
func headersFor(w http.ResponseWriter, r *http.Request, view any) {
	headers(w, r)
	if v, is := view.(Outward); is && v.LeadsTo() != "" {
		w.Header().Set("Content-Security-Policy", strings.Replace(policy, "form-action 'self'", "form-action 'self' "+v.LeadsTo(), 1))
	}
}

const vary = "Accept, Authorization, Cookie"

func headers(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Vary", vary)
	scope := "public"
	if account.CallerFrom(r.Context()) != nil {
		scope = "private"
	}
	h.Set("Cache-Control", scope+", max-age=0, must-revalidate")
}

// Page answers 200 with a filled template.
func (t *Templates) Page(w http.ResponseWriter, r *http.Request, name string, view any) error {
	headersFor(w, r, view)
	b := &held{to: w, request: r}
	if err := t.set().ExecuteTemplate(b, name, view); err != nil || b.begun {
		return err
	}
	if web.NotModified(w, r, web.Tag(b.Bytes())) {
		return nil
	}
	if err := b.hold(); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Secret answers 200 with a page that shows something once, such as a new token: it is kept nowhere.
func (t *Templates) Secret(w http.ResponseWriter, r *http.Request, name string, view any) error {
	if err := holdEcho(r); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.set().ExecuteTemplate(&b, name, view); err != nil {
		return err
	}
	headers(w, r)
	w.Header().Set("Cache-Control", "no-store")
	_, err := w.Write(b.Bytes())
	return err
}

// Again answers a form that was not taken: the page with what was sent and what was wrong with it.
func (t *Templates) Again(w http.ResponseWriter, r *http.Request, name string, p *Problem, view any) error {
	if err := holdEcho(r); err != nil {
		return err
	}
	headersFor(w, r, view)
	var b bytes.Buffer
	if err := t.set().ExecuteTemplate(&b, name, view); err != nil {
		return err
	}
	w.WriteHeader(p.Status)
	_, err := w.Write(b.Bytes())
	return err
}

// perEchoed is how many bytes a page may need for each of the form that it shows again: a quote becomes five, and the
// buffer has room to grow.
const perEchoed = 6

// holdEcho asks for the memory of a page that shows the request's form again, before it is rendered.
func holdEcho(r *http.Request) error {
	return admission.Hold(r.Context(), perEchoed*max(r.ContentLength, 0))
}

// held holds a small page whole; a large one goes out while it is rendered.
type held struct {
	bytes.Buffer
	to      http.ResponseWriter
	request *http.Request
	begun   bool
}

// hold asks for the page's memory until it is sent: a slow client may read it for minutes.
func (h *held) hold() error { return admission.Hold(h.request.Context(), int64(h.Cap())) }

// Write implements io.Writer.
func (h *held) Write(b []byte) (int, error) {
	if !h.begun && h.Len()+len(b) <= web.MaxHeld {
		return h.Buffer.Write(b)
	}
	if !h.begun {
		if err := h.hold(); err != nil {
			return 0, err
		}
		h.begun = true
		if _, err := h.to.Write(h.Bytes()); err != nil {
			return 0, err
		}
		h.Reset()
	}
	return h.to.Write(b)
}
