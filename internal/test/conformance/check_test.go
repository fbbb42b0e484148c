//go:build long

package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// finding is one way in which a body is not what its schema says.
type finding struct {
	At      string // the field: user.login, [].assignees[].id
	Missing bool   // it is required and not there; else it is wrong
	Why     string
}

// check holds a body against a schema. required are the fields that the schema
// requires of this body, whether they are there or not.
func check(s *jsonschema.Schema, body []byte, seen fields) (required map[string]bool, list []finding) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return nil, []finding{{Why: "the body is not JSON: " + err.Error()}}
	}
	w := &walk{required: map[string]bool{}, seen: seen}
	w.value(s, v, "")
	return w.required, findings(s, v)
}

// findings are all ways in which v differs from the schema, each once.
func findings(s *jsonschema.Schema, v any) []finding {
	err := s.Validate(v)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []finding{{Why: err.Error()}}
	}
	unique := map[finding]bool{}
	for _, f := range leaves(invalid) {
		unique[f] = true
	}
	return slices.SortedFunc(maps.Keys(unique), func(a, b finding) int {
		return strings.Compare(a.At+a.Why, b.At+b.Why)
	})
}

var english = message.NewPrinter(language.English)

// leaves are the findings below an error. Of alternatives that all failed, only
// the one counts that the value comes closest to.
func leaves(e *jsonschema.ValidationError) []finding {
	at := place(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		var list []finding
		for _, name := range k.Missing {
			list = append(list, finding{At: join(at, name), Missing: true, Why: "missing"})
		}
		return list
	case *kind.AnyOf, *kind.OneOf:
		if len(e.Causes) > 0 {
			return closest(e)
		}
	}
	if len(e.Causes) == 0 {
		return []finding{{At: at, Why: e.ErrorKind.LocalizedString(english)}}
	}
	var list []finding
	for _, c := range e.Causes {
		list = append(list, leaves(c)...)
	}
	return list
}

func closest(e *jsonschema.ValidationError) []finding {
	const otherKind = 1000 // an alternative for another kind of value is far away
	var best []finding
	least := -1
	for _, c := range e.Causes {
		list := leaves(c)
		distance := len(list)
		for _, f := range list {
			if !f.Missing && f.At == place(e.InstanceLocation) {
				distance += otherKind
			}
		}
		if least < 0 || distance < least {
			best, least = list, distance
		}
	}
	return best
}

// place writes where a value is; all elements of an array are one place.
func place(tokens []string) string {
	at := ""
	for _, t := range tokens {
		if t != "" && strings.Trim(t, "0123456789") == "" {
			at += "[]"
			continue
		}
		at = join(at, t)
	}
	return at
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// fields is what was seen of the fields of the description's named schemas,
// over a whole run.
type fields map[string]*field

// inner are the parts of a schema's address that are not fields.
var inner = regexp.MustCompile(`/(?:items|(?:allOf|anyOf|oneOf)/\d+)\b`)

// field is one of them, such as issue.closed_by.
type field struct{ Sent, Filled bool } // Filled: with something other than null and emptiness, once at least

// walk compares a value with its schema.
type walk struct {
	required map[string]bool
	seen     fields
}

func (w *walk) value(s *jsonschema.Schema, v any, at string) {
	if s.Ref != nil {
		w.value(s.Ref, v, at)
	}
	for _, part := range s.AllOf {
		w.value(part, v, at)
	}
	for _, alternatives := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if len(alternatives) > 0 {
			w.value(chosen(alternatives, v), v, at)
		}
	}
	switch v := v.(type) {
	case []any:
		if items, ok := s.Items.(*jsonschema.Schema); ok {
			for _, element := range v {
				w.value(items, element, at+"[]")
			}
		}
	case map[string]any:
		w.object(s, v, at)
	}
}

func (w *walk) object(s *jsonschema.Schema, v map[string]any, at string) {
	for _, name := range s.Required {
		w.required[join(at, name)] = true
	}
	for name, p := range s.Properties {
		have, ok := v[name]
		w.note(s, name, ok, have)
		if ok {
			w.value(p, have, join(at, name))
		}
	}
	if more, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
		for name, have := range v {
			if s.Properties[name] == nil {
				w.value(more, have, join(at, "*"))
			}
		}
	}
}

// chosen is the alternative that a value is, or comes closest to.
func chosen(alternatives []*jsonschema.Schema, v any) *jsonschema.Schema {
	best, least := alternatives[0], -1
	for _, a := range alternatives {
		list := findings(a, v)
		if list == nil {
			return a
		}
		if least < 0 || len(list) < least {
			best, least = a, len(list)
		}
	}
	return best
}

// note remembers a field under the name of its schema, without the alternatives
// and lists between.
func (w *walk) note(s *jsonschema.Schema, name string, sent bool, v any) {
	_, at, named := strings.Cut(s.Location, "#/components/schemas/")
	if !named || w.seen == nil {
		return
	}
	at = inner.ReplaceAllString(at, "")
	at = strings.ReplaceAll(at, "/properties/", ".") + "." + name
	f := w.seen[at]
	if f == nil {
		f = &field{}
		w.seen[at] = f
	}
	f.Sent = f.Sent || sent
	f.Filled = f.Filled || !empty(v)
}

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	}
	return false
}

// String describes a finding.
func (f finding) String() string { return fmt.Sprintf("%s: %s", f.At, f.Why) }
