package exec

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// introspective is an object of the schema itself.
type introspective interface {
	Object
	// field returns the value of a field.
	field(s *ast.Schema, f *Field) any
}

// The objects of introspection.
type (
	schemaObject    struct{}
	typeObject      struct{ *ast.Definition } // a named type
	wrapObject      struct{ *ast.Type }       // a list, or what is not null
	fieldObject     struct{ *ast.FieldDefinition }
	inputObject     struct{ inputValue }
	enumObject      struct{ *ast.EnumValueDefinition }
	directiveObject struct{ *ast.DirectiveDefinition }
)

// inputValue is an argument, or a field of an input object.
type inputValue struct {
	name       string
	of         *ast.Type
	value      *ast.Value
	directives ast.DirectiveList
}

func (schemaObject) TypeName() string    { return "__Schema" }
func (typeObject) TypeName() string      { return "__Type" }
func (wrapObject) TypeName() string      { return "__Type" }
func (fieldObject) TypeName() string     { return "__Field" }
func (inputObject) TypeName() string     { return "__InputValue" }
func (enumObject) TypeName() string      { return "__EnumValue" }
func (directiveObject) TypeName() string { return "__Directive" }

// introspect returns the value of a field that every schema has.
func introspect(s *ast.Schema, f *Field, of Object) (value any, ok bool) {
	if o, ok := of.(introspective); ok {
		return o.field(s, f), true
	}
	switch f.Name {
	case "__typename":
		return of.TypeName(), true
	case "__schema":
		return schemaObject{}, true
	case "__type":
		name, _ := f.Args["name"].(string)
		return named(s, name), true
	}
	return nil, false
}

func named(s *ast.Schema, name string) any {
	if d := s.Types[name]; d != nil {
		return typeObject{d}
	}
	return nil
}

// typeOf is the object of a type that stands at a field.
func typeOf(s *ast.Schema, t *ast.Type) any {
	if t.NonNull || t.Elem != nil {
		return wrapObject{t}
	}
	return named(s, t.NamedType)
}

func (schemaObject) field(s *ast.Schema, f *Field) any {
	switch f.Name {
	case "types":
		names := make([]string, 0, len(s.Types))
		for name := range s.Types {
			names = append(names, name)
		}
		slices.Sort(names)
		return objects(names, func(name string) any { return named(s, name) })
	case "queryType":
		return typeObject{s.Query}
	case "mutationType":
		if s.Mutation != nil {
			return typeObject{s.Mutation}
		}
	case "directives":
		names := make([]string, 0, len(s.Directives))
		for name := range s.Directives {
			names = append(names, name)
		}
		slices.Sort(names)
		return objects(names, func(name string) any { return directiveObject{s.Directives[name]} })
	case "__typename":
		return "__Schema"
	}
	return nil
}

// objects converts a list.
func objects[T any](list []T, object func(T) any) []any {
	out := make([]any, len(list))
	for n, v := range list {
		out[n] = object(v)
	}
	return out
}

func (o typeObject) field(s *ast.Schema, f *Field) any {
	all, _ := f.Args["includeDeprecated"].(bool)
	switch f.Name {
	case "kind":
		return string(o.Kind)
	case "name":
		return o.Name
	case "description":
		return orNull(o.Description)
	case "fields":
		if o.Kind == ast.Object || o.Kind == ast.Interface {
			return objects(shown(o.Fields, all), func(d *ast.FieldDefinition) any { return fieldObject{d} })
		}
	case "interfaces":
		if o.Kind == ast.Object || o.Kind == ast.Interface {
			return objects(o.Interfaces, func(name string) any { return named(s, name) })
		}
	case "possibleTypes":
		if o.IsAbstractType() {
			return objects(s.PossibleTypes[o.Name], func(d *ast.Definition) any { return typeObject{d} })
		}
	case "enumValues":
		if o.Kind == ast.Enum {
			list := slices.DeleteFunc(slices.Clone(o.EnumValues),
				func(v *ast.EnumValueDefinition) bool {
					return !all && v.Directives.ForName("deprecated") != nil
				})
			return objects(list, func(v *ast.EnumValueDefinition) any { return enumObject{v} })
		}
	case "inputFields":
		if o.Kind == ast.InputObject {
			return objects(o.Fields, func(d *ast.FieldDefinition) any {
				return inputObject{inputValue{d.Name, d.Type, d.DefaultValue, d.Directives}}
			})
		}
	case "isOneOf":
		return o.Directives.ForName("oneOf") != nil
	case "__typename":
		return "__Type"
	}
	return nil
}

// shown are the fields in the introspection of a type.
func shown(list ast.FieldList, deprecated bool) ast.FieldList {
	return slices.DeleteFunc(slices.Clone(list), func(d *ast.FieldDefinition) bool {
		return strings.HasPrefix(d.Name, "__") || !deprecated && d.Directives.ForName("deprecated") != nil
	})
}

func (o wrapObject) field(s *ast.Schema, f *Field) any {
	switch {
	case f.Name == "__typename":
		return "__Type"
	case f.Name == "kind" && o.NonNull:
		return "NON_NULL"
	case f.Name == "kind":
		return "LIST"
	case f.Name == "ofType" && o.NonNull:
		inner := *o.Type
		inner.NonNull = false
		return typeOf(s, &inner)
	case f.Name == "ofType":
		return typeOf(s, o.Elem)
	}
	return nil
}

func (o fieldObject) field(s *ast.Schema, f *Field) any {
	switch f.Name {
	case "args":
		return arguments(o.Arguments)
	case "type":
		return typeOf(s, o.Type)
	}
	return described(f.Name, o.TypeName(), o.Name, o.Description, o.Directives)
}

func (o inputObject) field(s *ast.Schema, f *Field) any {
	switch f.Name {
	case "type":
		return typeOf(s, o.of)
	case "defaultValue":
		if o.value != nil {
			return o.value.String()
		}
		return nil
	}
	return described(f.Name, o.TypeName(), o.name, "", o.directives)
}

func (o enumObject) field(_ *ast.Schema, f *Field) any {
	return described(f.Name, o.TypeName(), o.Name, o.Description, o.Directives)
}

func (o directiveObject) field(_ *ast.Schema, f *Field) any {
	switch f.Name {
	case "locations":
		return objects(o.Locations, func(l ast.DirectiveLocation) any { return string(l) })
	case "args":
		return arguments(o.Arguments)
	case "isRepeatable":
		return o.IsRepeatable
	}
	return described(f.Name, o.TypeName(), o.Name, o.Description, nil)
}

func arguments(list ast.ArgumentDefinitionList) []any {
	return objects(list, func(d *ast.ArgumentDefinition) any {
		return inputObject{inputValue{d.Name, d.Type, d.DefaultValue, d.Directives}}
	})
}

// described returns the fields that most of these objects have.
func described(field, typeName, name, description string, directives ast.DirectiveList) any {
	deprecated := directives.ForName("deprecated")
	switch field {
	case "__typename":
		return typeName
	case "name":
		return name
	case "description":
		return orNull(description)
	case "isDeprecated":
		return deprecated != nil
	case "deprecationReason":
		if deprecated != nil {
			if reason := deprecated.Arguments.ForName("reason"); reason != nil {
				return reason.Value.Raw
			}
			return "No longer supported"
		}
	}
	return nil
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
