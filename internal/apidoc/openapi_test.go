package apidoc_test

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"arbor/internal/test/testkit"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// parsed returns a document as Go values.
func parsed(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	testkit.NoError(t, err)
	return v
}

// Generators of clients and other tools take the documents for OpenAPI 3.1 and
// JSON Schema 2020-12, and stop at what is none: so the documents are held
// against the published schema, every schema in them against that of schemas,
// and every reference leads somewhere.
func TestDocumentsAreOpenAPI(t *testing.T) {
	t.Parallel()
	published, err := os.ReadFile("testdata/openapi-3.1.schema.json")
	testkit.NoError(t, err)
	for name, document := range documents {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := document(anyRight)
			testkit.NoError(t, err)
			c := jsonschema.NewCompiler()
			c.DefaultDraft(jsonschema.Draft2020)
			for at, v := range map[string]any{"mem:///openapi.json": parsed(t, published),
				"mem:///document.json": parsed(t, text)} {
				testkit.NoError(t, c.AddResource(at, v))
			}
			schema, err := c.Compile("mem:///openapi.json")
			testkit.NoError(t, err)
			root := parsed(t, text)
			if err := schema.Validate(root); err != nil {
				t.Errorf("%v", err)
			}
			w := &walker{t: t, compiler: c, root: root}
			w.walk("", root, "")
			if w.schemas == 0 {
				t.Error("there is no schema in it")
			}
		})
	}
}

// walker looks at every part of a document.
type walker struct {
	t        *testing.T
	compiler *jsonschema.Compiler
	root     any
	schemas  int
}

// walk looks at what stands at a JSON pointer under a key.
func (w *walker) walk(at string, v any, key string) {
	if key == "schema" || strings.HasPrefix(at, "/components/schemas/") && strings.Count(at, "/") == 3 {
		w.schemas++
		if _, err := w.compiler.Compile("mem:///document.json#" + at); err != nil {
			w.t.Errorf("%s is no JSON Schema: %v", at, err)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && w.follow(ref) == nil {
			w.t.Errorf("%s: the reference %s leads nowhere", at, ref)
		}
		for k, item := range v {
			if k != "example" && k != "examples" { // they are values
				w.walk(at+"/"+strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(k),
					item, k)
			}
		}
	case []any:
		for n, item := range v {
			w.walk(at+"/"+strconv.Itoa(n), item, "")
		}
	}
}

// follow returns what a reference within the document leads to, or nil.
func (w *walker) follow(ref string) any {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	v := w.root
	for part := range strings.SplitSeq(path, "/") {
		object, _ := v.(map[string]any)
		v = object[part]
	}
	return v
}
