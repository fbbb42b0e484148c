//go:build long

package main

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yosida95/uritemplate/v3"
)

// sure are values that need not be looked for.
var sure = map[string]string{"privacy": "public", "archive_format": "tarball", "query": "greenhouse",
	"q":    "greenhouse",
	"page": "1", "per_page": "5", "sort": "created", "order": "desc", "type": "all", "limit": "3",
	"since": "2011-04-22T13:33:48Z",
	"all":   "true", "participating": "false", "org": demoOrg}

// sorts are the orders of searches that have not that of issues.
var sorts = map[string]string{"repository_search_url": "stars", "user_search_url": "joined",
	"commit_search_url": "author-date", "code_search_url": "indexed"}

// shownAs is the member of a list's elements that fills a variable.
var shownAs = map[string][]string{"collaborator": {"login"}, "member": {"login"}, "other_user": {"login"},
	"user":   {"login"},
	"target": {"login"}, "org": {"login"}, "branch": {"name"}, "name": {"name"}, "owner": {"owner", "login"},
	"repo": {"name"},
	"id":   {"id"}}

// needed is an expression without which an address makes no sense.
var needed = regexp.MustCompile(`\{[\w+]`)

// most is how many expansions of one template are followed.
const most = 2

// expand fills templates with real values: those of a list at the address
// without any, or of addresses that are like it. What only names other
// things, as a query does, has values that are sure.
func (w *walk) expand() {
	for _, l := range w.templates {
		t, err := uritemplate.New(l.address)
		if err != nil {
			w.t.Errorf("%s in %s is no template: %v", l.name(), l.from, err)
			continue
		}
		for _, values := range w.values(l, t) {
			to, err := t.Expand(values)
			if err != nil {
				w.t.Errorf("%s in %s: %v", l.name(), l.from, err)
				continue
			}
			if !w.silent[l.name()] {
				w.met[l.name()+" expanded"] = true
			}
			w.found(link{l.kind, l.field, to, l.from, l.beside})
		}
		if bare, err := t.Expand(nil); err == nil && strings.Contains(l.address, "{/") &&
			!needed.MatchString(l.address) {
			w.found(link{l.kind, l.field, bare, l.from, l.beside})
		}
	}
}

// values are values for all variables of a template.
func (w *walk) values(l link, t *uritemplate.Template) (list []uritemplate.Values) {
	names := t.Varnames()
	filled := uritemplate.Values{}
	for _, n := range names {
		switch branch := l.beside["default_branch"]; {
		case n == "sort" && sorts[l.field] != "":
			filled.Set(n, uritemplate.String(sorts[l.field]))
		case sure[n] != "":
			filled.Set(n, uritemplate.String(sure[n]))
		case branch != nil && (n == "base" || n == "head" || n == "ref"):
			if l.beside["size"] != 0.0 { // else it is not born
				filled.Set(n, uritemplate.String(branch.(string)))
			}
		case l.field == "upload_url": // to which one posts; its list answers
			filled.Set(n, uritemplate.String("other.csv"))
		case w.silent[l.name()]:
			filled.Set(n, uritemplate.String("1"))
		}
	}
	if len(filled) == len(names) {
		return []uritemplate.Values{filled}
	}
	bare, err := t.Expand(nil)
	if err != nil {
		return nil
	}
	elements, _ := w.bodies[bare].([]any)
	for _, e := range elements {
		if v := fromElement(e, names); v != nil && len(list) < most {
			list = append(list, v)
		}
	}
	before, _, _ := strings.Cut(l.address, "{")
	for _, address := range slices.Sorted(maps.Keys(w.bodies)) {
		if len(list) >= most || !strings.HasPrefix(address, before) {
			continue
		}
		address, _, _ = strings.Cut(address, "?")
		v := t.Match(address)
		if v == nil {
			continue
		}
		for n, value := range filled {
			v.Set(n, value)
		}
		if !slices.ContainsFunc(names, func(n string) bool { return v.Get(n).String() == "" }) {
			list = append(list, v)
		}
	}
	return list
}

// fromElement fills the variables from an element of a list; nil when it lacks
// something.
func fromElement(e any, names []string) uritemplate.Values {
	v := uritemplate.Values{}
	for _, n := range names {
		path, at := shownAs[n], e
		if o, _ := e.(map[string]any); n == "sha" && o["ref"] != nil {
			path = []string{"ref"}
		}
		if path == nil {
			return nil
		}
		for _, key := range path {
			o, _ := at.(map[string]any)
			at = o[key]
		}
		if n, ok := at.(float64); ok {
			at = strconv.FormatFloat(n, 'f', -1, 64)
		}
		s, ok := at.(string)
		s = strings.TrimPrefix(s, "refs/")
		if !ok {
			return nil
		}
		v.Set(n, uritemplate.String(s))
	}
	return v
}

// checkExpanded fails for fields of which no template was ever filled.
func (w *walk) checkExpanded() {
	if w.token == "" {
		return // lists that are the caller's own are not there for nobody
	}
	missing := map[string]string{}
	for _, l := range w.templates {
		if !w.met[l.name()+" expanded"] && !w.silent[l.name()] {
			missing[l.name()] = l.address
		}
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		w.t.Errorf("nothing fills %s: %s", name, missing[name])
	}
}
