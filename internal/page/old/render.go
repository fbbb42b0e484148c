package old

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

// renderer fills the templates and knows the policy that their one stylesheet
// needs.
type renderer struct {
	templates *template.Template
	policy    string
}

// newRenderer reads the embedded templates; a mistake in them is a panic at
// the start and in every test.
func newRenderer() *renderer {
	css, err := files.ReadFile("templates/style.css")
	if err != nil {
		panic(err)
	}
	// Trusted: it is compiled in, and holds nothing that anyone sent.
	style := template.CSS(css)
	sum := sha256.Sum256(css)
	return &renderer{
		templates: template.Must(template.New("").
			Funcs(template.FuncMap{"style": func() template.CSS { return style }}).
			ParseFS(files, "templates/*.html")),
		policy: "default-src 'none'; img-src 'self'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}
}

// page answers 200 with a filled template.
func (p *renderer) page(w http.ResponseWriter, r *http.Request, name string, data any) error {
	p.headers(w)
	scope := "public"
	if account.CallerFrom(r.Context()) != nil {
		scope = "private"
	}
	w.Header().Set("Cache-Control", scope+", max-age=0, must-revalidate")
	b := &held{to: w, request: r}
	if err := p.templates.ExecuteTemplate(b, name, data); err != nil || b.begun {
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

func (p *renderer) headers(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", p.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Vary", "Accept, Authorization")
}

// Asked reports whether a client asks for a page rather than for the API's JSON, as
// browsers do.
func Asked(r *http.Request) bool {
	return strings.Contains(strings.Join(r.Header["Accept"], ","), "text/html")
}

// errors is the form of errors for those who asked for HTML. Anyone else at
// such an address is a program that looks for the API.
func (p *renderer) errors(w http.ResponseWriter, r *http.Request, status int, e *errs.Error) {
	w.Header().Set("Vary", "Accept, Authorization")
	if !Asked(r) {
		web.APIErrors(w, r, status, e)
		return
	}
	var b bytes.Buffer
	data := struct{ Title, Message string }{http.StatusText(status), e.Message}
	if status == http.StatusNotFound {
		data.Message = "There is nothing at this address, or nothing that everyone may see."
	}
	if err := p.templates.ExecuteTemplate(&b, "error.html", data); err != nil {
		web.APIErrors(w, r, status, e)
		return
	}
	p.headers(w)
	w.WriteHeader(status)
	w.Write(b.Bytes())
}
