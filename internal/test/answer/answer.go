// Package answer holds answers of GraphQL against a schema and what was asked. It knows nothing of how Arbor
// answers: tests hold what a server says against GitHub's own schema with it.
package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// maxTold is the largest number of problems reported for one answer.
const maxTold = 20

// request is what clients send.
type request struct {
	Query         string         `json:"query"`
	OperationName string         `json:"operationName"`
	Variables     map[string]any `json:"variables"`
}

// Check reports the problems of the answer to a request, both as JSON: fields that are missing or were not
// asked for, values of other types, null where it cannot be, names that no enum has, and errors in another
// form. A request that asks for nothing that can be read is answered by errors alone.
func Check(s *ast.Schema, sent, body []byte) []string {
	var q request
	var got map[string]any
	if err := decode(sent, &q); err != nil {
		return nil // the server says so
	}
	if err := decode(body, &got); err != nil {
		return []string{"the answer is no JSON: " + err.Error()}
	}
	c := &checker{schema: s, variables: q.Variables}
	for key := range got {
		if key != "data" && key != "errors" {
			c.tell(nil, "the answer has a member %s", key)
		}
	}
	list, failed := got["errors"]
	if failed {
		c.errors(list)
	}
	data, ran := got["data"]
	switch {
	case !ran && !failed:
		c.tell(nil, "the answer has neither data nor errors")
	case ran:
		c.data(&q, data, failed)
	}
	return c.wrong
}

func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}

// checker walks an answer.
type checker struct {
	schema    *ast.Schema
	fragments ast.FragmentDefinitionList
	variables map[string]any
	wrong     []string
}

func (c *checker) tell(path []string, format string, args ...any) {
	if len(c.wrong) < maxTold {
		c.wrong = append(c.wrong, strings.Join(path, ".")+": "+fmt.Sprintf(format, args...))
	}
}

// data checks what was found.
func (c *checker) data(q *request, data any, failed bool) {
	document, err := parser.ParseQuery(&ast.Source{Input: q.Query})
	if err != nil {
		c.tell(nil, "there is data for what cannot be read: %v", err)
		return
	}
	c.fragments = document.Fragments
	op := document.Operations.ForName(q.OperationName)
	if op == nil {
		c.tell(nil, "there is data for no operation")
		return
	}
	if data == nil {
		if !failed {
			c.tell(nil, "data is null without an error")
		}
		return
	}
	for _, v := range op.VariableDefinitions {
		if _, given := c.variables[v.Variable]; !given && v.DefaultValue != nil {
			value, _ := v.DefaultValue.Value(nil)
			if c.variables == nil {
				c.variables = map[string]any{}
			}
			c.variables[v.Variable] = value
		}
	}
	on := c.schema.Query
	if op.Operation == ast.Mutation {
		on = c.schema.Mutation
	}
	c.object([]string{string(op.Operation)}, on, []ast.SelectionSet{op.SelectionSet}, data)
}

// errors checks the form of errors.
func (c *checker) errors(v any) {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		c.tell([]string{"errors"}, "is not a list, or empty")
	}
	for n, e := range list {
		at := []string{"errors", fmt.Sprint(n)}
		o, ok := e.(map[string]any)
		if !ok {
			c.tell(at, "is not an object")
			continue
		}
		for key, v := range o {
			switch key {
			case "message", "type":
				_, ok = v.(string)
			case "path", "locations":
				_, ok = v.([]any)
			case "extensions":
				_, ok = v.(map[string]any)
			default:
				ok = false
			}
			if !ok {
				c.tell(at, "%s is %v", key, v)
			}
		}
		if o["message"] == nil {
			c.tell(at, "has no message")
		}
	}
}

// asked is a field with all that is selected of it.
type asked struct {
	name       string
	selections []ast.SelectionSet
}

// collect returns the fields that selections request from an object of a type, by key.
func (c *checker) collect(
	on *ast.Definition, sets []ast.SelectionSet, into map[string]*asked,
) map[string]*asked {
	for _, set := range sets {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				if !c.included(s.Directives) {
					continue
				}
				key := s.Alias
				if key == "" {
					key = s.Name
				}
				if into[key] == nil {
					into[key] = &asked{name: s.Name}
				}
				into[key].selections = append(into[key].selections, s.SelectionSet)
			case *ast.InlineFragment:
				if c.included(s.Directives) && c.applies(s.TypeCondition, on) {
					c.collect(on, []ast.SelectionSet{s.SelectionSet}, into)
				}
			case *ast.FragmentSpread:
				f := c.fragments.ForName(s.Name)
				if f != nil && c.included(s.Directives) && c.applies(f.TypeCondition, on) {
					c.collect(on, []ast.SelectionSet{f.SelectionSet}, into)
				}
			}
		}
	}
	return into
}

func (c *checker) applies(condition string, on *ast.Definition) bool {
	return condition == "" || condition == on.Name || slices.ContainsFunc(c.schema.PossibleTypes[condition],
		func(d *ast.Definition) bool { return d.Name == on.Name })
}

func (c *checker) included(list ast.DirectiveList) bool {
	for _, d := range list {
		if a := d.Arguments.ForName("if"); a != nil && (d.Name == "skip" || d.Name == "include") {
			v, _ := a.Value.Value(c.variables)
			if v == (d.Name == "skip") {
				return false
			}
		}
	}
	return true
}

// object checks an object of a type, which may be an abstract one.
func (c *checker) object(path []string, on *ast.Definition, sets []ast.SelectionSet, v any) {
	o, ok := v.(map[string]any)
	if !ok {
		c.tell(path, "is not an object: %.100v", v)
		return
	}
	if on.IsAbstractType() {
		c.oneOf(path, on, sets, o)
		return
	}
	want := c.collect(on, sets, map[string]*asked{})
	for key := range o {
		if want[key] == nil {
			c.tell(path, "%s was not asked of a %s", key, on.Name)
		}
	}
	for key, a := range want {
		at := append(slices.Clip(path), key)
		value, there := o[key]
		if !there {
			c.tell(at, "is missing in a %s", on.Name)
			continue
		}
		if a.name == "__typename" {
			if value != on.Name {
				c.tell(at, "is %v, not %s", value, on.Name)
			}
			continue
		}
		d := on.Fields.ForName(a.name)
		if d == nil {
			c.tell(at, "the schema has no %s.%s", on.Name, a.name)
			continue
		}
		c.value(at, d.Type, a.selections, value)
	}
}

// oneOf checks an object that is of one of several types: the one that it names, or one whose fields it has.
func (c *checker) oneOf(path []string, on *ast.Definition, sets []ast.SelectionSet, o map[string]any) {
	types := c.schema.GetPossibleTypes(on)
	var best *checker
	for _, d := range types {
		if name := c.nameIn(d, sets, o); name != "" && name != d.Name {
			continue
		}
		trial := &checker{schema: c.schema, fragments: c.fragments, variables: c.variables}
		trial.object(path, d, sets, o)
		if best == nil || len(trial.wrong) < len(best.wrong) {
			best = trial
		}
	}
	if best == nil {
		c.tell(path, "is of no type that is a %s: %.100v", on.Name, o)
		return
	}
	for _, wrong := range best.wrong {
		if len(c.wrong) < maxTold {
			c.wrong = append(c.wrong, wrong)
		}
	}
}

// nameIn returns the type that an object names; empty: it was not requested.
func (c *checker) nameIn(d *ast.Definition, sets []ast.SelectionSet, o map[string]any) string {
	for key, a := range c.collect(d, sets, map[string]*asked{}) {
		if name, ok := o[key].(string); ok && a.name == "__typename" {
			return name
		}
	}
	return ""
}

// value checks a value of a field, or of a list.
func (c *checker) value(path []string, t *ast.Type, sets []ast.SelectionSet, v any) {
	switch {
	case v == nil:
		if t.NonNull {
			c.tell(path, "is null, and a %s", t)
		}
		return
	case t.Elem != nil:
		list, ok := v.([]any)
		if !ok {
			c.tell(path, "is not a list: %.100v", v)
		}
		for n, e := range list {
			c.value(append(slices.Clip(path), fmt.Sprint(n)), t.Elem, sets, e)
		}
		return
	}
	switch d := c.schema.Types[t.NamedType]; {
	case d == nil:
		c.tell(path, "the schema has no type %s", t.NamedType)
	case d.Kind == ast.Enum:
		if name, ok := v.(string); !ok || d.EnumValues.ForName(name) == nil {
			c.tell(path, "%v is no %s", v, d.Name)
		}
	case d.Kind == ast.Scalar:
		if !isScalar(d.Name, v) {
			c.tell(path, "%.200v is no %s", v, d.Name)
		}
	default:
		c.object(path, d, sets, v)
	}
}
