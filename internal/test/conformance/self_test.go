//go:build long

package conformance

import (
	"fmt"
	"slices"
	"testing"

	"arbor/internal/test/testkit"
)

// small is a description with everything in it that a check must get right.
const small = `{"openapi": "3.0.3", "info": {"title": "Small", "version": "7"},
"paths": {"/trees/{tree_id}": {"parameters": [], "get": {"operationId": "trees/get", "responses": {
	"200": {"description": "", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/tree", "nullable": true}}}},
	"404": {"$ref": "#/components/responses/gone"}, "204": {"description": ""}, "default": {"description": ""}}}}},
"components": {
	"responses": {"gone": {"description": "", "content": {"application/json": {"schema": {"type": "object", "required": ["message"]}}}}},
	"schemas": {
		"tree": {"type": "object", "required": ["id", "name", "owner", "fruit", "kind"], "properties": {
			"id": {"type": "integer", "format": "int64"},
			"name": {"type": "string", "nullable": true},
			"planted": {"type": "string", "format": "date-time"},
			"link": {"type": "string", "format": "uri"},
			"kind": {"type": "string", "enum": ["leaf", "needle"], "nullable": true},
			"owner": {"nullable": true, "allOf": [{"$ref": "#/components/schemas/person"}]},
			"fruit": {"type": "array", "items": {"oneOf": [{"type": "string"}, {"$ref": "#/components/schemas/fruit"}]}}}},
		"person": {"type": "object", "required": ["login"], "properties": {"login": {"type": "string"}}},
		"fruit": {"type": "object", "required": ["taste", "weight"], "properties": {"taste": {"type": "string"}, "weight": {"type": "number"}}}}}}`

// A check that finds nothing wrong proves nothing unless it finds what is.
func TestCheckFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	d, err := describe([]byte(small))
	testkit.NoError(t, err)
	op := d.operations["GET /trees/{}"]
	if op == nil || op.ID != "trees/get" || len(op.responses) != 3 || len(op.responses[204].types) != 0 ||
		len(op.responses[404].types) != 1 {
		t.Fatalf("the description was read as %+v", op)
	}
	s, err := d.schema(op.responses[200], "application/json")
	testkit.NoError(t, err)
	const whole = `{"id": 7, "name": "Rowan", "owner": {"login": "alice"}, "fruit": ["sour", {"taste": "sweet", "weight": 1.5}], "kind": "leaf"}`
	for body, want := range map[string][]string{
		whole: nil,
		`{"id": 7, "name": null, "owner": null, "fruit": [], "kind": null}`:                                             nil,
		`{"id": 7, "name": "x", "owner": {}, "fruit": [], "kind": null}`:                                                {"owner.login: missing"},
		`{"id": 7, "owner": null, "fruit": [], "kind": null}`:                                                           {"name: missing"},
		`{"id": "7", "name": "x", "owner": null, "fruit": [], "kind": null}`:                                            {"id: got string, want integer"},
		`{"id": 99999999999999999999, "name": "x", "owner": null, "fruit": [], "kind": null}`:                           {"id: *"},
		`{"id": 7, "name": "x", "owner": null, "fruit": [{"taste": "sweet"}, {"taste": "dull"}], "kind": null}`:         {"fruit[].weight: missing"},
		`{"id": 7, "name": "x", "owner": null, "fruit": [], "kind": "moss"}`:                                            {"kind: *"},
		`{"id": 7, "name": "x", "owner": null, "fruit": [], "kind": null, "planted": "yesterday", "link": "//nowhere"}`: {"link: *", "planted: *"},
		`{"id": 7, "name": "x", "owner": null, "fruit": 5, "kind": null}`:                                               {"fruit: got number, want array"},
		`[]`: {": *"},
		`{`:  {": *"},
	} {
		_, list := check(s, []byte(body), nil)
		var got []string
		for i, f := range list {
			line := f.String()
			if i < len(want) && want[i] == f.At+": *" {
				line = want[i]
			}
			got = append(got, line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", body, got, want)
		}
	}
	seen := fields{}
	required, _ := check(s, []byte(whole), seen)
	if len(required) != 8 || !required["owner.login"] || !required["fruit[].weight"] {
		t.Errorf("required are %v", required)
	}
	for name, want := range map[string]field{"tree.id": {true, true}, "tree.planted": {},
		"person.login": {true, true}, "fruit.taste": {true, true}} {
		if seen[name] == nil || *seen[name] != want {
			t.Errorf("%s was seen as %v, want %v; all: %s", name, seen[name], want, fmt.Sprint(seen))
		}
	}
}
