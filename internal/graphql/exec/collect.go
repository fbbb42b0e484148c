package exec

import (
	"iter"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// collect returns the fields that selections request of an object of a type, in the query's order. Fields
// with the same response key are merged.
func (r *run) collect(typeName string, selections []ast.SelectionSet) []*Field {
	c := collector{run: r, object: typeName, byKey: map[string]*Field{}, seen: map[string]bool{}}
	for _, s := range selections {
		c.add(s)
	}
	return c.list
}

type collector struct {
	*run
	object string
	list   []*Field
	byKey  map[string]*Field
	seen   map[string]bool // fragments that were spread here
}

func (c *collector) add(set ast.SelectionSet) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if c.included(s.Directives) {
				c.field(s)
			}
		case *ast.InlineFragment:
			if c.included(s.Directives) && c.applies(s.TypeCondition) {
				c.add(s.SelectionSet)
			}
		case *ast.FragmentSpread:
			if !c.included(s.Directives) || c.seen[s.Name] {
				continue
			}
			c.seen[s.Name] = true
			if c.applies(s.Definition.TypeCondition) {
				c.add(s.Definition.SelectionSet)
			}
		}
	}
}

func (c *collector) field(s *ast.Field) {
	key := s.Alias
	if key == "" {
		key = s.Name
	}
	if f := c.byKey[key]; f != nil {
		if f.nodes = append(f.nodes, s); f.Name != s.Name {
			f.err = &Error{Message: "Field '" + key + "' has a field conflict: " + f.Name + " or " +
				s.Name + "?",
				Extensions: map[string]any{"code": "fieldConflict", "fieldName": key}}
		}
		return
	}
	f := &Field{Name: s.Name, Key: key, Type: c.object, definition: s.Definition,
		nodes: []*ast.Field{s}, run: c.run}
	if d := c.Types[c.object].Fields.ForName(s.Name); d != nil {
		f.definition = d
	}
	c.byKey[key] = f
	c.list = append(c.list, f)
}

// applies reports that a fragment on a type is about the object.
func (c *collector) applies(condition string) bool {
	if condition == "" || condition == c.object {
		return true
	}
	return slices.ContainsFunc(c.PossibleTypes[condition], func(d *ast.Definition) bool {
		return d.Name == c.object
	})
}

// included reads @skip and @include.
func (r *run) included(list ast.DirectiveList) bool {
	for _, d := range list {
		if d.Name != "skip" && d.Name != "include" {
			continue
		}
		condition, _ := d.ArgumentMap(r.request.Variables)["if"].(bool)
		if condition == (d.Name == "skip") {
			return false
		}
	}
	return true
}

// asked are the fields of a selection that are included, those in fragments among them.
func (r *run) asked(set ast.SelectionSet) iter.Seq[*ast.Field] {
	return func(yield func(*ast.Field) bool) { r.eachAsked(set, yield) }
}

func (r *run) eachAsked(set ast.SelectionSet, yield func(*ast.Field) bool) bool {
	for _, s := range set {
		more := true
		switch s := s.(type) {
		case *ast.Field:
			more = !r.included(s.Directives) || yield(s)
		case *ast.InlineFragment:
			more = !r.included(s.Directives) || r.eachAsked(s.SelectionSet, yield)
		case *ast.FragmentSpread:
			more = !r.included(s.Directives) || r.eachAsked(s.Definition.SelectionSet, yield)
		}
		if !more {
			return false
		}
	}
	return true
}

// selects reports that a selection asks for one of the names.
func (r *run) selects(set ast.SelectionSet, names []string) bool {
	for f := range r.asked(set) {
		if slices.Contains(names, f.Name) {
			return true
		}
	}
	return false
}

// deep reports whether names are selected at any depth.
func (r *run) deep(set ast.SelectionSet, names []string) bool {
	for f := range r.asked(set) {
		if slices.Contains(names, f.Name) || r.deep(f.SelectionSet, names) {
			return true
		}
	}
	return false
}
