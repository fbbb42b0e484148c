// Package openapi holds requests and answers against the OpenAPI documents of
// package apidoc, for tests: what a handler asks for and what it answers must
// be described, and be as described.
//
// A handler around each server of a test validates every answer. By the request's context
// (web.WithAsked) it hears also what handlers ask the query and the body for; web.QueryOf and
// web.Object pass it on.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"arbor/internal/apidoc"
)

// Checker knows one or more documents. It may be used by several goroutines.
type Checker struct {
	operations map[string]*operation // by method, a blank and path
	templates  []template            // in the order in which they count

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by address
	seen     map[string]int                // large bodies, by address of their schema

	seed maphash.Seed
	held sync.Map // sums of what was as described, with the address of its schema
}

// operation is what is described of one.
type operation struct {
	at       string // address in its document
	document *document
	query    map[string]any  // the schema of each parameter
	fields   map[string]bool // of the body; nil when it takes none
	value    map[string]any  // as it stands in the document
}

// document is a description and its name.
type document struct {
	name string
	root map[string]any
}

// shared is the checker of both documents.
var shared struct {
	once    sync.Once
	checker *Checker
	err     error
}

// Default returns the checker of both documents. It is made once, of the rights of the first call: all servers
// of a process have the same.
func Default(rights apidoc.Rights) (*Checker, error) {
	shared.once.Do(func() { shared.checker, shared.err = newDefault(rights) })
	return shared.checker, shared.err
}

func newDefault(rights apidoc.Rights) (*Checker, error) {
	hosting, err := apidoc.CodeHosting(rights)
	if err != nil {
		return nil, err
	}
	plants, err := apidoc.Plants(rights)
	if err != nil {
		return nil, err
	}
	return New(hosting, plants)
}

// New returns a checker of documents.
func New(documents ...[]byte) (*Checker, error) {
	c := &Checker{operations: map[string]*operation{}, compiler: jsonschema.NewCompiler(),
		schemas: map[string]*jsonschema.Schema{},
		seen:    map[string]int{}, seed: maphash.MakeSeed()}
	c.compiler.DefaultDraft(jsonschema.Draft2020)
	c.compiler.AssertFormat()
	c.compiler.RegisterFormat(uriTemplate)
	for i, text := range documents {
		root, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		object, ok := root.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("document %d is not an object", i)
		}
		d := &document{"mem:///" + strconv.Itoa(i) + ".json", object}
		if err := c.compiler.AddResource(d.name, root); err != nil {
			return nil, err
		}
		if err := c.add(d); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Checker) add(d *document) error {
	for path, item := range object(d.root["paths"]) {
		c.templates = append(c.templates, newTemplate(path, d.multi(object(item))))
		for method := range object(item) {
			value := object(object(item)[method])
			op := &operation{
				at: "#/paths/" + escape(path) + "/" + method, document: d, value: value,
				query: map[string]any{},
			}
			for _, p := range array(value["parameters"]) {
				if p := d.resolve(p); p["in"] == "query" {
					op.query[fmt.Sprint(p["name"])] = p["schema"]
				}
			}
			if body := d.resolve(value["requestBody"]); len(body) > 0 {
				op.fields = map[string]bool{}
				for _, media := range object(body["content"]) {
					d.properties(object(media)["schema"], op.fields)
				}
			}
			c.operations[strings.ToUpper(method)+" "+path] = op
		}
	}
	slices.SortFunc(c.templates, func(a, b template) int { return strings.Compare(a.rank, b.rank) })
	return nil
}

// resolve follows references.
func (d *document) resolve(v any) map[string]any {
	o := object(v)
	for {
		name, ok := o["$ref"].(string)
		if !ok {
			return o
		}
		o = d.root
		for part := range strings.SplitSeq(strings.TrimPrefix(name, "#/"), "/") {
			o = object(o[part])
		}
	}
}

// properties collects the names of what an object of the schema may have.
func (d *document) properties(schema any, into map[string]bool) {
	s := d.resolve(schema)
	for name := range object(s["properties"]) {
		into[name] = true
	}
	for _, part := range [...]string{"allOf", "oneOf", "anyOf"} {
		for _, one := range array(s[part]) {
			d.properties(one, into)
		}
	}
}

func object(v any) map[string]any { o, _ := v.(map[string]any); return o }
func array(v any) []any           { a, _ := v.([]any); return a }

// escape writes a key as a part of a JSON pointer within an address.
func escape(key string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(key))
}

// find returns the operation that serves a request: HEAD is a GET, and POST a
// PATCH where there is no POST (decisions 16, 22). nil if none is described.
func (c *Checker) find(method, pattern string) *operation {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	path := strings.ReplaceAll(pattern, "...}", "}")
	op := c.operations[method+" "+path]
	if op == nil && method == http.MethodPost {
		op = c.operations[http.MethodPatch+" "+path]
	}
	return op
}

// Asked says what is wrong with a handler's asking for a parameter of the query
// or a field of the body: it is not described. Empty when nothing is.
func (c *Checker) Asked(method, pattern, in, name string) string {
	op := c.find(method, pattern)
	switch {
	case op == nil:
	case in == "query" && op.query[name] == nil:
		return "the handler reads the query parameter " + name + ", which is not described"
	case in == "body" && !op.fields[name]:
		return "the handler reads the body's field " + name + ", which is not described"
	}
	return ""
}

// Large bodies are lists, and tests read many similar ones: after the
// first ones of each operation a few are looked at, so that a suite does not
// take longer for them.
const (
	largeBody  = 4 << 10 // bytes
	firstLarge = 64      // are all looked at
	oneOf      = 8       // of those behind them is
)

func (c *Checker) enough(at string, body []byte) bool {
	if len(body) < largeBody {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[at]++
	return c.seen[at] > firstLarge && c.seen[at]%oneOf != 0
}

func shorten(body []byte) []byte {
	if len(body) > 1000 {
		return append(slices.Clip(body[:1000]), "..."...)
	}
	return body
}

// validate holds a JSON text against the schema at an address.
func (c *Checker) validate(at string, text []byte) error {
	schema, err := c.schema(at)
	if err != nil {
		return err
	}
	var sum maphash.Hash
	sum.SetSeed(c.seed)
	sum.WriteString(at)
	sum.Write(text)
	if _, held := c.held.Load(sum.Sum64()); held {
		return nil // walks read the same as several people, and in several ways
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = explain(schema.Validate(value))
	}
	if err == nil {
		c.held.Store(sum.Sum64(), nil)
	}
	return err
}

func (c *Checker) schema(at string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.schemas[at]; s != nil {
		return s, nil
	}
	s, err := c.compiler.Compile(at)
	if err == nil {
		c.schemas[at] = s
	}
	return s, err
}

// Examples holds every example of a body against its schema, and says what is
// wrong; an operation without one is too.
func (c *Checker) Examples() []string {
	var wrong []string
	for name, op := range c.operations {
		count := 0
		each := func(at string, content map[string]any) {
			for kind := range content {
				media := object(content[kind])
				for _, example := range op.document.examples(media) {
					count++
					text, err := json.Marshal(example)
					if err == nil && strings.HasSuffix(kind, "json") {
						err = c.validate(op.document.name+at+"/content/"+escape(kind)+"/schema", text)
					}
					if err != nil {
						wrong = append(wrong, fmt.Sprintf("%s: an example at %s: %v", name, at, err))
					}
				}
			}
		}
		each(pointer(op.at+"/requestBody", op.value["requestBody"]),
			object(op.document.resolve(op.value["requestBody"])["content"]))
		for status, r := range object(op.value["responses"]) {
			each(pointer(op.at+"/responses/"+status, r), object(op.document.resolve(r)["content"]))
		}
		if count == 0 {
			wrong = append(wrong, name+" has no example")
		}
	}
	return wrong
}

// examples are all examples of a media type.
func (d *document) examples(media map[string]any) []any {
	var list []any
	if e, ok := media["example"]; ok {
		list = append(list, e)
	}
	examples := object(media["examples"])
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		list = append(list, d.resolve(examples[name])["value"])
	}
	return list
}
