// Package graphql serves GitHub's GraphQL API for the features that Arbor has.
//
//		POST /graphql
//		POST /api/graphql
//
//	  - graphql.go: the endpoint
//	  - query.go: the state of a query; access.go, grant.go: the caller's access to repositories
//	  - load.go, loadlist.go: loaders of many objects
//	  - object.go: values of features as objects of the schema; connection.go: lists; lacking.go: fields of what Arbor
//	    does not have; cursor.go: where pages
//	    of lists begin; size.go: the memory of values
//	  - fields.go: the resolvers, by type: account.go, accountlist.go, repository.go, issue.go, issuelist.go, label.go,
//	    pull.go, closing.go, comment.go, review.go, reviewcomment.go, reaction.go, timeline.go, commit.go,
//	    gitobject.go, release.go, protection.go, protectionrefs.go, auditlog.go, rollup.go, check.go,
//	    annotation.go, viewed.go, search.go
//	  - node.go, nodetracker.go, nodecommit.go: objects by their node ids; resource.go: by the addresses of their pages
//	  - mutation*.go: mutations; grant.go: the access that a route grants to an operation
//	  - introspection.go: answers about the schema, which are kept
//	  - errors.go: the errors of REST in GitHub's form
//
// Subpackages: document parses queries and computes their cost, schema has the schema's text, exec runs
// operations on it, and answer lets tests compare responses with a schema.
//
// The package has no rules, rights or SQL of its own. The value of a field is part of the value that a feature
// returns for REST or for pages. A loader names the REST route that returns the same data, and the server applies
// that route's checks of role and token to the caller (access.go). A mutation calls the same operation as the
// handler of a REST route, with the access that this route grants (grant.go), and then loads the result. So GraphQL
// allows nothing that REST does not allow, and both return the same objects.
//
// Queries run breadth first: a resolver receives all the objects of a level. Functions of the features load
// the data of many objects of any repositories together (load.go), so the number of statements depends neither
// on rows nor on repositories.
package graphql

import (
	"bytes"
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
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// maxBody bounds a query with its variables, in bytes.
const maxBody = 4 << 20

// patterns are the endpoints: clients of github.com and of GitHub Enterprise use one each.
var patterns = [...]string{"/graphql", "/api/graphql"}

// Limits reports and charges a caller's rate limit.
type Limits interface {
	// Take charges more to the limit than the request itself did. Error: the limit is exceeded.
	Take(w http.ResponseWriter, r *http.Request, caller *account.Caller, more int64) error
	// Left returns the limit, what remains of it, and when it begins again.
	Left(r *http.Request, caller *account.Caller) (limit, remaining int64, reset time.Time)
}

// API serves GraphQL.
type API struct {
	permit    Permit
	do        Operations
	load      Loaders
	limits    Limits
	log       *slog.Logger
	time      time.Duration       // that a query may take; maxTime but in a test
	schema    func() *exec.Schema // parsed on the first request, because an idle server does not need it
	documents *document.Reader
	schemas   introspected // answers about the schema
}

// NewAPI returns the API.
func NewAPI(permit Permit, do Operations, load Loaders, limits Limits, log *slog.Logger) *API {
	api := &API{permit: permit, do: do, load: load, limits: limits, log: log, time: maxTime,
		schemas: newIntrospected()}
	api.schema = sync.OnceValue(func() *exec.Schema { return api.executable(schema.Load()) })
	api.documents = document.New(func() *ast.Schema { return api.schema().Schema })
	return api
}

// Routes returns the endpoints. Loaders and mutations name routes of their own, whose permissions the token needs.
func (api *API) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	var routes []route.Route
	for _, pattern := range patterns {
		routes = append(routes, free.SignedIn("POST "+pattern,
			api.Post).InAnyMedia().WithLimit(maxBody).TakesSpace(route.SpaceNever))
	}
	return routes
}

// body is a request.
type body struct {
	query, operation string
	variables        map[string]any
}

// answer is a response. Data is missing if nothing ran.
type answer struct {
	Data   json.RawMessage `json:"data,omitempty"`
	Errors []*exec.Error   `json:"errors,omitempty"`
}

// POST /graphql
// POST /api/graphql
//
// Post runs an operation of GraphQL. Errors of the query, also that it is too large, are in the answer,
// which is a 200 as at GitHub. Errors: 400 for a body that is not JSON or has no query, 401, 413, and those
// of the rate limit.
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
	if asksDry(op, variables) {
		op = onlyLimit(op)
	} else if cost > 1 {
		if err := api.limits.Take(w, r, account.CallerFrom(r.Context()), cost-1); err != nil {
			return err
		}
	}
	var key schemaKey
	if asksSchema(op) {
		if key, err = b.key(); err != nil {
			return err
		}
		if data, known := api.schemas.Get(key); known {
			return web.Bytes(w, r, http.StatusOK, data, "")
		}
	}
	q := &query{API: api, kept: map[string]kept{}, permitted: map[string]permitResult{},
		found: map[*account.Caller]map[string]*repo.Access{}, estimate: estimate, sent: r}
	ctx := context.WithValue(r.Context(), queryKey{}, q)
	kind := api.schema().Query.Name
	if op.Operation == ast.Mutation {
		kind = api.schema().Mutation.Name
	} else {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(db.WithReplicaReads(ctx), api.time)
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
		data := slices.Concat([]byte(`{"data":`), result.Data, []byte("}"))
		if asksSchema(op) && len(data) <= introspectedBytes/2 {
			api.schemas.Put(key, data)
		}
		return web.Bytes(w, r, http.StatusOK, data, "")
	}
	return web.JSON(w, r, http.StatusOK, answer{Data: result.Data, Errors: result.Errors})
}

// maxTime is the time limit of a query. Some of its requests, as searches, may take seconds each.
const maxTime = 30 * time.Second

// refuse answers a query that cannot run.
func (api *API) refuse(w http.ResponseWriter, r *http.Request, err error) error {
	var e *exec.Error
	if !errors.As(err, &e) {
		e = &exec.Error{Message: err.Error()}
	}
	return web.JSON(w, r, http.StatusOK, answer{Errors: []*exec.Error{e}})
}

// report logs the internal errors of a query.
func (api *API) report(r *http.Request, result *exec.Result) {
	for _, e := range result.Errors {
		if e.Cause != nil && errs.KindOf(e.Cause) == errs.Internal {
			api.log.LogAttrs(r.Context(), slog.LevelError, "a field of GraphQL failed",
				slog.Any("path", e.Path), slog.Any("error", e.Cause))
		}
	}
}

// readBody decodes a request. Errors: 400, 413, 422.
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

// decode reads a JSON value; numbers stay as they are. Nil: it is null, or there is none.
func decode(b json.RawMessage) (v any) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// operation selects an operation of a document by name, or the only one.
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

// asksDry reports that a query wants to know its cost alone: it has rateLimit(dryRun: true).
func asksDry(op *ast.OperationDefinition, variables map[string]any) bool {
	return slices.ContainsFunc(op.SelectionSet, func(s ast.Selection) bool {
		f, ok := s.(*ast.Field)
		if !ok || f.Name != "rateLimit" || op.Operation != ast.Query {
			return false
		}
		dry := f.Arguments.ForName("dryRun")
		if dry == nil {
			return false
		}
		v, err := dry.Value.Value(variables)
		return err == nil && v == true
	})
}

// onlyLimit returns an operation without all fields but rateLimit.
func onlyLimit(op *ast.OperationDefinition) *ast.OperationDefinition {
	only := *op
	only.SelectionSet = slices.DeleteFunc(slices.Clone(op.SelectionSet), func(s ast.Selection) bool {
		f, ok := s.(*ast.Field)
		return !ok || f.Name != "rateLimit"
	})
	return &only
}

// rateLimit resolves Query.rateLimit.
func (api *API) rateLimit(ctx context.Context, _ *exec.Field) (any, error) {
	q := queryOf(ctx)
	limit, remaining, reset := api.limits.Left(q.sent, viewer(ctx))
	return bare{"RateLimit", map[string]any{"cost": q.estimate.Cost(), "limit": limit, "remaining": remaining,
		"used": limit - remaining, "nodeCount": q.estimate.Nodes,
		"resetAt": reset.UTC().Format(time.RFC3339)}}, nil
}

// Caches returns the statistics of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.documents.Stats("graphql_documents"), api.schemas.Stats("graphql_schema")}
}
