//go:build long

package conformance

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	described "arbor/internal/test/openapi"
	"arbor/internal/test/testkit"
)

// What GitHub takes in a body, Arbor takes or refuses: a field that is described nowhere would be dropped
// without a word (decision 65).
func TestPayloadsFields(t *testing.T) {
	d, s := github(t), apitest.Start(t, db.SQLite)
	ours, err := described.Default(s.Server.Rights())
	testkit.NoError(t, err)
	seen := 0
	for _, r := range s.Server.Routes() {
		op := d.operations[key(r.Method, strings.ReplaceAll(r.Pattern, "...}", "}"))]
		if op == nil {
			continue
		}
		_, known := ours.Inputs(r.Method, r.Pattern)
		for _, field := range d.fields(op) {
			seen++
			if !slices.Contains(known, field) {
				t.Errorf("%s %s: GitHub's field %q is neither taken nor refused", r.Method, r.Pattern, field)
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d fields were found in GitHub's description", seen)
	}
}

// fields are the names of what an operation's body may hold.
func (d *description) fields(op *operation) []string {
	paths, _ := d.document["paths"].(map[string]any)
	item, _ := paths[op.Path].(map[string]any)
	method, _ := item[strings.ToLower(op.Method)].(map[string]any)
	body, _ := method["requestBody"].(map[string]any)
	content, _ := body["content"].(map[string]any)
	media, _ := content["application/json"].(map[string]any)
	into := map[string]bool{}
	d.properties(media["schema"], into)
	return slices.Sorted(maps.Keys(into))
}

func (d *description) properties(schema any, into map[string]bool) {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		components, _ := d.document["components"].(map[string]any)
		schemas, _ := components["schemas"].(map[string]any)
		d.properties(schemas[ref[strings.LastIndexByte(ref, '/')+1:]], into)
	}
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[k].([]any)
		for _, in := range list {
			d.properties(in, into)
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for name := range properties {
		into[name] = true
	}
}
