package graphql

import (
	"crypto/sha256"
	"errors"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"arbor/internal/cache"
	"arbor/internal/graphql/exec"
)

// Bounds of a document, before anything is made of it. Errors and answers repeat its names, and validation
// goes through all operations.
const (
	maxQuery      = 256 << 10 // bytes; what is longer comes as variables
	maxTokens     = 60_000
	maxName       = 255 // bytes of a name, an alias or a number
	maxOperations = 50
	maxVariables  = 1000 // of an operation
)

// document is a query that was parsed and validated.
type document struct {
	query  *ast.QueryDocument
	errors []*exec.Error // what is wrong; with any nothing runs
	size   int           // of its text, in bytes
}

// documentCost is about what a document takes in memory, in times of its text.
const documentCost = 40

// maxKept is the longest query that is kept, in bytes.
const maxKept = 64 << 10

// documentBytes bounds the documents that are kept, in bytes of memory.
const documentBytes = 8 << 20

func newDocuments() *cache.Recent[[sha256.Size]byte, *document] {
	return cache.NewRecent[[sha256.Size]byte](documentBytes, func(d *document) int {
		return documentCost * d.size
	})
}

// newRules are the rules of validation, without two that GitHub does not hold clients to: gh's own queries
// ask for fields of two types under one key, and other clients spread fragments on types that cannot be
// there.
func newRules() *rules.Rules {
	r := rules.NewDefaultRules()
	r.RemoveRule("OverlappingFieldsCanBeMerged")
	r.RemoveRule("PossibleFragmentSpreads")
	return r
}

// document parses and validates a query, or takes it from memory.
func (api *API) document(text string) *document {
	key := sha256.Sum256([]byte(text))
	if len(text) <= maxKept {
		if d, ok := api.documents.Get(key); ok {
			return d
		}
	}
	d := api.newDocument(text)
	if len(text) <= maxKept && len(d.errors) == 0 {
		api.documents.Put(key, d)
	}
	return d
}

func (api *API) newDocument(text string) *document {
	if err := checkText(text); err != nil {
		return &document{errors: []*exec.Error{err}}
	}
	q, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: text}, maxTokens)
	if err != nil {
		return &document{errors: []*exec.Error{syntaxError(err)}}
	}
	// First what bounds the rest: validation goes into fragments wherever they are spread.
	if errs := api.check(q); len(errs) > 0 {
		return &document{errors: errs}
	}
	d := &document{query: q, size: len(text)}
	for _, e := range validator.ValidateWithRules(api.schema().Schema, q, newRules()) {
		if len(d.errors) == maxTold {
			break
		}
		d.errors = append(d.errors, told(e))
	}
	return d
}

// checkText refuses a text that is too long, or has names that are.
func checkText(text string) *exec.Error {
	if len(text) > maxQuery {
		return &exec.Error{Message: "The query is longer than 256 KiB: send what is long as variables."}
	}
	for words := lexer.New(&ast.Source{Input: text}); ; {
		word, err := words.ReadToken()
		if err != nil || word.Kind == lexer.EOF {
			return nil // the parser says what is wrong
		}
		switch word.Kind {
		case lexer.Name, lexer.Int, lexer.Float:
			if len(word.Value) > maxName {
				return &exec.Error{Message: "The query is too large: a name in it is longer than 255 bytes."}
			}
		}
	}
}

func syntaxError(err error) *exec.Error {
	var e *gqlerror.Error
	if !errors.As(err, &e) {
		return &exec.Error{Message: "Parse error"}
	}
	out := told(e)
	out.Message = "Parse error: " + out.Message
	return out
}

func told(e *gqlerror.Error) *exec.Error {
	out := &exec.Error{Message: cut(e.Message, maxMessage)} // it may repeat a value
	if e.Rule != "" {
		out.Extensions = map[string]any{"code": e.Rule}
	}
	for _, l := range e.Locations {
		out.Locations = append(out.Locations, exec.Location{Line: l.Line, Column: l.Column})
	}
	return out
}

// Bounds of what all operations of a document say, with each fragment counted wherever it is spread.
const (
	maxSelected = 10_000 // fields and fragments
	maxDepth    = 50     // fields within fields
)

// check finds what GitHub tells in words that clients know, and what would take too much work.
func (api *API) check(q *ast.QueryDocument) []*exec.Error {
	c := checker{schema: api.schema().Schema,
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
		c.path = []any{operationName(op)}
		var on *ast.Definition
		switch op.Operation {
		case ast.Query:
			on = c.schema.Query
		case ast.Mutation:
			on = c.schema.Mutation
		default:
			return []*exec.Error{{Message: "Schema is not configured for subscriptions"}}
		}
		c.selection(op.SelectionSet, on, 0)
		if c.stop != nil {
			return []*exec.Error{c.stop}
		}
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
			inner := on
			if s.TypeCondition != "" {
				inner = c.schema.Types[s.TypeCondition] // nil: validation says so
			}
			c.selection(s.SelectionSet, inner, depth+1)
		case *ast.FragmentSpread:
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

// Bounds of what is told of one document.
const (
	maxTold    = 20   // errors
	maxMessage = 1000 // bytes of each
)

func (c *checker) field(s *ast.Field, on *ast.Definition, depth int) {
	if on == nil {
		return
	}
	key := s.Alias
	if key == "" {
		key = s.Name
	}
	c.path = append(c.path, key)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	if s.Name == "__typename" {
		return
	}
	d := on.Fields.ForName(s.Name)
	if d == nil {
		c.tell(s.Position, "Field '"+s.Name+"' doesn't exist on type '"+on.Name+"'",
			map[string]any{"code": "undefinedField", "typeName": on.Name, "fieldName": s.Name})
		return
	}
	for _, a := range s.Arguments {
		if d.Arguments.ForName(a.Name) == nil {
			c.tell(a.Position, "Field '"+s.Name+"' doesn't accept argument '"+a.Name+"'",
				map[string]any{"code": "argumentNotAccepted", "name": s.Name, "typeName": "Field",
					"argumentName": a.Name})
		}
	}
	c.selection(s.SelectionSet, c.schema.Types[d.Type.Name()], depth+1)
}

func (c *checker) tell(at *ast.Position, message string, extensions map[string]any) {
	if len(c.errors) >= maxTold {
		return
	}
	e := &exec.Error{Path: append([]any(nil), c.path...), Message: message, Extensions: extensions}
	if at != nil {
		e.Locations = []exec.Location{{Line: at.Line, Column: at.Column}}
	}
	c.errors = append(c.errors, e)
}
