package graphql

import (
	"cmp"
	"context"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/web"
)

// Permit applies the checks of a route of the REST API to an operation that is called in its place. The address
// is the route's method and pattern: "GET /repos/{owner}/{repo}/issues". It returns the operation's context, in
// which the caller has the rights that its token has on the route, and the route. Errors: those of a request
// before its handler.
type Permit func(ctx context.Context, address string) (context.Context, *route.Route, error)

// roleOf returns the role in a repository that a route requires.
func roleOf(to *route.Route) account.Role {
	role, _ := account.ParseRole(string(to.Right))
	return role
}

// permitResult is the result of Permit for one route.
type permitResult struct {
	caller *account.Caller
	role   account.Role
	err    error
}

// permitRead applies the checks of a route that reads, once per query. It returns the caller as the route's
// operations see it.
func (q *query) permitRead(ctx context.Context, address string) permitResult {
	p, known := q.permitted[address]
	if !known {
		in, to, err := q.permit(ctx, address)
		if p.err = err; err == nil {
			p.caller, p.role = account.CallerFrom(in), roleOf(to)
		}
		q.permitted[address] = p
	}
	return p
}

// accessResult is the caller's access to a repository, or the error for one that it may not read.
type accessResult struct {
	access *repo.Access
	err    error
}

// addressOf returns the method and the pattern of a route below repositories, such as /issues/{number}, or of
// a whole address.
func addressOf(route string) string {
	if strings.HasPrefix(route, "GET ") {
		return route
	}
	return "GET /repos/{owner}/{repo}" + route
}

// accesses returns the caller's access to each repository, by name, limited to what the token allows on a route
// below repositories, such as /issues/{number}. One SQL statement finds all repositories that are not cached yet.
// An error ends the whole query.
func (q *query) accesses(ctx context.Context, route string, repos []*object) (map[string]accessResult, error) {
	if q.stopped != nil {
		return nil, q.stopped
	}
	p, in := q.permitRead(ctx, addressOf(route)), make(map[string]accessResult, len(repos))
	if p.err != nil {
		for _, r := range repos {
			in[r.name] = accessResult{err: p.err}
		}
		return in, q.noteError(p.err)
	}
	found := q.found[p.caller]
	if found == nil {
		found = map[string]*repo.Access{}
		q.found[p.caller] = found
	}
	var missing []string
	for _, r := range repos {
		if _, known := found[r.name]; !known {
			found[r.name] = nil
			missing = append(missing, r.name)
		}
	}
	if err := q.findMissing(ctx, p.caller, missing); err != nil {
		return nil, q.noteError(err)
	}
	for _, r := range repos {
		a := found[r.name]
		if a == nil {
			in[r.name] = accessResult{err: errs.Absent()}
		} else {
			in[r.name] = accessResult{a, a.MayRead(p.role)}
		}
	}
	return in, nil
}

// findMissing finds the repositories of names for a caller.
func (q *query) findMissing(ctx context.Context, caller *account.Caller, names []string) error {
	if len(names) == 0 {
		return nil
	}
	list, err := q.load.Repos.FindAll(ctx, caller, names)
	found, one := q.found[caller], map[repo.ID]*repo.Access{}
	for _, a := range found {
		if a != nil {
			one[a.ID] = a
		}
	}
	for _, name := range names {
		a := list[name]
		if a != nil && one[a.ID] != nil { // renamed during the query; loaders know a repository by its access
			a = one[a.ID]
		} else if a != nil {
			one[a.ID] = a
		}
		if found[name] = a; err != nil {
			delete(found, name)
		}
	}
	return cmp.Or(err, q.hold(ctx, int64(len(names))*nodeBytes))
}

// showing returns the context of an operation whose texts are in a form: raw, or full with HTML.
func showing(ctx context.Context, media string) context.Context {
	info := *web.From(ctx)
	info.Media = web.ParseAccept([]string{"application/vnd.github." + cmp.Or(media, "raw") + "+json"})
	return web.WithInfo(ctx, &info)
}
