// Package graphql answers GitHub's GraphQL API, as far as Arbor has what it is about.
//
//		POST /graphql
//		POST /api/graphql
//
//	  - graphql.go: the endpoint
//	  - ask.go: questions to the REST API; object.go: its payloads as objects of the schema; connection.go: its lists;
//	    cursor.go: where pages of lists begin
//	  - gather.go: what many parents need, asked for at one time; load.go, loadlist.go: what features load for many things of a
//	    repository
//	  - fields.go: the resolvers, by type: account.go, repository.go, issue.go, issuemember.go, pull.go,
//	    commit.go, gitobject.go, release.go, search.go, reaction.go, timeline.go, reviewthread.go, reviewcomment.go, rollup.go, check.go,
//	    annotation.go, viewed.go
//	  - node.go, nodecommit.go: things by their node ids; resource.go: by the addresses of their pages
//	  - mutation*.go: mutations
//	  - errors.go: the errors of REST in GitHub's form
//
// Below: document, which reads queries and tells what they cost; schema, the schema's text; exec, which runs
// operations on it; answer, by which tests hold answers against a schema.
//
// GraphQL has no rule, right or SQL of its own. What a field shows is a part of the answer that REST gives
// the same caller, and a mutation is a request to REST: Question names the route, and the server asks what
// that wants of the role and of the token as it does of any request (server/ask.go). So nothing is seen or
// done here that could not be seen or done there, and one object is the same by both. What many things show is
// loaded by functions of their features (load.go), with the access that the same route grants. Where REST has no
// list that suits, a question brings a handler of the feature, which answers under the right of the route that
// it names.
package graphql

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/document"
	"arbor/internal/graphql/exec"
	"arbor/internal/graphql/schema"
	"arbor/internal/repo/list"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// maxBody bounds a query with its variables, in bytes.
const maxBody = 4 << 20

// patterns are where GraphQL is asked for: clients of github.com and of GitHub Enterprise have one each.
var patterns = [...]string{"/graphql", "/api/graphql"}

// IsRoute reports a pattern of these.
func IsRoute(pattern string) bool { return slices.Contains(patterns[:], pattern) }

// Handlers answer what REST has no address for, and what else resolvers need of the features.
type Handlers struct {
	DB                    *db.DB
	Accounts              *account.API
	Repositories          *list.API
	Issues, Pinned        web.Handler // of a repository
	Pulls                 web.Handler
	Pin, Delete, Transfer web.Handler // of an issue
	Draft                 web.Handler // of a pull request
	Revert                web.Handler // makes a branch that undoes a pull request
	LinkBranch            web.Handler // makes a branch for an issue
	UnlinkBranch          web.Handler // of an issue
	DraftComment, Thread  web.Handler // a comment on a line that may be pending, and its thread
	AddDraft, Resolve     web.Handler // comments in a pending review; resolves a thread
	Refs, Named           web.Handler // refs in an order; what a name leads to
	CommitFiles           web.Handler // puts a commit on a branch
	Templates             web.Handler // of issues and pull requests
	MarkViewed            web.Handler // of a pull request: a file
}

// Limits tells and takes from a caller's rate limit.
type Limits interface {
	// Take takes more off the limit than the request itself did. Error: it is used up.
	Take(w http.ResponseWriter, r *http.Request, caller *account.Caller, more int64) error
	// Left tells what is left; limit 0 is that there is none.
	Left(r *http.Request, caller *account.Caller) (limit, remaining int64, reset time.Time)
}

// API answers GraphQL.
type API struct {
	ask       Ask
	with      Handlers
	load      Loaders
	limits    Limits
	log       *slog.Logger
	time      time.Duration       // that a query may take; maxTime but in a test
	schema    func() *exec.Schema // read with the first request: an idle server has no use for it
	documents *document.Reader
}

// NewAPI makes the handlers. ask asks the REST API.
func NewAPI(ask Ask, with Handlers, load Loaders, limits Limits, log *slog.Logger) *API {
	api := &API{ask: ask, with: with, load: load, limits: limits, log: log, time: maxTime}
	api.schema = sync.OnceValue(func() *exec.Schema {
		s := schema.Load()
		return &exec.Schema{Schema: s, Resolvers: api.resolvers(s)}
	})
	api.documents = document.New(func() *ast.Schema { return api.schema().Schema })
	return api
}

// Routes are the endpoints. Each question that they ask has a route of its own, whose need is asked of the
// token.
func (api *API) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	var routes []route.Route
	for _, pattern := range patterns {
		routes = append(routes, free.SignedIn("POST "+pattern,
			api.Post).InAnyMedia().WithLimit(maxBody).TakesSpace(false))
	}
	return routes
}

// body is what clients send.
type body struct {
	query, operation string
	variables        map[string]any
}

// answer is what they get. Data is missing where nothing ran.
type answer struct {
	Data   json.RawMessage `json:"data,omitempty"`
	Errors []*exec.Error   `json:"errors,omitempty"`
}

// POST /graphql
// POST /api/graphql
//
// Post runs an operation of GraphQL. What is wrong with it, also that it asks for too much, stands in the
// answer, which is a 200, as GitHub's.
// Errors: 400 for a body that is no JSON or has no query, 401, 413, and those of the rate limit.
func (api *API) Post(w http.ResponseWriter, r *http.Request) error {
	b, err := readBody(r)
	if err != nil {
		return err
	}
	d := api.documents.Read(b.query)
	if len(d.Errors) > 0 {
		return web.JSON(w, r, http.StatusOK, answer{Errors: d.Errors})
	}
	op, err := operation(d.Query, b.operation)
	if err != nil {
		return api.refuse(w, r, err)
	}
	var estimate document.Estimate
	variables, wrong := exec.Variables(api.schema().Schema, op, b.variables)
	if len(wrong) == 0 {
		estimate, wrong = api.documents.Estimate(op, variables)
	}
	if len(wrong) > 0 {
		return web.JSON(w, r, http.StatusOK, answer{Errors: wrong})
	}
	cost := estimate.Cost()
	if cost > 1 {
		if err := api.limits.Take(w, r, account.CallerFrom(r.Context()), cost-1); err != nil {
			return err
		}
	}
	q := &query{API: api, kept: map[string]kept{}, estimate: estimate, sent: r}
	ctx := context.WithValue(r.Context(), queryKey{}, q)
	kind := api.schema().Query.Name
	if op.Operation == ast.Mutation {
		kind = api.schema().Mutation.Name
	} else {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, api.time)
		defer cancel()
	}
	result := api.schema().Execute(ctx, exec.Request{Document: d.Query, Operation: op, Variables: variables,
		Hold: func(bytes int64) error { return q.hold(ctx, bytes) }}, bare{kind: kind})
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && r.Context().Err() == nil {
		api.log.LogAttrs(r.Context(), slog.LevelInfo, "a query of GraphQL took too long",
			slog.Duration("after", api.time))
		return api.refuse(w, r, &exec.Error{Type: "RESOURCE_LIMITS_EXCEEDED",
			Message: "The query takes too long: ask for less at one time."})
	}
	if err := cmp.Or(q.stopped, ctx.Err()); err != nil {
		return err
	}
	api.report(r, result)
	if err := admission.Hold(r.Context(), int64(len(result.Data))); err != nil {
		return err
	}
	if len(result.Errors) == 0 {
		return web.Bytes(w, r, http.StatusOK, slices.Concat([]byte(`{"data":`), result.Data, []byte("}")), "")
	}
	return web.JSON(w, r, http.StatusOK, answer{Data: result.Data, Errors: result.Errors})
}

// maxTime is how long a query may take. What it asks for may take seconds each, as searches do.
const maxTime = 30 * time.Second

// refuse answers what cannot run.
func (api *API) refuse(w http.ResponseWriter, r *http.Request, err error) error {
	var e *exec.Error
	if !errors.As(err, &e) {
		e = &exec.Error{Message: err.Error()}
	}
	return web.JSON(w, r, http.StatusOK, answer{Errors: []*exec.Error{e}})
}

// report logs what went wrong in the server.
func (api *API) report(r *http.Request, result *exec.Result) {
	for _, e := range result.Errors {
		if e.Cause != nil && errs.KindOf(e.Cause) == errs.Internal {
			api.log.LogAttrs(r.Context(), slog.LevelError, "a field of GraphQL failed",
				slog.Any("path", e.Path), slog.Any("error", e.Cause))
		}
	}
}

// readBody reads what a client sent. Errors: 400, 413, 422.
func readBody(r *http.Request) (*body, error) {
	o, err := web.ReadObject(r, "GraphQL")
	if err != nil {
		return nil, err
	}
	b := &body{query: o.String("query", 0).Value, operation: o.String("operationName", 0).Value}
	raw := o.Raw("variables")
	if err := o.Err(); err != nil {
		return nil, err
	}
	if b.query == "" {
		return nil, errs.New(errs.Malformed, "A query attribute must be specified and must be a string.")
	}
	switch v := decode(raw).(type) {
	case nil:
	case map[string]any:
		b.variables = v
	default:
		return nil, errs.New(errs.Malformed, "Variables must be an object.")
	}
	return b, nil
}

// operation chooses the operation of a document: the one by the name, or the only one.
func operation(d *ast.QueryDocument, name string) (*ast.OperationDefinition, error) {
	if name == "" && len(d.Operations) == 1 {
		return d.Operations[0], nil
	}
	for _, op := range d.Operations {
		if name != "" && op.Name == name {
			return op, nil
		}
	}
	if name == "" {
		return nil, &exec.Error{Message: "An operation name is required"}
	}
	return nil, &exec.Error{Message: "No operation named \"" + clip(name) + "\""}
}

// rateLimit is Query.rateLimit; null where there is no limit.
func (api *API) rateLimit(ctx context.Context, _ *exec.Field) (any, error) {
	q := queryOf(ctx)
	limit, remaining, reset := api.limits.Left(q.sent, viewer(ctx))
	if limit == 0 {
		return nil, nil
	}
	return bare{"RateLimit", map[string]any{"cost": q.estimate.Cost(), "limit": limit, "remaining": remaining,
		"used": limit - remaining, "nodeCount": q.estimate.Nodes,
		"resetAt": reset.UTC().Format(time.RFC3339)}}, nil
}

// Caches tells of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.documents.Stats("graphql_documents")}
}
