// Package exec runs GraphQL operations on a schema. It knows nothing of Arbor: resolvers give the values.
//
//	exec.go           an operation, level by level
//	collect.go        which fields a selection asks of an object
//	input.go          arguments and variables as the schema has them
//	complete.go       values as the schema has them, and the answer
//	introspection.go  the schema's description of itself
//
// Execution is breadth first: a field is resolved once for all objects of its place in the query, so a
// resolver can ask for what all of them need at one time. A resolver gets the objects and returns one value
// for each.
package exec

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// Object is a value that has fields. Its type is that of the schema by this name.
type Object interface{ TypeName() string }

// Resolver returns the value of a field for each of the parents, in their order: nil, a bool, a number, a
// string, a json.RawMessage of one of these, an Object, a []any of these, or an error for that value.
type Resolver func(ctx context.Context, f *Field, parents []Object) []any

// Field is a field as it is asked for.
type Field struct {
	Name string         // in the schema
	Key  string         // in the answer
	Type string         // the type whose field it is
	Args map[string]any // as the schema has them; what was not given and has no default is missing

	definition *ast.FieldDefinition
	nodes      []*ast.Field // where it stands in the query, more than once where selections are merged
	run        *run
	err        error // what stands under its key does not go together
}

// Selects reports whether the field's own selection contains one of the names, including its fragments.
func (f *Field) Selects(names ...string) bool {
	for _, node := range f.nodes {
		if f.run.selects(node.SelectionSet, names) {
			return true
		}
	}
	return false
}

// Schema is a schema with the resolvers of its fields.
type Schema struct {
	*ast.Schema
	// Resolvers are by type and field: "Issue.title".
	Resolvers map[string]Resolver
	// Otherwise resolves the fields without a resolver.
	Otherwise Resolver
}

// Request is an operation of a validated document.
type Request struct {
	Document  *ast.QueryDocument
	Operation *ast.OperationDefinition
	Variables map[string]any // coerced, see Variables

	// Hold asks for bytes of memory until the answer is sent, before they are used; nil: all may be used.
	// After an error the operation stops.
	Hold func(bytes int64) error
}

// What a field takes of memory for each object that it is resolved for, and an object besides, in bytes.
const (
	fieldBytes  = 256
	objectBytes = 512
)

// run is one operation that runs.
type run struct {
	*Schema
	request Request
	errors  []*Error
	stopped bool
	values  int // of the answer so far
}

// responsePath is the path of a value in the response. nil is the root.
type responsePath struct {
	parent *responsePath
	key    string // in an object
	index  int    // in a list, where key is empty
}

func (p *responsePath) path() []any {
	switch {
	case p == nil:
		return []any{}
	case p.key == "":
		return append(p.parent.path(), p.index)
	}
	return append(p.parent.path(), p.key)
}

// target is an object whose fields are to be found, and where its answer goes.
type target struct {
	value Object
	at    *responsePath
	out   *answer
}

// maxErrors bounds the errors that one answer tells.
const maxErrors = 100

// Execute runs an operation; root is the object of its type. Errors of fields are in the result.
func (s *Schema) Execute(ctx context.Context, q Request, root Object) *Result {
	r := &run{Schema: s, request: q}
	out := &answer{}
	top := []target{{value: root, out: out}}
	if q.Operation.Operation == ast.Mutation {
		r.serially(ctx, top)
	} else {
		r.fields(ctx, top, q.Operation.SelectionSet)
	}
	return r.result(out)
}

// serially runs the fields of a mutation one after the other, each with all that it selects.
func (r *run) serially(ctx context.Context, top []target) {
	for _, f := range r.collect(top[0].value.TypeName(),
		[]ast.SelectionSet{r.request.Operation.SelectionSet}) {
		r.field(ctx, f, top)
	}
}

// fields finds what a selection asks of targets, which may be of several types.
func (r *run) fields(ctx context.Context, targets []target, selections ...ast.SelectionSet) {
	if name := targets[0].value.TypeName(); !slices.ContainsFunc(targets, func(t target) bool {
		return t.value.TypeName() != name
	}) {
		r.fieldsOf(ctx, name, targets, selections)
		return
	}
	var names []string
	byType := map[string][]target{}
	for _, t := range targets {
		name := t.value.TypeName()
		if byType[name] == nil {
			names = append(names, name)
		}
		byType[name] = append(byType[name], t)
	}
	for _, name := range names {
		r.fieldsOf(ctx, name, byType[name], selections)
	}
}

// fieldsOf is fields for targets of one type.
func (r *run) fieldsOf(ctx context.Context, name string, targets []target, selections []ast.SelectionSet) {
	fields := r.collect(name, selections)
	slots := make([]slot, len(fields)*len(targets))
	for n, t := range targets {
		t.out.slots = slots[n*len(fields) : n*len(fields) : (n+1)*len(fields)]
	}
	for _, f := range fields {
		r.field(ctx, f, targets)
	}
}

// field resolves one field for all targets, and then what it selects of their values.
func (r *run) field(ctx context.Context, f *Field, targets []target) {
	if r.stopped {
		return
	}
	if err := r.proceed(ctx, len(targets)*fieldBytes); err != nil {
		r.stopped = true
		r.fail(err, f, &responsePath{parent: targets[0].at, key: f.Key})
		return
	}
	values, err := r.resolve(ctx, f, targets)
	if err == nil {
		if err = r.proceed(ctx, leafBytes(values)); err != nil {
			r.stopped = true
		}
	}
	if err != nil {
		r.failAll(f, targets, err)
		return
	}
	answers := make([]answer, len(targets))
	r.values += len(targets)
	var next []target
	for n, t := range targets {
		t.out.put(f, &answers[n])
		if f.isScalar() && isLeaf(values[n]) { // nobody asks for its place
			answers[n].kind, answers[n].leaf = leaf, values[n]
			continue
		}
		at := &responsePath{parent: t.at, key: f.Key}
		next = r.complete(next, f, f.definition.Type, values[n], target{nil, at, &answers[n]})
	}
	if len(next) > 0 {
		if err := r.proceed(ctx, len(next)*objectBytes); err != nil {
			r.stopped = true
			r.fail(err, f, next[0].at)
			return
		}
		selections := make([]ast.SelectionSet, len(f.nodes))
		for n, node := range f.nodes {
			selections[n] = node.SelectionSet
		}
		r.fields(ctx, next, selections...)
	}
}

// Definition returns the field's definition in the schema.
func (f *Field) Definition() *ast.FieldDefinition { return f.definition }

// isScalar reports a field whose value is neither a list nor an object.
func (f *Field) isScalar() bool {
	return f.definition.Type.Elem == nil && len(f.nodes[0].SelectionSet) == 0
}

// proceed asks whether the operation may go on, and use so many bytes of memory.
func (r *run) proceed(ctx context.Context, bytes int) error {
	if err := ctx.Err(); err != nil || r.request.Hold == nil {
		return err
	}
	return r.request.Hold(int64(bytes))
}

func (r *run) failAll(f *Field, targets []target, err error) {
	for _, t := range targets {
		t.out.put(f, &answer{})
		r.fail(err, f, &responsePath{parent: t.at, key: f.Key})
	}
}

// resolve calls the resolver of a field.
func (r *run) resolve(ctx context.Context, f *Field, targets []target) ([]any, error) {
	parents := make([]Object, len(targets))
	for n, t := range targets {
		parents[n] = t.value
	}
	if f.err != nil {
		return nil, f.err
	}
	args, err := r.arguments(f)
	if err != nil {
		return nil, err
	}
	if err := r.proceed(ctx, textBytes(args)); err != nil {
		r.stopped = true
		return nil, err
	}
	f.Args = args
	if _, ok := introspect(r.Schema.Schema, f, parents[0]); ok {
		values := make([]any, len(parents))
		for n, p := range parents {
			values[n], _ = introspect(r.Schema.Schema, f, p)
		}
		return values, nil
	}
	if next := r.Resolvers[f.Type+"."+f.Name]; next != nil {
		return next(ctx, f, parents), nil
	}
	return r.Otherwise(ctx, f, parents), nil
}

// leafBytes is how long the texts among a field's values are together. The answer has each of them as often as it is
// asked for, though they may share memory until then.
func leafBytes(values []any) (n int) {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			n += len(v)
		case json.RawMessage:
			n += len(v)
		case []any:
			n += leafBytes(v)
		}
	}
	return n
}

// textBytes is how long the texts in arguments are together: a resolver takes as much work and memory for
// each field that is given them, though a variable is sent once.
func textBytes(v any) (n int) {
	switch v := v.(type) {
	case string:
		n = len(v)
	case []any:
		for _, e := range v {
			n += textBytes(e)
		}
	case map[string]any:
		for _, e := range v {
			n += textBytes(e)
		}
	}
	return n
}

// Deep is Selects for everything below the field at any depth.
func (f *Field) Deep(names ...string) bool {
	for _, node := range f.nodes {
		if f.run.deep(node.SelectionSet, names) {
			return true
		}
	}
	return false
}
