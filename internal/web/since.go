package web

import (
	"net/http"
	"strings"
	"time"

	"arbor/internal/errs"
)

// QueryTime reads a query parameter that holds a time such as
// 2011-04-22T13:33:48Z; an offset from UTC and a fraction of a second may be in
// it. Zero when it was not sent. Error: 422 that names the parameter (decision
// 25).
func QueryTime(r *http.Request, resource, name string) (time.Time, error) {
	v := QueryOf(r).Get(name)
	if v == "" {
		return time.Time{}, nil
	}
	t, ok := ParseTime(v)
	if !ok {
		return time.Time{}, errs.Validation(errs.Field{Resource: resource, Field: name,
			Code:    errs.InvalidField,
			Value:   v,
			Message: `"` + name + `" must be a time such as 2011-04-22T13:33:48Z`})
	}
	return t, nil
}

// ParseTime reads an ISO 8601 time as clients send it, of the years 1 to 9999;
// a date alone is its beginning in UTC. A plus sign that became a space in a
// query is taken for one.
func ParseTime(s string) (time.Time, bool) {
	if i := strings.LastIndexByte(s, ' '); i > len("2006-01-02") {
		s = s[:i] + "+" + s[i+1:]
	}
	for _, layout := range [...]string{time.RFC3339, "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil && t.UTC().Year() >= 1 && t.UTC().Year() <= 9999 {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
