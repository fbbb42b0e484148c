package exec

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// Variables coerces the variables of an operation: those that it declares, and no others. Errors say which
// variables are wrong, in GitHub's form.
func Variables(
	s *ast.Schema, op *ast.OperationDefinition, given map[string]any,
) (out map[string]any, wrong []*Error) {
	out = map[string]any{}
	for _, v := range op.VariableDefinitions {
		value, there := given[v.Variable]
		if !there && v.DefaultValue != nil {
			var err error
			if value, err = v.DefaultValue.Value(nil); err != nil {
				return nil, []*Error{{Message: err.Error()}}
			}
			there = true
		}
		if !there && !v.Type.NonNull {
			continue
		}
		c := coercion{schema: s}
		out[v.Variable] = c.value(v.Type, value)
		if len(c.problems) > 0 && len(wrong) < maxProblems {
			wrong = append(wrong, wrongVariable(v, value, c.problems))
		}
	}
	return out, wrong
}

// wrongVariable is the error for a value that a variable cannot have.
func wrongVariable(v *ast.VariableDefinition, value any, problems []problem) *Error {
	e := &Error{Message: fmt.Sprintf("Variable $%s of type %s was provided invalid value", v.Variable, v.Type),
		Extensions: map[string]any{"value": value, "problems": problems}}
	if text := show(value); strings.HasSuffix(text, "...") {
		e.Extensions["value"] = text
	}
	for n, p := range problems {
		if len(p.Path) == 0 {
			continue
		}
		join := ", "
		if n == 0 {
			join = " for "
		}
		e.Message += join + p.at() + " (" + p.Explanation + ")"
	}
	if v.Position != nil {
		e.Locations = []Location{{Line: v.Position.Line, Column: v.Position.Column}}
	}
	return e
}

// problem is one thing that is wrong with a value: where in it, and what.
type problem struct {
	Path        []any  `json:"path"`
	Explanation string `json:"explanation"`
}

// at is the path as one text.
func (p *problem) at() string {
	steps := make([]string, len(p.Path))
	for n, step := range p.Path {
		steps[n] = fmt.Sprint(step)
	}
	return strings.Join(steps, ".")
}

// wrongf returns an error that is shown to clients.
func wrongf(format string, args ...any) error { return &Error{Message: fmt.Sprintf(format, args...)} }

// arguments returns the arguments of a field, converted to the schema's types.
func (r *run) arguments(f *Field) (map[string]any, error) {
	return Arguments(r.Schema.Schema, f.definition, f.nodes[0], r.request.Variables)
}

// Arguments returns the arguments of a field, converted to the schema's types. Arguments without a value or
// default are missing.
func Arguments(
	s *ast.Schema, of *ast.FieldDefinition, node *ast.Field, variables map[string]any,
) (map[string]any, error) {
	out := node.ArgumentMap(variables)
	for _, d := range of.Arguments {
		value, there := out[d.Name]
		if !there {
			if d.Type.NonNull {
				return nil, wrongf("Argument '%s' on Field '%s' is required", d.Name, node.Name)
			}
			continue
		}
		c := coercion{schema: s}
		out[d.Name] = c.value(d.Type, value)
		if len(c.problems) > 0 {
			return nil, wrongf("Argument '%s' on Field '%s' has an invalid value: %s", d.Name, node.Name,
				c.problems[0].Explanation)
		}
	}
	return out, nil
}

// maxProblems bounds the errors about one request's variables, and the problems of one variable.
const maxProblems = 20

// coercion converts values to the types of the schema: a single value to a list, a number or string to an
// id, a JSON number to an integer. It records values that cannot be converted.
type coercion struct {
	schema   *ast.Schema
	path     []any
	problems []problem
}

func (c *coercion) wrong(format string, args ...any) any {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, problem{append([]any{}, c.path...), fmt.Sprintf(format, args...)})
	}
	return nil
}

// at coerces a part of a value.
func (c *coercion) at(step any, t *ast.Type, value any) any {
	c.path = append(c.path, step)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return c.value(t, value)
}

func (c *coercion) value(t *ast.Type, value any) any {
	if value == nil {
		if t.NonNull {
			return c.wrong("Expected value to not be null")
		}
		return nil
	}
	if t.Elem != nil {
		list, ok := value.([]any)
		if !ok {
			return []any{c.value(t.Elem, value)}
		}
		out := make([]any, len(list))
		for n, element := range list {
			out[n] = c.at(n, t.Elem, element)
		}
		return out
	}
	d := c.schema.Types[t.NamedType]
	switch d.Kind {
	case ast.Enum:
		name, ok := value.(string)
		if !ok || d.EnumValues.ForName(name) == nil {
			names := make([]string, len(d.EnumValues))
			for n, v := range d.EnumValues {
				names[n] = v.Name
			}
			return c.wrong("Expected %s to be one of: %s", show(value), strings.Join(names, ", "))
		}
		return name
	case ast.InputObject:
		return c.object(d, value)
	}
	out, ok := scalar(d.Name, value)
	if !ok {
		return c.wrong("Could not coerce value %s to %s", show(value), d.Name)
	}
	return out
}

func (c *coercion) object(d *ast.Definition, value any) any {
	given, ok := value.(map[string]any)
	if !ok {
		return c.wrong("Expected %s to be a key-value object.", show(value))
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if d.Fields.ForName(name) == nil {
			c.path = append(c.path, clip(name))
			c.wrong("Field is not defined on %s", d.Name)
			c.path = c.path[:len(c.path)-1]
		}
	}
	out := map[string]any{}
	for _, f := range d.Fields {
		v, there := given[f.Name]
		if !there && f.DefaultValue != nil {
			var err error
			if v, err = f.DefaultValue.Value(nil); err != nil {
				return c.wrong("%s", err)
			}
			there = true
		}
		if there || f.Type.NonNull {
			out[f.Name] = c.at(f.Name, f.Type, v)
		}
	}
	return out
}

// scalar reads a scalar. Those of Arbor's own are texts.
func scalar(name string, value any) (any, bool) {
	switch name {
	case "Int":
		n, ok := number(value)
		return int(n), ok && n == math.Trunc(n) && math.Abs(n) <= math.MaxInt32
	case "Float":
		n, ok := number(value)
		return n, ok
	case "Boolean":
		b, ok := value.(bool)
		return b, ok
	case "ID":
		if n, ok := value.(json.Number); ok && !strings.ContainsAny(n.String(), ".eE") {
			return n.String(), true
		}
		if n, ok := number(value); ok && n == math.Trunc(n) {
			return strconv.FormatFloat(n, 'f', -1, 64), true
		}
	}
	text, ok := value.(string)
	return text, ok
}

func number(value any) (float64, bool) {
	switch v := value.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

// show returns the beginning of a client's value for an error.
func show(value any) string {
	b, err := json.Marshal(value)
	if err != nil {
		return "?"
	}
	return clip(string(b))
}

// clip shortens a text.
func clip(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "..."
	}
	return s
}
