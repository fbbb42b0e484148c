package exec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

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
	kind  answerKind
	slots []slot    // of an object
	list  []answer  // of a list
	leaf  any       // a value
	elem  *ast.Type // of what is in the list
}

// slot is a field of an object of the answer.
type slot struct {
	*Field
	value *answer
}

type answerKind uint8

const (
	null answerKind = iota
	leaf
	object
	list
)

// put adds a value as the next field of an object.
func (a *answer) put(f *Field, value *answer) {
	a.kind = object
	a.slots = append(a.slots, slot{f, value})
}

// complete writes a value as its type wants it to where to says, and appends the objects whose fields are
// still to be found.
func (r *run) complete(next []target, f *Field, t *ast.Type, value any, to target) []target {
	if err, ok := value.(error); ok {
		r.fail(err, f, to.at)
		return next
	}
	if value == nil {
		if t.NonNull {
			r.fail(fmt.Errorf("exec: %s.%s is null", f.Type, f.Name), f, to.at)
		}
		return next
	}
	if t.Elem != nil {
		values, ok := value.([]any)
		if !ok {
			r.fail(fmt.Errorf("exec: %s.%s is not a list", f.Type, f.Name), f, to.at)
			return next
		}
		to.out.kind, to.out.elem, to.out.list = list, t.Elem, make([]answer, len(values))
		paths := make([]responsePath, len(values))
		for n, v := range values {
			paths[n] = responsePath{parent: to.at, index: n}
			next = r.complete(next, f, t.Elem, v, target{nil, &paths[n], &to.out.list[n]})
		}
		return next
	}
	if o, ok := value.(Object); ok {
		if !r.mayBe(t.NamedType, o.TypeName()) {
			r.fail(fmt.Errorf("exec: %s.%s is a %s", f.Type, f.Name, o.TypeName()), f, to.at)
			return next
		}
		to.value, to.out.kind = o, object
		return append(next, to)
	}
	if d := r.Types[t.NamedType]; d.IsCompositeType() {
		r.fail(fmt.Errorf("exec: %s.%s is not an object but %T", f.Type, f.Name, value), f, to.at)
		return next
	}
	to.out.kind, to.out.leaf = leaf, value
	return next
}

// isLeaf reports a value that is neither missing nor made of others.
func isLeaf(value any) bool {
	switch value.(type) {
	case bool, int, int64, string, json.Number, json.RawMessage:
		return true
	}
	return false
}

// mayBe reports that an object of a type can stand where another is wanted.
func (r *run) mayBe(wanted, name string) bool {
	return wanted == name ||
		slices.ContainsFunc(r.PossibleTypes[wanted], func(d *ast.Definition) bool { return d.Name == name })
}

// fail notes the error of a field.
func (r *run) fail(err error, f *Field, at *responsePath) {
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
	b, ok := out.render(make([]byte, 0, 1<<10+32*r.values), nil)
	if !ok {
		b = []byte("null")
	}
	return &Result{Data: b, Errors: r.errors}
}

// render appends the answer; ok is false if it is null and must not be, so that its parent is null.
func (a *answer) render(b []byte, t *ast.Type) (_ []byte, ok bool) {
	begin := len(b)
	switch a.kind {
	case leaf:
		switch v := a.leaf.(type) {
		case json.RawMessage:
			return append(b, v...), true
		case int:
			return strconv.AppendInt(b, int64(v), 10), true
		case int64:
			return strconv.AppendInt(b, v, 10), true
		case string:
			return appendText(b, v), true
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

// appendText appends a string as JSON, as the REST API does: without escapes for HTML.
func appendText(b []byte, s string) []byte {
	for n := range len(s) {
		if c := s[n]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			var out bytes.Buffer
			enc := json.NewEncoder(&out)
			enc.SetEscapeHTML(false)
			enc.Encode(s) // of a string, which cannot fail
			return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

func (a *answer) renderObject(b []byte) (_ []byte, ok bool) {
	b = append(b, '{')
	for n, s := range a.slots {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), s.Key...), '"', ':')
		if b, ok = s.value.render(b, s.definition.Type); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}

func (a *answer) renderList(b []byte) (_ []byte, ok bool) {
	b = append(b, '[')
	for n := range a.list {
		if n > 0 {
			b = append(b, ',')
		}
		if b, ok = a.list[n].render(b, a.elem); !ok {
			return b, false
		}
	}
	return append(b, ']'), true
}
