package apidoc

import (
	"strings"
	"testing"

	"arbor/internal/test/testkit"
)

const small = `
openapi: 3.1.1
paths:
  /repos/{owner}/things/{name}:
    get:
      x-list: true
      parameters: [{name: name, in: path, required: true, schema: {type: string}}]
      responses:
        '200': {description: Things, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Thing'}}}}}
    put:
      parameters: [{$ref: '#/components/parameters/thing'}]
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses:
        '204': {description: Done}
        '404': {description: Its own}
components:
  parameters:
    owner: {name: owner, in: path, required: true, schema: {type: string}}
    thing: {name: name, in: path, required: true, schema: {type: string}}
  schemas:
    Thing:
      x-payload: closed
      properties:
        id: {type: integer, examples: [7]}
        seen: {type: string, x-optional: true}
`

// rights are those of small.
func rights(method, path string) string {
	return map[string]string{"GET /repos/{owner}/things/{name}": "pull",
		"PUT /repos/{owner}/things/{name}": "push"}[method+" "+path]
}

func expanded(t *testing.T, text string) *document {
	t.Helper()
	root, err := parse("test", []byte(text))
	testkit.NoError(t, err)
	d := &document{root: root, standard: true}
	testkit.NoError(t, d.expand(rights))
	return d
}

// What an operation does not say follows from its right, its method and its
// path; what it says stands.
func TestShorthands(t *testing.T) {
	t.Parallel()
	d := expanded(t, small)
	for at, want := range map[string]string{
		"components schemas Thing":                           `{"properties":{"id":{"type":"integer","examples":[7]},"seen":{"type":"string"}},"type":"object","required":["id"],"additionalProperties":false}`,
		"paths /repos/{owner}/things/{name} get operationId": `"get-repos-owner-things-name"`,
		"paths /repos/{owner}/things/{name} get parameters": `[{"$ref":"#/components/parameters/owner"},{"name":"name","in":"path","required":true,"schema":{"type":"string"}},` +
			`{"$ref":"#/components/parameters/per_page"},{"$ref":"#/components/parameters/page"}]`,
		"paths /repos/{owner}/things/{name} get responses 200 headers Link": `{"$ref":"#/components/headers/Link"}`,
		"paths /repos/{owner}/things/{name} get responses 200 headers ETag": `{"$ref":"#/components/headers/ETag"}`,
		"paths /repos/{owner}/things/{name} put responses 404 description":  `"Its own"`,
		"paths /repos/{owner}/things/{name} put security":                   `[{"token":[]},{"basic":[]}]`,
		"paths /repos/{owner}/things/{name} get x-right":                    `"pull"`,
		"components examples ThingList value":                               `[{"id":7}]`,
	} {
		got, err := d.root.get(strings.Split(at, " ")...).json()
		if err != nil || string(got) != want {
			t.Errorf("%s is %s, want %s (%v)", at, got, want, err)
		}
	}
	for method, want := range map[string]string{
		"get": "200 304 401 403 404 415 429 500 503",
		"put": "204 400 401 403 404 413 415 429 500 503 507",
	} {
		if got := strings.Join(d.root.get("paths", "/repos/{owner}/things/{name}", method, "responses").keys,
			" "); got != want {
			t.Errorf("%s answers %s, want %s", method, got, want)
		}
	}
}

// A description that says something twice, or not enough, must not be served.
func TestMistakesInTheSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, want string }{
		{"    put:", "    patch:", "PATCH /repos/{owner}/things/{name}: it is described but is not a route"},
		{"name: name, in: path", "name: nome, in: path", "the placeholder name is not described"},
		{"#/components/schemas/Thing", "#/components/schemas/Think", "leads nowhere"},
		{"        id: {type: integer", "        id: {type: string}\n        id: {type: integer",
			`"id" is there twice`},
		{"        '204'", "        '204': {description: x}\n        '204'", "there twice"},
	} {
		if !strings.Contains(small, c.old) {
			t.Fatalf("%q is not in the text", c.old)
		}
		root, err := parse("test", []byte(strings.Replace(small, c.old, c.new, 1)))
		if err == nil {
			err = (&document{root: root, standard: true}).expand(rights)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.new, err, c.want)
		}
	}
}

// Two files may each describe a part of a path or of the components, and not
// the same part.
func TestPartsDoNotOverlap(t *testing.T) {
	t.Parallel()
	root := newObject()
	for i, c := range []struct {
		text string
		ok   bool
	}{
		{"paths: {/a: {get: {summary: x}}}\ncomponents: {schemas: {A: {type: string}}}", true},
		{"paths: {/a: {put: {summary: y}}}\ncomponents: {schemas: {B: {type: string}}}", true},
		{"paths: {/a: {put: {summary: z}}}", false},
		{"components: {schemas: {B: {type: integer}}}", false},
	} {
		part, err := parse("test", []byte(c.text))
		testkit.NoError(t, err)
		if err := root.merge(part, 0, "test"); (err == nil) != c.ok {
			t.Errorf("part %d: %v", i, err)
		}
	}
}
