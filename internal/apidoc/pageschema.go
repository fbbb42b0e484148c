package apidoc

import (
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
)

// schemaView is a named payload or body.
type schemaView struct {
	Name    string
	ID      string
	About   template.HTML
	Type    template.HTML
	Fields  []fieldView
	Example string
}

// fieldView is a field of an object; one of an object within it has a dot in its
// name.
type fieldView struct {
	Name     string
	Required bool
	Type     template.HTML
	About    template.HTML
}

func (v *viewer) schemaID(name string) string { return v.name + "-schema-" + name }

func (v *viewer) schema(name string) schemaView {
	n := v.d.root.get("components", "schemas", name)
	s := schemaView{Name: name, ID: v.schemaID(name), About: prose(n.get("description")), Type: v.kind(n), Fields: v.fields(n)}
	if e := v.d.root.get("components", "examples", name, "value"); e != nil {
		s.Example = e.pretty()
	}
	return s
}

// fields lists what an object has: its own properties and those of its parts.
func (v *viewer) fields(schema *node) []fieldView {
	var list []fieldView
	v.collect(schema, "", 0, &list)
	return list
}

// maxNested bounds objects within objects that stand in one table.
const maxNested = 4

func (v *viewer) collect(schema *node, prefix string, depth int, into *[]fieldView) {
	if schema == nil || depth > maxNested {
		return
	}
	for _, part := range schema.get("allOf").itemsOf() {
		v.collect(v.resolved(part), prefix, depth+1, into)
	}
	required := texts(schema.get("required"))
	for _, name := range schema.get("properties").keysOf() {
		p := schema.get("properties", name)
		*into = append(*into, fieldView{Name: prefix + name, Required: slices.Contains(required, name),
			Type: v.kind(p), About: v.about(p)})
		if p.get("$ref") == nil {
			v.collect(p, prefix+name+".", depth+1, into)
			if items := p.get("items"); items != nil && items.get("$ref") == nil {
				v.collect(items, prefix+name+"[].", depth+1, into)
			}
		}
	}
	if schema.get("type").text() == "array" && schema.get("items").get("$ref") == nil {
		v.collect(schema.get("items"), prefix+"[].", depth+1, into)
	}
}

// kind says of what type a value is, with links to what has a name.
func (v *viewer) kind(schema *node) template.HTML {
	if schema == nil {
		return ""
	}
	if name, ok := strings.CutPrefix(schema.get("$ref").text(), "#/components/schemas/"); ok {
		if to := v.resolved(schema); !hasFields(to) {
			return v.kind(to)
		}
		return template.HTML(fmt.Sprintf(`<a href="#%s">%s</a>`, template.HTMLEscapeString(v.schemaID(name)), template.HTMLEscapeString(name)))
	}
	for _, choice := range [...]string{"oneOf", "anyOf"} {
		if parts := schema.get(choice).itemsOf(); len(parts) > 0 {
			return v.join(parts, " or ")
		}
	}
	if enum := schema.get("enum").itemsOf(); len(enum) > 0 {
		values := make([]string, len(enum))
		for i, e := range enum {
			values[i] = literal(e)
		}
		return template.HTML(strings.Join(values, ", ") + usual(schema))
	}
	if c := schema.get("const"); c != nil {
		return template.HTML(literal(c))
	}
	return v.plain(schema)
}

// literal is a value as it is written in JSON; a string without its quotes.
func literal(n *node) string {
	s := n.text()
	if s == "" {
		s = string(n.scalarOf())
	}
	return "<code>" + template.HTMLEscapeString(s) + "</code>"
}

func (v *viewer) join(parts []*node, with string) template.HTML {
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = string(v.kind(p))
	}
	return template.HTML(strings.Join(list, with))
}

// plain is a type with its limits.
func (v *viewer) plain(schema *node) template.HTML {
	types := texts(schema.get("type"))
	if len(types) == 0 {
		types = []string{schema.get("type").text()}
	}
	if types[0] == "" {
		types[0] = "any"
		if schema.get("properties") != nil || schema.get("allOf") != nil {
			types[0] = "object"
		}
	}
	out := template.HTMLEscapeString(strings.Join(types, " or "))
	if types[0] == "array" && schema.get("items") != nil {
		out = strings.Replace(out, "array", "array of "+string(v.kind(schema.get("items"))), 1)
	}
	var limits []string
	for _, l := range [...]struct{ key, text string }{
		{"minLength", "at least %s characters"}, {"maxLength", "at most %s characters"}, {"minimum", "at least %s"},
		{"maximum", "at most %s"}, {"minItems", "at least %s"}, {"maxItems", "at most %s"},
	} {
		if n := schema.get(l.key); n != nil {
			limits = append(limits, fmt.Sprintf(l.text, n.scalar))
		}
	}
	if f := schema.get("format").text(); f == "uri" || f == "uri-template" || f == "date-time" {
		limits = append(limits, map[string]string{"uri": "an address", "uri-template": "a template of addresses", "date-time": "a time"}[f])
	}
	if len(limits) > 0 {
		out += " (" + strings.Join(limits, ", ") + ")"
	}
	return template.HTML(out + usual(schema))
}

// usual is what counts when nothing is sent.
func usual(schema *node) string {
	if d := schema.get("default"); d != nil {
		return " (" + literal(d) + " by default)"
	}
	return ""
}

// hasFields reports a schema of an object, which is worth a link.
func hasFields(schema *node) bool {
	return schema.get("properties") != nil || schema.get("allOf") != nil
}

// about is the description of a field, or that of what it refers to, where this
// is not described elsewhere.
func (v *viewer) about(field *node) template.HTML {
	if to := v.resolved(field); field.get("description") == nil && !hasFields(to) {
		return line(to.get("description"))
	}
	return line(field.get("description"))
}

// curl is the operation as a command, for who wants to try it.
func (v *viewer) curl(o *operationView, op *node) string {
	path, query := o.Path, url.Values{}
	for _, p := range op.get("parameters").itemsOf() {
		p = v.resolved(p)
		name := p.get("name").text()
		value := name
		if e := p.get("schema", "examples").itemsOf(); len(e) > 0 {
			if value = e[0].text(); value == "" {
				value = string(e[0].scalar)
			}
		}
		if p.get("in").text() == "path" {
			path = strings.ReplaceAll(path, "{"+name+"}", strings.ReplaceAll(url.PathEscape(value), "%2F", "/"))
		} else if string(p.get("required").scalarOf()) == "true" {
			query.Set(name, value)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	var b strings.Builder
	b.WriteString("curl")
	if o.Method != "GET" {
		b.WriteString(" -X " + o.Method)
	}
	if o.Method != "GET" || o.Right != describe("anyone") {
		b.WriteString(` -H "Authorization: Bearer $TOKEN"`)
	}
	if len(o.Previews) > 0 {
		b.WriteString(" -H 'Accept: application/vnd.service." + strings.Join(o.Previews, "+json, application/vnd.service.") + "+json'")
	}
	if v.name == "plants" && o.Body != nil {
		b.WriteString(" -H 'Content-Type: application/json'")
	}
	b.WriteString(" '" + Site + path + "'")
	if o.Body != nil {
		b.WriteString(v.sample(op))
	}
	return b.String()
}

// sample is the body of a command.
func (v *viewer) sample(op *node) string {
	media := v.resolved(op.get("requestBody")).get("content", "application/json")
	example := media.get("example")
	for _, name := range media.get("examples").keysOf() {
		example = v.resolved(media.get("examples", name)).get("value")
		break
	}
	if example == nil {
		return ""
	}
	text, err := example.json()
	if err != nil {
		return ""
	}
	return " \\\n  -d '" + strings.ReplaceAll(string(text), "'", `'\''`) + "'"
}
