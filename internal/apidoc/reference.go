package apidoc

import (
	"bytes"
	"cmp"
	"encoding/json"
	"runtime/debug"
	"slices"
	"strings"
)

// Reference is an interface as pages show it to people. Descriptions are Markdown.
type Reference struct {
	Title       string
	Description string
	Tags        []*Tag
}

// Tag is a group of operations, in the order of the document.
type Tag struct {
	Name        string // as in an address
	Description string
	Operations  []*ReferenceOperation
}

// ReferenceOperation is an operation of a reference.
type ReferenceOperation struct {
	ID          string // the anchor, as Operation returns it
	Method      string // "GET"
	Path        string // "/repos/{owner}/{repo}"
	Summary     string
	Description string
	Right       string     // in the words of the table of routes
	Media       []string   // kinds of media types that change the answer
	Previews    []string   // previews that change the operation
	Parameters  []Property // of path and query
	Body        []Property
	BodyExample string // JSON
	Answers     []ReferenceAnswer
}

// Property is a parameter, or a property of a request's body.
type Property struct {
	Name        string // "owner.login" of an object in an object
	In          string // path, query; empty for a property
	Type        string // "string or null"; of a list "array of strings"; with values "open, closed or all"
	Required    bool
	Description string
}

// ReferenceAnswer is a response of an operation.
type ReferenceAnswer struct {
	Status      string
	Description string
	Example     string // JSON, or a text; may be empty
}

// References returns both interfaces. It takes some 20 MiB of memory while it works, so callers should keep the
// result. It fails if an operation has no route.
func References(rights Rights) ([]*Reference, error) {
	var list []*Reference
	for _, load := range []func() (*document, error){loadCodeHosting, loadPlants} {
		d, err := load()
		if err != nil {
			return nil, err
		}
		if err := d.expand(rights); err != nil {
			return nil, err
		}
		r := &referrer{document: d, examples: map[*node]string{}}
		one, err := r.reference()
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	debug.FreeOSMemory() // an idle server would hold what parsing leaves for minutes
	return list, nil
}

// referrer builds the reference of a document. What the components hold once is rendered once.
type referrer struct {
	*document
	examples map[*node]string
}

func (r *referrer) reference() (*Reference, error) {
	info := r.root.get("info")
	out := &Reference{Title: info.get("title").text(), Description: info.get("description").text()}
	tags := map[string]*Tag{}
	for _, t := range r.root.get("tags").itemsOf() {
		tag := &Tag{Name: t.get("name").text(), Description: t.get("description").text()}
		tags[tag.Name], out.Tags = tag, append(out.Tags, tag)
	}
	return out, r.eachOperation(func(method, path string, op *node) error {
		shown, err := r.operation(method, path, op)
		if err != nil {
			return err
		}
		name := op.get("tags").itemsOf()[0].text()
		tag := tags[name]
		if tag == nil {
			tag = &Tag{Name: name}
			tags[name], out.Tags = tag, append(out.Tags, tag)
		}
		tag.Operations = append(tag.Operations, shown)
		return nil
	})
}

func (r *referrer) operation(method, path string, op *node) (*ReferenceOperation, error) {
	out := &ReferenceOperation{ID: op.get("operationId").text(), Method: strings.ToUpper(method), Path: path,
		Summary: op.get("summary").text(), Description: op.get("description").text(),
		Right: op.get("x-right").text(), Media: texts(op.get("x-media-types")),
		Previews: texts(op.get("x-previews"))}
	for _, p := range op.get("parameters").itemsOf() {
		p, err := r.resolve(p)
		if err != nil {
			return nil, err
		}
		kind, about, err := r.typeOf(p.get("schema"), 0)
		if err != nil {
			return nil, err
		}
		out.Parameters = append(out.Parameters, Property{p.get("name").text(), p.get("in").text(), kind,
			p.get("required").isTrue(), cmp.Or(p.get("description").text(), about)})
	}
	body, err := r.resolve(op.get("requestBody"))
	if err != nil {
		return nil, err
	}
	media := body.get("content", "application/json")
	if out.Body, err = r.properties(media.get("schema"), "", 0); err != nil {
		return nil, err
	}
	if out.BodyExample, err = r.example(media); err != nil {
		return nil, err
	}
	for _, status := range op.get("responses").keysOf() {
		answer, err := r.answer(status, op.get("responses", status))
		if err != nil {
			return nil, err
		}
		out.Answers = append(out.Answers, answer)
	}
	return out, nil
}

// answer is one response. A description next to the reference to a shared response says more than that.
func (r *referrer) answer(status string, n *node) (out ReferenceAnswer, err error) {
	shared, err := r.resolve(n)
	if err != nil {
		return out, err
	}
	out = ReferenceAnswer{Status: status, Description: cmp.Or(n.get("description").text(),
		shared.get("description").text())}
	if n.get("$ref") != nil && status >= "4" {
		return out, nil // errors look alike
	}
	for _, kind := range shared.get("content").keysOf() {
		if out.Example, err = r.example(shared.get("content", kind)); err != nil || out.Example != "" {
			return out, err
		}
	}
	return out, nil
}

// example is the first example of a body; empty if it has none.
func (r *referrer) example(media *node) (string, error) {
	n := media.get("example")
	if names := media.get("examples").keysOf(); len(names) > 0 {
		first, err := r.resolve(media.get("examples", names[0]))
		if err != nil {
			return "", err
		}
		n = first.get("value")
	}
	if n == nil {
		return "", nil
	}
	if text, known := r.examples[n]; known {
		return text, nil
	}
	text := n.text()
	if text == "" {
		var b bytes.Buffer
		raw, err := n.json()
		if err != nil {
			return "", err
		}
		if err := json.Indent(&b, raw, "", "  "); err != nil {
			return "", err
		}
		text = b.String()
	}
	r.examples[n] = text
	return text, nil
}

// properties are those of an object, with those of objects in it to a depth of two.
func (r *referrer) properties(schema *node, prefix string, depth int) (list []Property, err error) {
	if schema, err = r.resolve(schema); err != nil || schema == nil {
		return nil, err
	}
	for _, part := range schema.get("allOf").itemsOf() {
		more, err := r.properties(part, prefix, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	required := texts(schema.get("required"))
	for _, name := range schema.get("properties").keysOf() {
		p := schema.get("properties", name)
		kind, about, err := r.typeOf(p, 0)
		if err != nil {
			return nil, err
		}
		list = append(list, Property{Name: prefix + name, Type: kind, Description: about,
			Required: slices.Contains(required, name)})
		if depth == 2 {
			continue
		}
		inner, of := p, prefix+name+"."
		if whole, err := r.resolve(p); err == nil && whole.get("items") != nil {
			inner, of = whole.get("items"), prefix+name+"[]."
		}
		more, err := r.properties(inner, of, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	return list, nil
}

// typeOf says the type of a schema in words, and what it is about.
func (r *referrer) typeOf(schema *node, depth int) (kind, about string, err error) {
	about = schema.get("description").text()
	if schema, err = r.resolve(schema); err != nil || depth > 3 {
		return "", "", err
	}
	about = cmp.Or(about, schema.get("description").text())
	if values := schema.get("enum").itemsOf(); len(values) > 0 {
		var list []string
		for _, v := range values {
			list = append(list, cmp.Or(v.text(), string(v.scalar)))
		}
		return or(list), about, nil
	}
	for _, choice := range [...]string{"oneOf", "anyOf"} {
		var list []string
		for _, c := range schema.get(choice).itemsOf() {
			one, _, err := r.typeOf(c, depth+1)
			if err != nil {
				return "", "", err
			}
			if one != "" && !slices.Contains(list, one) {
				list = append(list, one)
			}
		}
		if len(list) > 0 {
			return or(list), about, nil
		}
	}
	list := texts(schema.get("type"))
	if one := schema.get("type").text(); one != "" {
		list = []string{one}
	}
	for n, name := range list {
		if name != "array" {
			continue
		}
		of, _, err := r.typeOf(schema.get("items"), depth+1)
		if err != nil {
			return "", "", err
		}
		if of != "" {
			list[n] = "array of " + of
		}
	}
	return or(list), about, nil
}

// or joins words: "a, b or c".
func or(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

func texts(n *node) (list []string) {
	for _, item := range n.itemsOf() {
		list = append(list, item.text())
	}
	return list
}

func (n *node) isTrue() bool { return n != nil && string(n.scalar) == "true" }
