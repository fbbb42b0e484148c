package document

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// arguments checks the arguments of a field.
func (c *checker) arguments(s *ast.Field, d *ast.FieldDefinition) {
	var missing []string
	for _, a := range d.Arguments {
		if a.Type.NonNull && a.DefaultValue == nil && s.Arguments.ForName(a.Name) == nil {
			missing = append(missing, a.Name)
		}
	}
	if len(missing) > 0 {
		names := strings.Join(missing, ", ")
		c.tell(s.Position, "Field '"+s.Name+"' is missing required arguments: "+names,
			map[string]any{"code": "missingRequiredArguments", "className": "Field", "name": s.Name,
				"arguments": names})
	}
	for _, a := range s.Arguments {
		c.path = append(c.path, a.Name)
		on := owner{"Field", s.Name, a.Name}
		if of := d.Arguments.ForName(a.Name); of == nil {
			c.unknown(a.Position, on)
			c.uses(a.Value)
		} else {
			c.value(a.Value, of.Type, of.DefaultValue != nil, on)
		}
		c.path = c.path[:len(c.path)-1]
	}
}

// owner is what has an argument: a field, or an input object with members.
type owner struct{ kind, name, argument string }

func (c *checker) unknown(at *ast.Position, on owner) {
	c.tell(at, on.kind+" '"+on.name+"' doesn't accept argument '"+on.argument+"'",
		map[string]any{"code": "argumentNotAccepted", "name": on.name, "typeName": on.kind,
			"argumentName": on.argument})
}

// value checks that a value fits the type of an argument. What it does not look at, validation does.
func (c *checker) value(v *ast.Value, t *ast.Type, hasDefault bool, on owner) {
	switch v.Kind {
	case ast.Variable:
		c.variable(v, t, hasDefault, on)
		return
	case ast.ListValue:
		for _, element := range v.Children {
			if t.Elem == nil {
				c.uses(element.Value)
			} else {
				c.value(element.Value, t.Elem, false, on)
			}
		}
		if t.Elem != nil {
			return
		}
	case ast.ObjectValue:
		if d := c.schema.Types[t.Name()]; d != nil && d.Kind == ast.InputObject {
			c.object(v, d)
			return
		}
		c.uses(v)
	}
	if !fitsLiteral(c.schema.Types[t.Name()], v, t) {
		c.tell(v.Position, "Argument '"+on.argument+"' on "+on.kind+" '"+on.name+"' has an invalid value ("+
			v.String()+"). Expected type '"+t.String()+"'.",
			map[string]any{"code": "argumentLiteralsIncompatible", "typeName": on.kind,
				"argumentName": on.argument})
	}
}

// object checks the members of an input object.
func (c *checker) object(v *ast.Value, d *ast.Definition) {
	for _, f := range d.Fields {
		if f.Type.NonNull && f.DefaultValue == nil && v.Children.ForName(f.Name) == nil {
			c.path = append(c.path, f.Name)
			c.tell(v.Position, "Argument '"+f.Name+"' on InputObject '"+d.Name+"' is required. Expected type "+
				f.Type.String(), map[string]any{"code": "missingRequiredInputObjectAttribute",
				"argumentName": f.Name, "argumentType": f.Type.String(), "inputObjectType": d.Name})
			c.path = c.path[:len(c.path)-1]
		}
	}
	for _, member := range v.Children {
		c.path = append(c.path, member.Name)
		on := owner{"InputObject", d.Name, member.Name}
		if f := d.Fields.ForName(member.Name); f == nil {
			c.unknown(member.Position, on)
			c.uses(member.Value)
		} else {
			c.value(member.Value, f.Type, f.DefaultValue != nil, on)
		}
		c.path = c.path[:len(c.path)-1]
	}
}

// variable checks that a variable may be used where a type is expected.
func (c *checker) variable(v *ast.Value, want *ast.Type, hasDefault bool, on owner) {
	d := c.uses(v)
	if d == nil {
		return
	}
	may := *want
	if hasDefault || d.DefaultValue != nil && d.DefaultValue.Kind != ast.NullValue {
		may.NonNull = false
	}
	if d.Type.IsCompatible(&may) {
		return
	}
	kind := "Nullability mismatch"
	switch {
	case d.Type.Name() != want.Name():
		kind = "Type mismatch"
	case dimensions(d.Type) != dimensions(want):
		kind = "List dimension mismatch"
	}
	c.tell(v.Position, kind+" on variable $"+v.Raw+" and argument "+on.argument+" ("+d.Type.String()+" / "+
		want.String()+")", map[string]any{"code": "variableMismatch", "variableName": v.Raw,
		"typeName": d.Type.String(), "argumentName": on.argument, "errorMessage": kind})
}

func dimensions(t *ast.Type) (n int) {
	for ; t.Elem != nil; t = t.Elem {
		n++
	}
	return n
}

// uses notes the variables of a value, and finds the definition of one that is a variable; nil: there is none.
func (c *checker) uses(v *ast.Value) *ast.VariableDefinition {
	for _, child := range v.Children {
		c.uses(child.Value)
	}
	if v.Kind != ast.Variable {
		return nil
	}
	d := c.op.VariableDefinitions.ForName(v.Raw)
	if d == nil {
		c.tell(v.Position, "Variable $"+v.Raw+" is used by "+calls(c.op)+" but not declared",
			map[string]any{"code": "variableNotDefined", "variableName": v.Raw})
		return nil
	}
	c.used[v.Raw] = true
	return d
}

// directives notes the variables of directives. Whether these are right, validation says.
func (c *checker) directives(list ast.DirectiveList) {
	for _, d := range list {
		for _, a := range d.Arguments {
			c.uses(a.Value)
		}
	}
}

// unused finds the variables that an operation declares in vain.
func (c *checker) unused() {
	for _, d := range c.op.VariableDefinitions {
		if !c.used[d.Variable] {
			c.tell(d.Position, "Variable $"+d.Variable+" is declared by "+calls(c.op)+" but not used",
				map[string]any{"code": "variableNotUsed", "variableName": d.Variable})
		}
	}
}

// calls is how errors name an operation.
func calls(op *ast.OperationDefinition) string {
	if op.Name == "" {
		return "anonymous " + string(op.Operation)
	}
	return op.Name
}

// fitsLiteral reports whether a literal may be used where a type is expected. Other scalars accept any literal.
func fitsLiteral(d *ast.Definition, v *ast.Value, t *ast.Type) bool {
	switch {
	case d == nil:
		return true
	case v.Kind == ast.NullValue:
		return !t.NonNull
	case d.Kind == ast.Enum:
		return v.Kind == ast.EnumValue && d.EnumValues.ForName(v.Raw) != nil
	case d.Kind == ast.InputObject:
		return false
	}
	kinds := map[string][]ast.ValueKind{
		"Int": {ast.IntValue}, "Float": {ast.IntValue, ast.FloatValue}, "Boolean": {ast.BooleanValue},
		"String": {ast.StringValue, ast.BlockValue}, "ID": {ast.StringValue, ast.BlockValue, ast.IntValue},
	}[d.Name]
	return kinds == nil || slices.Contains(kinds, v.Kind)
}

// selections checks that a field has selections if its type has fields, and none otherwise.
func (c *checker) selections(s *ast.Field, t *ast.Type) bool {
	d := c.schema.Types[t.Name()]
	if d == nil || d.IsCompositeType() == (len(s.SelectionSet) > 0) {
		return true
	}
	extensions := map[string]any{"code": "selectionMismatch", "nodeName": "field '" + s.Name + "'",
		"typeName": t.Name()}
	if d.IsCompositeType() {
		c.tell(s.Position, "Field must have selections (field '"+s.Name+"' returns "+t.Name()+
			" but has no selections. Did you mean '"+s.Name+" { ... }'?)", extensions)
		return false
	}
	kind := "scalars"
	if d.Kind == ast.Enum {
		kind = "enums"
	}
	c.tell(s.Position, "Selections can't be made on "+kind+" (field '"+s.Name+"' returns "+t.Name()+
		" but has selections "+chosen(s.SelectionSet)+")", extensions)
	return false
}

// chosen lists the names of a selection's fields.
func chosen(set ast.SelectionSet) string {
	var names []string
	for _, s := range set {
		if f, ok := s.(*ast.Field); ok {
			names = append(names, `"`+f.Name+`"`)
		}
	}
	return "[" + strings.Join(names, ", ") + "]"
}
