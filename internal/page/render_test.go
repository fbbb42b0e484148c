package page

import (
	"html/template"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/admission"
	"arbor/internal/test/testkit"
	"arbor/internal/web"
)

// echoing is a view that looks at what its request has been granted, each time that a part of it is rendered.
type echoing struct {
	ticket *admission.Ticket
	text   string
	shown  int
	short  int // the most that was rendered without having been asked for
}

func (e *echoing) Next() string {
	e.short = max(e.short, e.shown-heldFree-int(e.ticket.Cost()))
	e.shown += len(e.text)
	return e.text
}

// The memory of a page is asked for before the page is rendered, part by part; that of a form shown again is
// asked for whole, also where the form did not tell its length.
func TestRenderedIsGranted(t *testing.T) {
	t.Parallel()
	set := template.Must(template.New("").Parse(
		`{{define "page"}}{{range $n := .Parts}}{{$.Next}}{{end}}{{end}}`))
	pages := &Templates{set: func() *template.Template { return set }}
	type view struct {
		*echoing
		Parts []int
	}
	ask := func(sent int, do func(w http.ResponseWriter, r *http.Request,
		v view) error) (*httptest.ResponseRecorder, *echoing) {
		t.Helper()
		ticket := admission.New(1<<30, nil).NewTicket(admission.Holder{})
		r := httptest.NewRequest("POST", "/", nil)
		r = web.With(r, &web.Info{})
		r = r.WithContext(admission.With(r.Context(), ticket))
		r.Body, r.ContentLength = &web.Body{Data: make([]byte, sent)}, -1 // as of a chunked body
		w, e := httptest.NewRecorder(), &echoing{ticket: ticket, text: strings.Repeat("x", 8<<10)}
		testkit.NoError(t, do(w, r, view{e, make([]int, 300)}))
		if w.Body.Len() != 300*len(e.text) || e.short > 0 {
			t.Errorf("%d bytes were sent, and %d rendered that nobody had asked for", w.Body.Len(), e.short)
		}
		return w, e
	}
	first := int64(0)
	const sent = 200 << 10
	w, _ := ask(sent, func(w http.ResponseWriter, r *http.Request, v view) error {
		v.text = strings.Repeat("y", len(v.text))
		set := template.Must(template.New("").Funcs(template.FuncMap{"note": func() string {
			if first == 0 {
				first = v.ticket.Cost()
			}
			return ""
		}}).Parse(`{{define "page"}}{{note}}{{range $n := .Parts}}{{$.Next}}{{end}}{{end}}`))
		return (&Templates{set: func() *template.Template {
			return set
		}}).Again(w, r, "page", &Problem{Status: 422}, v)
	})
	if w.Code != 422 || first < perEchoed*sent {
		t.Errorf("status %d; %d bytes were granted before the page was rendered", w.Code, first)
	}
	ask(0, func(w http.ResponseWriter, r *http.Request, v view) error { return pages.Page(w, r, "page", v) })
	ask(0, func(w http.ResponseWriter, r *http.Request, v view) error {
		return pages.Secret(w, r, "page", v)
	})
}
