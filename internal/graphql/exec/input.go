package exec

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// Variables coerces the variables of an operation: those that it declares, and no others. Errors tell clients
// which variable is wrong.
func Variables(s *ast.Schema, op *ast.OperationDefinition, given map[string]any) (map[string]any, error) {
	out := map[string]any{}
	for _, v := range op.VariableDefinitions {
		value, there := given[v.Variable]
		if !there && v.DefaultValue != nil {
			var err error
			if value, err = v.DefaultValue.Value(nil); err != nil {
				return nil, err
			}
			there = true
		}
		if !there && !v.Type.NonNull {
			continue
		}
		coerced, err := coerce(s, v.Type, value)
		if err != nil {
			return nil, wrongf("Variable $%s of type %s was provided invalid value: %s",
				v.Variable, v.Type, err)
		}
		out[v.Variable] = coerced
	}
	return out, nil
}

// wrongf makes an error that clients see.
func wrongf(format string, args ...any) error { return &Error{Message: fmt.Sprintf(format, args...)} }

// arguments gives the arguments of a field as the schema has them.
func (r *run) arguments(f *Field) (map[string]any, error) {
	return Arguments(r.Schema.Schema, f.definition, f.nodes[0], r.request.Variables)
}

// Arguments gives the arguments of a field as the schema has them. Those that were not given and have no
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
		coerced, err := coerce(s, d.Type, value)
		if err != nil {
			return nil, wrongf("Argument '%s' on Field '%s' has an invalid value: %s", d.Name, node.Name, err)
		}
		out[d.Name] = coerced
	}
	return out, nil
}

// coerce makes a value what a type wants: lists of single values, texts of ids, ints of numbers.
func coerce(s *ast.Schema, t *ast.Type, value any) (any, error) {
	if value == nil {
		if t.NonNull {
			return nil, wrongf("Expected value to not be null")
		}
		return nil, nil
	}
	if t.Elem != nil {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		out := make([]any, len(list))
		for n, element := range list {
			var err error
			if out[n], err = coerce(s, t.Elem, element); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	d := s.Types[t.NamedType]
	switch d.Kind {
	case ast.Enum:
		name, ok := value.(string)
		if !ok || d.EnumValues.ForName(name) == nil {
			return nil, wrongf("Expected %s to be one of the values of %s", show(value), d.Name)
		}
		return name, nil
	case ast.InputObject:
		return coerceObject(s, d, value)
	}
	return coerceScalar(d.Name, value)
}

func coerceObject(s *ast.Schema, d *ast.Definition, value any) (any, error) {
	given, ok := value.(map[string]any)
	if !ok {
		return nil, wrongf("Expected %s to be an object of %s", show(value), d.Name)
	}
	for name := range given {
		if d.Fields.ForName(name) == nil {
			return nil, wrongf("Field is not defined on %s: %s", d.Name, show(name))
		}
	}
	out := map[string]any{}
	for _, f := range d.Fields {
		v, there := given[f.Name]
		if !there && f.DefaultValue != nil {
			var err error
			if v, err = f.DefaultValue.Value(nil); err != nil {
				return nil, err
			}
			there = true
		}
		if !there && !f.Type.NonNull {
			continue
		}
		coerced, err := coerce(s, f.Type, v)
		if err != nil {
			return nil, wrongf("%s: %s", f.Name, err)
		}
		out[f.Name] = coerced
	}
	return out, nil
}

// coerceScalar reads a scalar. Those of Arbor's own are texts.
func coerceScalar(name string, value any) (any, error) {
	wrong := wrongf("Could not coerce value %s to %s", show(value), name)
	switch name {
	case "Int":
		n, ok := number(value)
		if !ok || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
			return nil, wrong
		}
		return int(n), nil
	case "Float":
		n, ok := number(value)
		if !ok {
			return nil, wrong
		}
		return n, nil
	case "Boolean":
		if b, ok := value.(bool); ok {
			return b, nil
		}
		return nil, wrong
	case "ID":
		if n, ok := value.(json.Number); ok && !strings.ContainsAny(n.String(), ".eE") {
			return n.String(), nil
		}
		if n, ok := number(value); ok && n == math.Trunc(n) {
			return strconv.FormatFloat(n, 'f', -1, 64), nil
		}
	}
	if text, ok := value.(string); ok {
		return text, nil
	}
	return nil, wrong
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

// show writes a client's value in an error, of which it sees the beginning.
func show(value any) string {
	b, err := json.Marshal(value)
	if err != nil {
		return "?"
	}
	if len(b) > 100 {
		return string(b[:100]) + "..."
	}
	return string(b)
}
