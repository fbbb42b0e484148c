package server

import (
	"context"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/route"
	"arbor/internal/space"
)

// permitRoute applies the checks of a route of the API to an operation that is called in its place, and returns
// the operation's context and the route. The address is the route's method and pattern. In the context the caller has
// the rights of the token on the route, the audit log gets the
// route's right, and what is stored finds room on the disk. The outer request has already been counted and admitted.
// Errors: those of a request before its handler.
func (s *Server) permitRoute(ctx context.Context, address string) (context.Context, *route.Route, error) {
	to, there := s.table.named[address]
	if !there {
		return ctx, nil, fmt.Errorf("server: the API has no route %q", address)
	}
	caller := account.CallerFrom(ctx)
	if err := s.checkAccess(ctx, to.Method, caller, &to); err != nil {
		return ctx, nil, err
	}
	if caller != nil {
		var err error
		if ctx, err = s.permit(ctx, to.Method, caller, &to); err != nil {
			return ctx, nil, err
		}
	}
	if !needsSpace(to.Method, to.Route) {
		return ctx, to.Route, nil
	}
	ctx, err := s.checkSpace(ctx, caller, to.Route)
	return ctx, to.Route, err
}

// explain returns the error of an operation that wrote, which says so if a disk is full.
func (s *Server) explain(err error) error { return space.Explain(err, s.disks...) }
