//go:build long

package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"arbor/internal/test/npm"
	"arbor/internal/test/testkit"
)

// description is an OpenAPI 3.0 document, ready to check answers with.
type description struct {
	Title, Version string
	operations     map[string]*operation // by key
	compiler       *jsonschema.Compiler
	compiling      sync.Mutex // compiler is not for many at once
	document       map[string]any
}

// operation is one method of one path.
type operation struct {
	ID, Method, Path string // Path is as the description writes it
	responses        map[int]response
}

// response is what an operation may answer with one status.
type response struct {
	at    string              // JSON pointer of it
	types map[string]struct{} // content types; empty if there is no body
}

const descriptionFile = "@octokit/openapi/generated/api.github.com.json"

// github returns GitHub's description of api.github.com, or skips the test.
func github(t *testing.T) *description {
	t.Helper()
	folder := npm.Install(t, filepath.Join("testdata", "openapi"), descriptionFile,
		"@octokit/openapi/LICENSE")
	data, err := os.ReadFile(filepath.Join(folder, "node_modules", filepath.FromSlash(descriptionFile)))
	testkit.NoError(t, err)
	d, err := describe(data)
	testkit.NoError(t, err)
	return d
}

const documentURL = "https://description.invalid/openapi.json"

// describe reads a description.
func describe(data []byte) (*description, error) {
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	document, ok := plain(parsed).(map[string]any)
	if !ok {
		return nil, errors.New("the description is no object")
	}
	d := &description{document: document, operations: map[string]*operation{},
		compiler: jsonschema.NewCompiler()}
	// OpenAPI 3.0 uses the schemas of a draft between 4 and 6 with the keywords of draft 4: siblings of a
	// $ref are ignored.
	d.compiler.DefaultDraft(jsonschema.Draft4)
	d.compiler.AssertFormat()
	d.compiler.RegisterFormat(&jsonschema.Format{Name: "int64", Validate: isInt64})
	d.compiler.RegisterFormat(&jsonschema.Format{Name: "uri-template", Validate: isTemplate})
	if err := d.compiler.AddResource(documentURL, document); err != nil {
		return nil, err
	}
	info, _ := document["info"].(map[string]any)
	d.Title, _ = info["title"].(string)
	d.Version, _ = info["version"].(string)
	paths, _ := document["paths"].(map[string]any)
	for path, item := range paths {
		if err := d.addPath(path, item.(map[string]any)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *description) addPath(path string, item map[string]any) error {
	for method, value := range item {
		fields, ok := value.(map[string]any)
		if !ok || fields["responses"] == nil {
			continue // what all methods of a path share
		}
		op := &operation{Method: strings.ToUpper(method), Path: path, responses: map[int]response{}}
		op.ID, _ = fields["operationId"].(string)
		at := "#/paths/" + escape(path) + "/" + method + "/responses"
		for status, answer := range fields["responses"].(map[string]any) {
			code, err := strconv.Atoi(status)
			if err != nil {
				continue // "default"
			}
			r, err := d.response(at+"/"+status, answer.(map[string]any))
			if err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			op.responses[code] = r
		}
		d.operations[key(op.Method, path)] = op
	}
	return nil
}

func (d *description) response(at string, answer map[string]any) (response, error) {
	if ref, ok := answer["$ref"].(string); ok {
		const shared = "#/components/responses/"
		name, ok := strings.CutPrefix(ref, shared)
		components, _ := d.document["components"].(map[string]any)
		responses, _ := components["responses"].(map[string]any)
		target, found := responses[name].(map[string]any)
		if !ok || !found {
			return response{}, fmt.Errorf("there is no %s", ref)
		}
		return d.response(shared+escape(name), target)
	}
	r := response{at: at, types: map[string]struct{}{}}
	content, _ := answer["content"].(map[string]any)
	for name := range content {
		r.types[name] = struct{}{}
	}
	return r, nil
}

// schema compiles what a body of a type must be.
func (d *description) schema(r response, contentType string) (*jsonschema.Schema, error) {
	return d.compiler.Compile(documentURL + r.at + "/content/" + escape(contentType) + "/schema")
}

// component compiles a schema by its name.
func (d *description) component(name string) (*jsonschema.Schema, error) {
	return d.compiler.Compile(documentURL + "#/components/schemas/" + escape(name))
}

// escape writes a key as a part of a JSON pointer in an address.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", " ", "%20").Replace(name)
}

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// key is what an operation has in common with a route of ours: its placeholders
// may have other names.
func key(method, path string) string { return method + " " + placeholder.ReplaceAllString(path, "{}") }

// plain rewrites OpenAPI's "nullable" as JSON Schema says it. Examples are
// rewritten, too, where they hold such a key, and never looked at.
func plain(value any) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
		if v["nullable"] == true {
			return nullable(v)
		}
	}
	return value
}

func nullable(schema map[string]any) any {
	delete(schema, "nullable")
	for _, k := range []string{"allOf", "anyOf", "oneOf", "$ref"} {
		if _, ok := schema[k]; ok {
			return map[string]any{"anyOf": []any{map[string]any{"type": "null"}, schema}}
		}
	}
	if name, ok := schema["type"].(string); ok {
		schema["type"] = []any{name, "null"}
	}
	if values, ok := schema["enum"].([]any); ok && !slices.Contains(values, nil) {
		schema["enum"] = append(values, nil)
	}
	return schema
}

// template is RFC 6570's grammar, without names that are percent-encoded.
var template = regexp.MustCompile(`^(?:[^\x00-\x20"'<>\\^` + "`" +
	`{|}]|\{[+#./;?&]?[A-Za-z0-9_.]+(?:\*|:[1-9]\d{0,3})?(?:,[A-Za-z0-9_.]+(?:\*|:[1-9]\d{0,3})?)*\})*$`)

func isTemplate(v any) error {
	if text, ok := v.(string); ok && !template.MatchString(text) {
		return fmt.Errorf("%q is no template of addresses", text)
	}
	return nil
}

func isInt64(v any) error {
	if n, ok := v.(interface{ Int64() (int64, error) }); ok {
		if _, err := n.Int64(); err != nil {
			return fmt.Errorf("%v is outside int64", v)
		}
	}
	return nil
}
