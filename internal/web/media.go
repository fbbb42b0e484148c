package web

import (
	"net/http"
	"strings"

	"arbor/internal/errs"
)

// Media is the parsed Accept header, in either dialect (decisions 1-5).
type Media struct {
	Graduated bool // a vnd.github type was named: all previews are on
	JSON      bool // an answer in JSON is acceptable
	// the first kind named: raw, text, html, full, diff, patch, star, sha, object, text-match, or ""
	Kind  string
	Type  string   // the type of GitHub's tree that named Kind, without +json; "" when none did
	Asked []string // kinds and known previews in the order of the request, each once
}

// Previews of the interface (code-hosting.md). Others are ignored (decision 5).
const (
	Reactions  = "squirrel-girl-preview" // the reactions object of issues
	Assignees  = "cerberus-preview"      // several assignees
	Locking    = "the-key-preview"       // lock and unlock
	SquashWith = "polaris-preview"       // squash and commit_title of a merge
)

var previews = [...]string{Reactions, Assignees, Locking, SquashWith}

var kinds = [...]string{"raw", "text", "html", "full", "diff", "patch", "star", "sha", "object", "text-match"}

// Preview reports whether the named preview is on for this request: requested or graduated.
func (m *Media) Preview(name string) bool {
	if m.Graduated {
		return true
	}
	for _, a := range m.Asked {
		if a == name {
			return true
		}
	}
	return false
}

// RequirePreview returns the 415 of a request for which the named preview is off;
// it names the media type that switches it on (decision 6). what begins its
// message: "Reactions are".
func RequirePreview(r *http.Request, name, what string) error {
	if From(r.Context()).Media.Preview(name) {
		return nil
	}
	return errs.New(errs.UnsupportedMedia, what+" the preview "+name+
		": send an 'Accept' header with application/vnd.service."+name+"+json")
}

// Header returns the value of X-Service-Media-Type or, with the vendor "github",
// of X-GitHub-Media-Type (decision 4).
func (m *Media) Header(vendor string) string {
	if len(m.Asked) == 0 {
		if vendor == "service" {
			return "service.v3; format=json"
		}
		return vendor + ".v3; format=json"
	}
	var b strings.Builder
	b.WriteString(vendor)
	b.WriteString(".v3; ")
	for _, a := range m.Asked {
		b.WriteString("param=")
		b.WriteString(a)
		b.WriteString("; ")
	}
	b.WriteString("format=json")
	return b.String()
}

// ParseAccept reads the values of all Accept headers of a request. It never
// fails: what cannot be read names nothing. No header at all accepts JSON.
func ParseAccept(values []string) Media {
	var m Media
	named := false
	for _, v := range values {
		for v != "" {
			var element string
			element, v, _ = strings.Cut(v, ",")
			element = strings.TrimSpace(element)
			if element != "" {
				named = true
				m.add(element)
			}
		}
	}
	if !named {
		m.JSON = true
	}
	return m
}

// add takes one media range with its parameters.
func (m *Media) add(element string) {
	name, params, _ := strings.Cut(element, ";")
	if refused(params) {
		return
	}
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "*/*", "application/*", "application/json", "text/json":
		m.JSON = true
		return
	}
	rest, ok := strings.CutPrefix(name, "application/vnd.")
	if !ok {
		return
	}
	rest = strings.TrimSuffix(rest, "+json")
	vendor, rest, _ := strings.Cut(rest, ".")
	switch vendor {
	case "service":
	case "github":
		m.Graduated = true
	default:
		return
	}
	m.JSON = true
	if rest == "v3" {
		return
	}
	before := m.Kind
	m.ask(strings.TrimPrefix(rest, "v3."))
	if before != m.Kind && vendor == "github" {
		m.Type = strings.TrimSuffix(name, "+json")
	}
}

// Text returns the content type of a response that is not JSON. As at GitHub, GitHub's clients get the type
// that they requested; others get plain text. Browsers treat neither as a page of this site.
func (m *Media) Text() string {
	if m.Type != "" {
		return m.Type + "; charset=utf-8"
	}
	return "text/plain; charset=utf-8"
}

// ask records a kind or preview that the interface knows.
func (m *Media) ask(name string) {
	known := false
	for _, k := range kinds {
		if k == name {
			known = true
			if m.Kind == "" {
				m.Kind = k
			}
		}
	}
	for _, p := range previews {
		known = known || p == name
	}
	for _, a := range m.Asked {
		known = known && a != name
	}
	if known {
		m.Asked = append(m.Asked, name)
	}
}

// refused reports a quality of zero among a media range's parameters.
func refused(params string) bool {
	for params != "" {
		var p string
		p, params, _ = strings.Cut(params, ";")
		key, value, _ := strings.Cut(p, "=")
		if !strings.EqualFold(strings.TrimSpace(key), "q") {
			continue
		}
		value = strings.TrimSpace(value)
		return value == "0" || (strings.HasPrefix(value, "0.") && strings.Trim(value[2:], "0") == "")
	}
	return false
}
