package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"unicode/utf8"

	"arbor/internal/errs"
)

// Limits of request bodies in bytes (decision 19).
const (
	MaxJSON = 1 << 20
	MaxBlob = 40 << 20
)

// Object is the JSON object of a request body. Its getters collect errors by field; Err returns all of
// them. Keys match exactly, the last of a repeated key counts, and unknown ones are ignored (decisions 17,
// 51).
type Object struct {
	Faults
	fields map[string]json.RawMessage
	asked  Asked
}

// Opt is a field of a body: not sent, null, or a value.
type Opt[T any] struct {
	Set   bool // the field was sent, possibly as null
	Null  bool // it was sent as null
	Value T    // zero unless a value was sent
}

// Given reports a value that is not null.
func (o Opt[T]) Given() bool { return o.Set && !o.Null }

// Or returns the value, or other where none was given.
func (o Opt[T]) Or(other T) T {
	if o.Given() {
		return o.Value
	}
	return other
}

// Some is a value that is given.
func Some[T any](v T) Opt[T] { return Opt[T]{Set: true, Value: v} }

// OrNil returns nil for a zero value, so that an empty value is null in responses and in SQL (decisions 19,
// 28), else a pointer to v.
func OrNil[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// ReadObject reads the request's body as one JSON object whose fields belong to
// a resource of the given name ("Issue"). The route's limit bounds the body.
// Errors: 400 (decision 16), 413.
func ReadObject(r *http.Request, resource string) (*Object, error) {
	body, err := ReadBody(r)
	if err != nil {
		return nil, err
	}
	return ParseBody(r, body, resource)
}

// ReadOptional is ReadObject for operations that work without a body: none,
// an empty one and null count as {} (decision 18).
func ReadOptional(r *http.Request, resource string) (*Object, error) {
	body, err := ReadBody(r)
	if err != nil {
		return nil, err
	}
	if trimmed := bytes.TrimSpace(body); len(trimmed) == 0 || string(trimmed) == "null" {
		body = []byte("{}")
	}
	return ParseBody(r, body, resource)
}

// ParseBody is ReadObject for a request's body that was already read.
func ParseBody(r *http.Request, body []byte, resource string) (*Object, error) {
	o, err := ParseObject(body, resource)
	if err == nil {
		o.asked = From(r.Context()).Asked
	}
	return o, err
}

// Body is the body of a request that was read before its handler runs. Err says why
// it could not be read to its end.
type Body struct {
	Data []byte
	Err  error // the error of Read at the end of Data; nil is io.EOF
	at   int
}

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	if b.at < len(b.Data) {
		n := copy(p, b.Data[b.at:])
		b.at += n
		return n, nil
	}
	if b.Err != nil {
		return 0, b.Err
	}
	return 0, io.EOF
}

// Close does nothing.
func (b *Body) Close() error { return nil }

// ReadBody reads the whole body, within the limit that the server has put on it.
func ReadBody(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.ContentLength == 0 {
		return nil, nil
	}
	var body []byte
	var err error
	if whole, ok := r.Body.(*Body); ok {
		body, err = whole.Data, whole.Err
	} else {
		body, err = io.ReadAll(r.Body)
	}
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &tooLarge):
		return nil, errs.Newf(errs.TooLarge, "The request body is larger than %d bytes", tooLarge.Limit)
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	default:
		return nil, errs.Wrap(errs.Malformed, "The request body could not be read", err)
	}
}

// ParseObject reads an object within a body.
func ParseObject(body []byte, resource string) (*Object, error) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return nil, errs.New(errs.Malformed, "Problems parsing JSON")
	}
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); trimmed[0] != '{' {
		return nil, errs.New(errs.Malformed, "Body should be a JSON object")
	}
	o := &Object{Faults: Faults{Resource: resource}}
	if err := json.Unmarshal(body, &o.fields); err != nil {
		return nil, errs.Wrap(errs.Malformed, "Problems parsing JSON", err)
	}
	return o, nil
}

// Fixed rejects a field that cannot be set, unless it is sent as null or with its current value (decision
// 65).
func (o *Object) Fixed(field string, is any) {
	raw := o.Raw(field)
	if raw == nil || string(raw) == "null" {
		return
	}
	var sent any
	now, err := json.Marshal(is)
	if err == nil {
		err = json.Unmarshal(raw, &sent)
	}
	if same, sentErr := json.Marshal(sent); err != nil || sentErr != nil || !bytes.Equal(same, now) {
		o.Wrong(field, errs.InvalidField, field+" cannot be set here: it is "+string(now))
	}
}

// Ignored takes switches of features that are not here: each is a boolean, and stays off.
func (o *Object) Ignored(fields ...string) {
	for _, field := range fields {
		o.Bool(field)
	}
}

// Require notes a missing_field for each named field that was not sent, was
// null, or was an empty string.
func (o *Object) Require(fields ...string) {
	for _, f := range fields {
		switch raw := o.Raw(f); string(raw) {
		case "", "null", `""`:
			o.Wrong(f, errs.MissingField, "")
		}
	}
}

// Has reports whether the field was sent at all.
func (o *Object) Has(field string) bool { return o.Raw(field) != nil }

// get finds a field and sorts out absence and null.
func get[T any](o *Object, field string) (raw json.RawMessage, v Opt[T]) {
	raw = o.Raw(field)
	v.Set = raw != nil
	v.Null = v.Set && string(raw) == "null"
	return raw, v
}

// String reads a text of at most max code points, without NUL (decision 19).
// max 0 means any length.
func (o *Object) String(field string, max int) Opt[string] {
	raw, v := get[string](o, field)
	if !v.Given() {
		return v
	}
	if json.Unmarshal(raw, &v.Value) != nil {
		o.invalid(field, "a string")
		return v
	}
	o.CheckText(field, v.Value, max)
	return v
}

// Enum reads a string that must be one of the values.
func (o *Object) Enum(field string, values ...string) Opt[string] {
	v := o.String(field, 0)
	if v.Given() {
		o.CheckEnum(field, v.Value, values...)
	}
	return v
}

// Bool reads true or false.
func (o *Object) Bool(field string) Opt[bool] {
	raw, v := get[bool](o, field)
	if v.Given() && json.Unmarshal(raw, &v.Value) != nil {
		o.invalid(field, "a boolean")
	}
	return v
}

// Int reads an integer exactly: 1.0 and 1e2 are none, nor is a string.
func (o *Object) Int(field string) Opt[int64] {
	raw, v := get[int64](o, field)
	if !v.Given() {
		return v
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		o.invalid(field, "an integer")
		return v
	}
	v.Value = n
	return v
}

// Strings reads an array of strings of at most maxItems, each of at most max
// code points.
func (o *Object) Strings(field string, maxItems, max int) Opt[[]string] {
	raw, v := get[[]string](o, field)
	if !v.Given() {
		return v
	}
	var items []*string
	if json.Unmarshal(raw, &items) != nil || slices.Contains(items, nil) {
		o.invalid(field, "an array of strings")
		return v
	}
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = *item
	}
	if o.CheckStrings(field, list, maxItems, max) {
		v.Value = list
	}
	return v
}

// Raw returns a field's own bytes, for arrays of objects; nil when not sent.
func (o *Object) Raw(field string) json.RawMessage {
	if o.asked != nil {
		o.asked(InBody, field)
	}
	return o.fields[field]
}
