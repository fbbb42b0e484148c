package document

import (
	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/graphql/exec"
)

// Bounds of what all operations of a document say, with each fragment counted wherever it is spread.
const (
	maxSelected = 10_000 // fields and fragments
	maxDepth    = 50     // fields within fields
)

// check finds what GitHub tells in words that clients know, and what would take too much work.
func (r *Reader) check(q *ast.QueryDocument) []*exec.Error {
	c := checker{schema: r.schema(),
		fragments: make(map[string]*ast.FragmentDefinition, len(q.Fragments))}
	for _, f := range q.Fragments {
		if c.fragments[f.Name] == nil {
			c.fragments[f.Name] = f
		}
	}
	if len(q.Operations) > maxOperations {
		return []*exec.Error{{Message: "The query is too large: it has more than 50 operations."}}
	}
	for _, op := range q.Operations {
		if len(op.VariableDefinitions) > maxVariables {
			return []*exec.Error{{Message: "The query is too large: it has more than 1000 variables."}}
		}
		c.op, c.used, c.path = op, map[string]bool{}, []any{operationName(op)}
		var on *ast.Definition
		switch op.Operation {
		case ast.Query:
			on = c.schema.Query
		case ast.Mutation:
			on = c.schema.Mutation
		default:
			return []*exec.Error{{Message: "Schema is not configured for subscriptions"}}
		}
		c.directives(op.Directives)
		c.selection(op.SelectionSet, on, 0)
		if c.stop != nil {
			return []*exec.Error{c.stop}
		}
		c.unused()
	}
	return c.errors
}

func operationName(op *ast.OperationDefinition) string {
	if op.Name == "" {
		return string(op.Operation)
	}
	return string(op.Operation) + " " + op.Name
}

// checker walks a document.
type checker struct {
	schema    *ast.Schema
	fragments map[string]*ast.FragmentDefinition
	op        *ast.OperationDefinition // that the walk is in
	used      map[string]bool          // its variables
	path      []any
	open      []string // fragments that the walk is in
	seen      int      // in all operations
	errors    []*exec.Error
	stop      *exec.Error // the walk ends
}

func (c *checker) selection(set ast.SelectionSet, on *ast.Definition, depth int) {
	for _, s := range set {
		if c.seen++; c.seen > maxSelected || depth > maxDepth {
			c.stop = &exec.Error{Message: "The query is too large: it selects too much, or too deep."}
		}
		if c.stop != nil {
			return
		}
		switch s := s.(type) {
		case *ast.Field:
			c.field(s, on, depth)
		case *ast.InlineFragment:
			c.directives(s.Directives)
			inner := on
			if s.TypeCondition != "" {
				inner = c.schema.Types[s.TypeCondition] // nil: validation says so
			}
			c.selection(s.SelectionSet, inner, depth+1)
		case *ast.FragmentSpread:
			c.directives(s.Directives)
			c.fragment(s.Name, depth)
		}
	}
}

func (c *checker) fragment(name string, depth int) {
	for _, open := range c.open {
		if open == name {
			c.stop = &exec.Error{Message: "Fragment " + name + " contains an infinite loop",
				Extensions: map[string]any{"code": "infiniteLoop", "fragmentName": name}}
			return
		}
	}
	if f := c.fragments[name]; f != nil {
		c.open = append(c.open, name)
		c.selection(f.SelectionSet, c.schema.Types[f.TypeCondition], depth+1)
		c.open = c.open[:len(c.open)-1]
	}
}

// Limits of the errors of one document.
const (
	maxTold    = 20   // errors
	maxMessage = 1000 // bytes of each
)

func (c *checker) field(s *ast.Field, on *ast.Definition, depth int) {
	if on == nil {
		c.unknownField(s, depth)
		return
	}
	key := s.Alias
	if key == "" {
		key = s.Name
	}
	c.path = append(c.path, key)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	c.directives(s.Directives)
	if s.Name == "__typename" {
		return
	}
	d := on.Fields.ForName(s.Name)
	if d == nil {
		c.tell(s.Position, "Field '"+s.Name+"' doesn't exist on type '"+on.Name+"'",
			map[string]any{"code": "undefinedField", "typeName": on.Name, "fieldName": s.Name})
		c.unknownField(s, depth)
		return
	}
	c.arguments(s, d)
	if !c.selections(s, d.Type) {
		return
	}
	c.selection(s.SelectionSet, c.schema.Types[d.Type.Name()], depth+1)
}

// unknownField walks into a field that the schema does not have, and notes the variables there.
func (c *checker) unknownField(s *ast.Field, depth int) {
	c.directives(s.Directives)
	for _, a := range s.Arguments {
		c.uses(a.Value)
	}
	c.selection(s.SelectionSet, nil, depth+1)
}

func (c *checker) tell(at *ast.Position, message string, extensions map[string]any) {
	if len(c.errors) >= maxTold {
		return
	}
	e := &exec.Error{Path: append([]any(nil), c.path...), Message: Cut(message, maxMessage), Extensions: extensions}
	if at != nil {
		e.Locations = []exec.Location{{Line: at.Line, Column: at.Column}}
	}
	c.errors = append(c.errors, e)
}
