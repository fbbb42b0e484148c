// Package errs is the one error type of Arbor: what went wrong, in words that
// a client may read, with the cause that only the log may see.
//
// Code that knows what a failure means to the caller makes an [Error]; everyone
// else passes it on unchanged, or wraps it with fmt.Errorf and %w. Package web
// alone turns a kind into an HTTP status. An error that holds no [Error] is
// unknown: its kind is [Internal], and its text never reaches a client
// (decision 20).
package errs

import (
	"context"
	"errors"
	"fmt"
)

// Kind says what sort of failure an error is.
type Kind uint8

// The kinds, each with the HTTP status that package web gives it.
const (
	Internal         Kind = iota // 500: a defect or a broken machine
	Malformed                    // 400: the body cannot be parsed
	Unauthenticated              // 401: credentials are missing or wrong
	Forbidden                    // 403: the caller may see it but not do it
	NotFound                     // 404: not there, or not for this caller to know
	MethodNotAllowed             // 405: the resource has no such method
	NotAcceptable                // 406: not available in the requested format
	Conflict                     // 409: the state of the resource forbids it
	Gone                         // 410: switched off
	TooLarge                     // 413: over a limit on size
	UnsupportedMedia             // 415: a media type that is not produced or taken
	Invalid                      // 422: understood, and not acceptable
	RateLimited                  // 403, as at GitHub: too many requests in an hour
	TooManyRequests              // 429: the caller's own share of the server is used up; try again
	Unavailable                  // 503: overloaded or stopping; try again
	// 503: the operator's command needs a moment alone, or stops the server, and nothing is wrong; try again
	Paused
	NoRoom   // 507: a disk is full, or nearly
	Canceled // 499 in the log only: the client hung up
)

// Codes of a [Field], as GitHub names them (decision 15).
const (
	Missing       = "missing"        // the resource that the field names is not there
	MissingField  = "missing_field"  // a required field was not sent
	InvalidField  = "invalid"        // the field's value or type is not acceptable
	AlreadyExists = "already_exists" // another resource has this value
	TooBig        = "too_large"      // what was asked for is over a limit
	Custom        = "custom"         // Message says what is wrong
)

// Field is one entry of a validation failure.
type Field struct {
	Resource string // the kind of resource, e.g. "Issue"
	Field    string // the field's name in the request
	Code     string // one of the codes above
	Value    any    // with InvalidField: what was sent; left out when nil
	Message  string // with Custom, and wherever it helps
}

// Error is a failure with a meaning for the client.
type Error struct {
	Kind    Kind
	Message string  // for the client: no paths, SQL or names it may not see
	Fields  []Field // with Invalid: what is wrong, field by field
	Wait    int64   // seconds after which the client may try again; 0: what the kind says
	Err     error   // the cause, for the log only; may be nil
}

// Error returns the message and the cause, for logs, not for clients.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error without a cause.
func New(kind Kind, message string) *Error {
	return &Error{Kind: kind, Message: message}
}

// Newf is New with a formatted message. Values that a client sent go in as %q.
func Newf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns an error whose cause the log will show and the client will not.
func Wrap(kind Kind, message string, cause error) *Error {
	return &Error{Kind: kind, Message: message, Err: cause}
}

// ValidationFailed is the message of errors that say no more than which fields are wrong.
const ValidationFailed = "Validation Failed"

// Validation returns the 422 of decision 16 for the given fields.
func Validation(fields ...Field) *Error {
	return &Error{Kind: Invalid, Message: ValidationFailed, Fields: fields}
}

// Absent is the 404 for anything missing or not visible: always the
// same bytes (decision 13).
func Absent() *Error { return New(NotFound, "Not Found") }

// Clip bounds a client's value before it goes into a message.
func Clip(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}

// KindOf returns the kind of the first Error in err's chain. A cancelled
// context without one is Canceled, anything else unknown Internal.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Canceled
	default:
		return Internal
	}
}

// Is reports whether err is of the given kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }
