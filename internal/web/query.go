package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/errs"
)

// Query is the query of a request. All handlers use it, so that tests know which parameters they read.
type Query struct {
	values url.Values
	asked  Asked
}

// QueryOf reads a request's query.
func QueryOf(r *http.Request) Query {
	i := From(r.Context())
	if raw := r.URL.RawQuery; i.queried != raw {
		i.query, i.queried = r.URL.Query(), raw
	}
	return Query{values: i.query, asked: i.Asked}
}

// Get is the first value of a parameter; empty when it was not sent.
func (q Query) Get(name string) string {
	if q.asked != nil {
		q.asked(InQuery, name)
	}
	return q.values.Get(name)
}

// QueryEnum reads an enumerated query parameter: the first value is the
// default. Anything else is a 422 that names the parameter (decision 17).
func QueryEnum(r *http.Request, resource, name string, values ...string) (string, error) {
	v := QueryOf(r).Get(name)
	if v == "" {
		return values[0], nil
	}
	if slices.Contains(values, v) {
		return v, nil
	}
	if slices.Contains(values[1:], values[0]) {
		values = values[1:] // the default is named twice
	}
	return "", errs.Validation(errs.Field{Resource: resource, Field: name, Code: errs.InvalidField, Value: v,
		Message: strconv.Quote(name) + " must be one of " + strings.Join(values, ", ")})
}
