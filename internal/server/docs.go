package server

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"
	"sync"

	"arbor/internal/plant"
	"arbor/internal/web"
)

// operation names where the documentation page speaks of the route:
// get-repos-owner-repo (decision 15).
func (r *Route) operation() string {
	id := strings.ToLower(r.Method) + r.Pattern
	id = strings.NewReplacer("{", "", "}", "", "...", "", "/", "-", "_", "-", ".", "-").Replace(id)
	return strings.TrimSuffix(id, "-")
}

// docsPage is the page that documentation_url points to: each operation with
// its right, and the plant store's error numbers.
type docsPage struct {
	once   sync.Once
	routes []Route
	body   []byte
	err    error
}

var docsTemplate = template.Must(template.New("docs").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Arbor: the interface</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b2a1b}
code{background:#eef3ee;padding:.1em .3em;border-radius:3px}dt{margin-top:1rem}dt:target{background:#fff3b0}
td,th{text-align:left;padding:.2rem .8rem .2rem 0;vertical-align:top}</style></head><body>
<h1>The interface of Arbor</h1>
<p>Each operation with the right that it needs. Those of the code-hosting API answer under <code>/api/v3</code> too.</p>
<dl>{{range .Routes}}<dt id="{{.ID}}"><a href="#{{.ID}}"><code>{{.Method}} {{.Pattern}}</code></a></dt><dd>{{.Right}}</dd>
{{end}}</dl>
<h2 id="plant-errors">Error numbers of the plant store</h2>
<table><tr><th>error</th><th>status</th><th>when</th></tr>
{{range .Conditions}}<tr><td>{{.Number}}</td><td>{{.Status}}</td><td>{{.When}}</td></tr>
{{end}}</table></body></html>
`))

func (d *docsPage) render() {
	type entry struct{ ID, Method, Pattern, Right string }
	data := struct {
		Routes     []entry
		Conditions []plant.Condition
	}{Conditions: plant.Conditions()}
	for _, r := range d.routes {
		data.Routes = append(data.Routes, entry{r.operation(), r.Method, r.Pattern, describe(r.Right)})
	}
	var b bytes.Buffer
	d.err = docsTemplate.Execute(&b, data)
	d.body = b.Bytes()
}

// describe is a right in a person's words.
func describe(right Right) string {
	switch right {
	case Anyone:
		return "Open to anyone."
	case SignedIn:
		return "Needs a token."
	case Pull:
		return "Needs pull access to the repository; everyone has it on a public one."
	case Push:
		return "Needs push access to the repository."
	default:
		return "Needs administrative rights on the repository."
	}
}

// GET /docs
//
// Docs answers the documentation page, for people.
func (s *Server) Docs(w http.ResponseWriter, r *http.Request) error {
	s.docs.once.Do(s.docs.render)
	if s.docs.err != nil {
		return s.docs.err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	if web.NotModified(w, r, web.Tag(s.docs.body)) {
		return nil
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, err := w.Write(s.docs.body)
	return err
}
