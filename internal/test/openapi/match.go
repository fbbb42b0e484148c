package openapi

import (
	"regexp"
	"slices"
	"strings"
)

// template is a path of a document.
type template struct {
	path string
	rank string // by which templates are ordered: the first that fits counts
	fits *regexp.Regexp
}

// newTemplate reads a path; multi has the names of its placeholders that may
// hold slashes.
func newTemplate(path string, multi map[string]bool) template {
	var rank, pattern strings.Builder
	pattern.WriteByte('^')
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		name, placeholder := strings.CutPrefix(segment, "{")
		name, end, _ := strings.Cut(name, "}")
		pattern.WriteByte('/')
		switch {
		case !placeholder:
			rank.WriteByte('0')
			pattern.WriteString(regexp.QuoteMeta(segment))
		case multi[name]:
			rank.WriteByte('2')
			pattern.WriteString(".+")
		default:
			rank.WriteByte('1')
			pattern.WriteString("[^/]+" + regexp.QuoteMeta(end))
		}
	}
	pattern.WriteByte('$')
	return template{path, rank.String() + "9", regexp.MustCompile(pattern.String())}
}

// multi collects the placeholders of a path that may hold slashes.
func (d *document) multi(item map[string]any) map[string]bool {
	names := map[string]bool{}
	for _, op := range item {
		for _, p := range array(object(op)["parameters"]) {
			if p := d.resolve(p); p["x-multi-segment"] == true {
				names[p["name"].(string)] = true
			}
		}
	}
	return names
}

// Match finds the path of the documents that serves an escaped path of a
// request, perhaps under /api/v3, for observers of requests from outside: it is the
// Pattern of an Exchange. Empty when none does.
func (c *Checker) Match(path string) string {
	if rest, ok := strings.CutPrefix(path, "/api/v3"); ok && (rest == "" || rest[0] == '/') {
		path = "/" + strings.TrimPrefix(rest, "/")
	}
	i := slices.IndexFunc(c.templates, func(t template) bool { return t.fits.MatchString(path) })
	if i < 0 {
		return ""
	}
	return c.templates[i].path
}
