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

// ReadTemplates are a room's templates, templates/*.html of its files and of those of rooms below it. A
// template is named by its file. They are read once in a process, when a page is first asked for; a mistake
// in them is a panic then, and in every test of a page.
func ReadTemplates(from ...fs.FS) *Templates {
	return &Templates{sync.OnceValue(func() *template.Template {
		set := template.Must(shared().Clone())
		for _, files := range from {
			template.Must(set.ParseFS(files, "templates/*.html"))
		}
		return set
	})}
}

// policy allows pages to load only their own site's files, and to send forms only to it.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Outward is a view whose form leads to another site once it was taken.
type Outward interface {
	LeadsTo() string // scheme and host of it, in plain letters; empty: to none
}

// headersFor are headers that let the view's form lead where it says: browsers hold redirects against the
// policy, too.
func headersFor(w http.ResponseWriter, r *http.Request, view any) {
	headers(w, r)
	if v, is := view.(Outward); is && v.LeadsTo() != "" {
		w.Header().Set("Content-Security-Policy",
			strings.Replace(policy, "form-action 'self'", "form-action 'self' "+v.LeadsTo(), 1))
	}
}

const vary = "Accept, Accept-Encoding, Authorization, Cookie"

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

// Page answers 200 with a filled template, compressed where package web allows that.
func (t *Templates) Page(w http.ResponseWriter, r *http.Request, name string, view any) error {
	headersFor(w, r, view)
	once := sayOnce(w, r, view)
	b := &held{to: w, request: r, status: http.StatusOK}
	if err := t.set().ExecuteTemplate(inZone(r, b), name, view); err != nil || b.begun {
		return err
	}
	if !once && web.NotModified(w, r, web.Tag(b.Bytes())) {
		return nil
	}
	web.From(r.Context()).MayZipPage(r, account.CallerFrom(r.Context()) != nil)
	body, err := web.Zip(w, r, b.Bytes())
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	_, err = w.Write(body)
	return err
}

// Show is Page for a view that was just read. Errors: that of reading it.
func (t *Templates) Show(w http.ResponseWriter, r *http.Request, name string, view any, err error) error {
	if err != nil {
		return err
	}
	return t.Page(w, r, name, view)
}

// Secret answers 200 with a page that shows something once, such as a new token: it is kept nowhere.
func (t *Templates) Secret(w http.ResponseWriter, r *http.Request, name string, view any) error {
	headers(w, r)
	sayOnce(w, r, view)
	w.Header().Set("Cache-Control", "no-store")
	return t.echo(w, r, name, &Problem{Status: http.StatusOK}, view)
}

// Again answers a form that was not taken: the page with what was sent and what was wrong with it.
func (t *Templates) Again(w http.ResponseWriter, r *http.Request, name string, p *Problem, view any) error {
	headersFor(w, r, view)
	return t.echo(w, r, name, p, view)
}

// View is what a page shows: a pointer to a struct that embeds [Frame].
type View interface{ frame() *Frame }

func (f *Frame) frame() *Frame { return f }

// Refuse is Again for a form that was not taken because of err. Error: err, if users cannot correct it.
func (t *Templates) Refuse(w http.ResponseWriter, r *http.Request, name string, err error, view View) error {
	problem, err := ProblemOf(err)
	if err != nil {
		return err
	}
	view.frame().Problem = problem
	return t.Again(w, r, name, problem, view)
}

// RefuseWith is Refuse with a view that load reads now, only if users can correct the error. typed puts into it
// what the form sent; nil: nothing. Errors: those of Refuse and of load.
func RefuseWith[V View](t *Templates, w http.ResponseWriter, r *http.Request, name string, err error,
	load func(*http.Request) (V, error), typed func(V),
) error {
	problem, err := ProblemOf(err)
	if err != nil {
		return err
	}
	view, err := load(r)
	if err != nil {
		return err
	}
	if view.frame().Problem = problem; typed != nil {
		typed(view)
	}
	return t.Again(w, r, name, problem, view)
}

// echo answers with a page that shows the request's form again.
func (t *Templates) echo(w http.ResponseWriter, r *http.Request, name string, p *Problem, view any) error {
	if err := holdEcho(r); err != nil {
		return err
	}
	b := &held{to: w, request: r, status: p.Status}
	if err := t.set().ExecuteTemplate(inZone(r, b), name, view); err != nil || b.begun {
		return err
	}
	page := placeFaults(b.Bytes(), p.Fields)
	b.Buffer = *bytes.NewBuffer(page)
	return b.end()
}

// perEchoed is how many bytes html/template may need for each of a field that it escapes: a quote becomes
// five.
const perEchoed = 6

// holdEcho asks for the memory in which the fields of the request's form are escaped, before the page is
// rendered. A body that did not tell its length is as long as what was read.
func holdEcho(r *http.Request) error {
	size := r.ContentLength
	if body, ok := r.Body.(*web.Body); ok {
		size = max(size, int64(len(body.Data)))
	}
	return admission.Hold(r.Context(), perEchoed*max(size, 0))
}

// held holds a small page whole; a large one goes out while it is rendered. Its memory is asked for before it
// is used, and kept until the page is sent: a slow client may read it for minutes.
type held struct {
	bytes.Buffer
	to       http.ResponseWriter
	request  *http.Request
	status   int
	begun    bool
	reserved int // bytes that the buffer may take
}

const (
	heldFree = 64 << 10 // what each request may hold without asking
	heldStep = 4        // each time it asks for so many times as much, which is more than what is free
)

// reserve asks for memory until the buffer may take so many bytes.
func (h *held) reserve(bytes int) error {
	if h.reserved == 0 {
		h.reserved = heldFree
	}
	for h.reserved < bytes {
		if err := admission.Hold(h.request.Context(), int64((heldStep-1)*h.reserved)); err != nil {
			return err
		}
		h.reserved *= heldStep
	}
	return nil
}

// Write implements io.Writer.
func (h *held) Write(b []byte) (int, error) {
	if !h.begun && h.Len()+len(b) <= web.MaxHeld {
		if err := h.reserve(2 * (h.Len() + len(b))); err != nil { // the buffer grows to twice its size
			return 0, err
		}
		return h.Buffer.Write(b)
	}
	if !h.begun {
		h.begun = true
		if err := h.end(); err != nil {
			return 0, err
		}
		h.Reset()
	}
	return h.to.Write(b)
}

// end sends what is held.
func (h *held) end() error {
	h.to.WriteHeader(h.status)
	_, err := h.to.Write(h.Bytes())
	return err
}
