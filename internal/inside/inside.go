// Package inside is requests to the REST API that are made within the server, for parts of a GraphQL query. They see
// and change what their caller may see and change by the API, and nothing else.
package inside

import (
	"context"
	"net/http"
	"net/url"

	"arbor/internal/web"
)

// Request is a request to the REST API, made within the server. What its route wants of the caller and of the
// token is asked as of any other request.
type Request struct {
	Method string // empty: GET
	Path   string // escaped, without a prefix
	Query  url.Values
	Body   []byte // JSON; nil: none
	Media  string // raw, or full or html for texts as HTML, too

	// Members are those of each payload of a list that are asked for. A handler that can leaves out the rest.
	// Nil: all.
	Members []string

	// Handler answers in place of the route's own, where REST has no address for what is asked: a list of the
	// same things, chosen in another way. The rights are those of the route.
	Handler web.Handler
}

// Ask answers a request as the REST API answers the caller of ctx. Errors: those of the route.
type Ask func(ctx context.Context, r Request) (*web.Captured, error)

// MethodOf is the request's method.
func (r *Request) MethodOf() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}
