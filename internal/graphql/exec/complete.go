package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// Error is an error of an answer, in GitHub's form.
type Error struct {
	Type       string         `json:"type,omitempty"` // such as NOT_FOUND
	Path       []any          `json:"path,omitempty"` // response keys and indexes
	Extensions map[string]any `json:"extensions,omitempty"`
	Locations  []Location     `json:"locations,omitempty"`
	Message    string         `json:"message"`

	Cause error `json:"-"` // for the log; nil: the message says all
}

func (e *Error) Error() string { return e.Message }

// Location is a place in a query.
type Location struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Result is the answer to an operation.
type Result struct {
	Data   json.RawMessage // null where an error went up to the root
	Errors []*Error
}

// answer is an object, a list or a leaf of the answer while it is made.
type answer struct {
	keys  []string
	types []*ast.Type // of the values
	list  []*answer   // the values of the keys, or those of a list
	leaf  any         // a value; nil: null
	kind  answerKind
}

type answerKind uint8

const (
	null answerKind = iota
	leaf
	object
	list
)

// put makes room for the value of a key of an object.
func (a *answer) put(key string, t *ast.Type) *answer {
	v := &answer{}
	a.kind = object
	a.keys, a.types, a.list = append(a.keys, key), append(a.types, t), append(a.list, v)
	return v
}

// complete writes a value as its type wants it, and gives the objects whose fields are still to be found.
func (r *run) complete(f *Field, t *ast.Type, value any, at *place, out *answer) []*target {
	if err, ok := value.(error); ok {
		r.fail(err, f, at)
		return nil
	}
	if value == nil {
		if t.NonNull {
			r.fail(fmt.Errorf("exec: %s.%s is null", f.Type, f.Name), f, at)
		}
		return nil
	}
	if t.Elem != nil {
		values, ok := value.([]any)
		if !ok {
			r.fail(fmt.Errorf("exec: %s.%s is no list", f.Type, f.Name), f, at)
			return nil
		}
		out.kind, out.types = list, []*ast.Type{t.Elem}
		var next []*target
		for n, v := range values {
			item := &answer{}
			out.list = append(out.list, item)
			next = append(next, r.complete(f, t.Elem, v, &place{at, n}, item)...)
		}
		return next
	}
	if o, ok := value.(Object); ok {
		if !r.mayBe(t.NamedType, o.TypeName()) {
			r.fail(fmt.Errorf("exec: %s.%s is a %s", f.Type, f.Name, o.TypeName()), f, at)
			return nil
		}
		out.kind = object
		return []*target{{o, at, out}}
	}
	if d := r.Types[t.NamedType]; d.IsCompositeType() {
		r.fail(fmt.Errorf("exec: %s.%s is no object but %T", f.Type, f.Name, value), f, at)
		return nil
	}
	out.kind, out.leaf = leaf, value
	return nil
}

// mayBe reports that an object of a type can stand where another is wanted.
func (r *run) mayBe(wanted, name string) bool {
	return wanted == name ||
		slices.ContainsFunc(r.PossibleTypes[wanted], func(d *ast.Definition) bool { return d.Name == name })
}

// fail notes the error of a field.
func (r *run) fail(err error, f *Field, at *place) {
	if len(r.errors) >= maxErrors {
		return
	}
	e := &Error{}
	if !errors.As(err, &e) {
		e = &Error{Message: "Something went wrong while executing your query.", Cause: err}
	}
	told := *e
	told.Path = at.path()
	if p := f.nodes[0].Position; p != nil {
		told.Locations = []Location{{p.Line, p.Column}}
	}
	r.errors = append(r.errors, &told)
}

// result renders the answer.
func (r *run) result(out *answer) *Result {
	b, ok := out.render(nil, nil)
	if !ok {
		b = []byte("null")
	}
	return &Result{Data: b, Errors: r.errors}
}

// render appends the answer; ok is false where it is null and must not be, so that its parent is null.
func (a *answer) render(b []byte, t *ast.Type) (_ []byte, ok bool) {
	begin := len(b)
	switch a.kind {
	case leaf:
		if raw, ok := a.leaf.(json.RawMessage); ok {
			return append(b, raw...), true
		}
		v, err := json.Marshal(a.leaf)
		if err == nil {
			return append(b, v...), true
		}
	case object:
		if b, ok = a.renderObject(b); ok {
			return b, true
		}
	case list:
		if b, ok = a.renderList(b); ok {
			return b, true
		}
	}
	return append(b[:begin], "null"...), t != nil && !t.NonNull
}

func (a *answer) renderObject(b []byte) (_ []byte, ok bool) {
	b = append(b, '{')
	for n, key := range a.keys {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), key...), '"', ':')
		if b, ok = a.list[n].render(b, a.types[n]); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}

func (a *answer) renderList(b []byte) (_ []byte, ok bool) {
	b = append(b, '[')
	for n, item := range a.list {
		if n > 0 {
			b = append(b, ',')
		}
		if b, ok = item.render(b, a.types[0]); !ok {
			return b, false
		}
	}
	return append(b, ']'), true
}
