package graphql

import (
	"errors"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
)

// asError converts an error of the REST API to one of GraphQL. Unknown errors are returned unchanged, and
// are masked later.
func asError(err error) error {
	var told *exec.Error
	var known *errs.Error
	if errors.As(err, &told) || !errors.As(err, &known) {
		return err
	}
	e := &exec.Error{Message: messageOf(known), Cause: err}
	switch known.Kind {
	case errs.NotFound, errs.Gone:
		e.Type = "NOT_FOUND"
	case errs.Forbidden, errs.Unauthenticated:
		e.Type = "FORBIDDEN"
	case errs.Invalid, errs.Conflict, errs.Malformed, errs.MethodNotAllowed, errs.TooLarge:
		e.Type = "UNPROCESSABLE"
	case errs.RateLimited, errs.TooManyRequests:
		e.Type = "RATE_LIMITED"
	case errs.Unavailable, errs.Paused, errs.NoRoom:
		e.Type = "SERVICE_UNAVAILABLE"
	default:
		return err
	}
	return e
}

// messageOf says what is wrong in one line, with the fields of a validation.
func messageOf(e *errs.Error) string {
	var list []string
	for _, f := range e.Fields {
		switch {
		case f.Message != "":
			list = append(list, f.Message)
		case f.Field != "":
			list = append(list, f.Resource+"."+f.Field+" is "+strings.ReplaceAll(f.Code, "_", " "))
		}
	}
	if len(list) == 0 {
		return e.Message
	}
	return strings.Join(list, ", ")
}

// unresolved is the error for a thing that is absent or hidden: both in the same words.
func unresolved(what string) error {
	return &exec.Error{Type: "NOT_FOUND", Message: "Could not resolve to " + what + "."}
}

// unresolvedNode is unresolved for a node id.
func unresolvedNode(id string) error {
	return unresolved("a node with the global id of '" + clip(id) + "'")
}

// orUnresolved converts a not-found error to one that the thing could not be resolved.
func orUnresolved(err error, what string) error {
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Gone) {
		return unresolved(what)
	}
	return asError(err)
}

// refused is the error for what a mutation does not do.
func refused(message string) error { return &exec.Error{Type: "UNPROCESSABLE", Message: message} }
