package apidoc

import (
	"fmt"
	"strings"
)

// examples builds examples of bodies from those of their schemas' properties, so
// that they cannot differ from the description. What is named in the components
// is there once.
type examples struct {
	d   *document
	err error
}

// addTo adds an example to each body of JSON that has none.
func (x *examples) addTo(content *node) {
	for _, name := range content.keysOf() {
		media := content.fields[name]
		if !strings.HasSuffix(name, "json") || media.get("example") != nil || media.get("examples") != nil ||
			media.get("schema") == nil {
			continue
		}
		schema := media.get("schema")
		if component := componentOf(schema); component != "" {
			x.share(media, component, schema)
		} else if component := componentOf(schema.get("items")); component != "" &&
			schema.get("type").text() == "array" && len(schema.keys) <= 3 {
			x.share(media, component+"List", schema)
		} else {
			media.with("example", x.of(schema, 0))
		}
	}
}

func (x *examples) share(media *node, name string, schema *node) {
	shared := x.d.root.object("components").object("examples")
	if shared.get(name) == nil {
		shared.with(name, newObject().with("value", x.of(schema, 0)))
	}
	media.with("examples", newObject().with("default", ref("examples", name)))
}

// componentOf is the name of the schema that n refers to, if that is all it says.
func componentOf(n *node) string {
	if n.get("$ref") == nil || len(n.keys) > 1 {
		return ""
	}
	return strings.TrimPrefix(n.get("$ref").text(), "#/components/schemas/")
}

// of returns an example of a schema.
func (x *examples) of(schema *node, depth int) *node {
	if depth > 20 {
		x.err = fmt.Errorf("a schema contains itself without an example")
		return newScalar("null")
	}
	if e := given(schema); e != nil {
		return e
	}
	if schema.get("$ref") != nil {
		target, err := x.d.resolve(schema)
		if err != nil {
			x.err = err
			return newScalar("null")
		}
		return x.of(target, depth+1)
	}
	for _, choice := range [...]string{"oneOf", "anyOf"} {
		if c := schema.get(choice).itemsOf(); len(c) > 0 {
			return x.of(c[0], depth+1)
		}
	}
	return x.ofType(schema, depth)
}

// given is what a schema says itself.
func given(schema *node) *node {
	if e := schema.get("examples").itemsOf(); len(e) > 0 {
		return e[0]
	}
	for _, key := range [...]string{"example", "const", "default"} {
		if e := schema.get(key); e != nil {
			return e
		}
	}
	if e := schema.get("enum").itemsOf(); len(e) > 0 {
		return e[0]
	}
	return nil
}

func (x *examples) ofType(schema *node, depth int) *node {
	kind := schema.get("type").text()
	if kind == "" && len(schema.get("type").itemsOf()) > 0 {
		kind = schema.get("type").items[0].text()
	}
	switch kind {
	case "array":
		if schema.get("items") == nil {
			return newArray()
		}
		return newArray(x.of(schema.get("items"), depth+1))
	case "string":
		return newString("text")
	case "integer", "number":
		return newScalar("1")
	case "boolean":
		return newScalar("true")
	case "null":
		return newScalar("null")
	}
	out := newObject()
	for _, part := range schema.get("allOf").itemsOf() {
		e := x.of(part, depth+1)
		for _, key := range e.keysOf() {
			out.with(key, e.fields[key])
		}
	}
	required := map[string]bool{}
	for _, r := range schema.get("required").itemsOf() {
		required[r.text()] = true
	}
	for _, key := range schema.get("properties").keysOf() {
		p := schema.get("properties", key)
		if required[key] || given(p) != nil {
			out.with(key, x.of(p, depth+1))
		}
	}
	return out
}
