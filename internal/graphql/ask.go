package graphql

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/graphql/document"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Question is a request to the REST API that the server makes for a part of a query. Its route checks the caller
// and the token as for any other request.
type Question struct {
	Path  string // escaped, without a prefix
	Query url.Values
	Media string // raw, or full or html for texts as HTML, too

	// Members are those of each payload of a list that are asked for. A handler that can leaves out the rest.
	// Nil: all.
	Members []string

	// Handler answers in place of the route's own, where REST has no address for what is asked: a list of the
	// same things, chosen in another way. The rights are those of the route.
	Handler web.Handler
}

// Ask answers a request as the REST API answers the caller of ctx. Errors: those of the route.
type Ask func(ctx context.Context, q Question) (*web.Captured, error)

// query is the state of one GraphQL request.
type query struct {
	*API
	kept map[string]kept // answers to questions that only read, and values of loaders
	// of routes that read, by address; and repositories by path, as a caller of these sees them
	permitted map[string]permitted
	found     map[*account.Caller]map[string]*repo.Access
	estimate  document.Estimate
	sent      *http.Request

	repositories map[string]*object // repositories of lists, so that each is one object

	used, held int64 // bytes of memory; held is what was reserved
	stopped    error // the error with which the whole query fails
}

// Memory is estimated in bytes and reserved in steps, because small amounts are not worth a reservation.
const (
	holdStep  = 256 << 10
	nodeBytes = 3 << 10 // of an object of a list, with its members
)

// hold reserves memory until the request is answered. After a refusal it fails at once.
func (q *query) hold(ctx context.Context, bytes int64) error {
	q.used += bytes
	if q.stopped == nil && q.used-q.held >= holdStep {
		q.stopped = admission.Hold(ctx, q.used-q.held)
		q.held = q.used
	}
	return q.stopped
}

// request sends a question and counts its answer.
func (q *query) request(ctx context.Context, question Question) (*web.Captured, error) {
	if q.stopped != nil {
		return nil, q.stopped
	}
	answer, err := q.ask(ctx, question)
	return answer, q.note(ctx, answer, err)
}

// note counts an answer. Error: err, after which the whole query may stop, or that of hold.
func (q *query) note(ctx context.Context, answer *web.Captured, err error) error {
	if err == nil {
		return q.hold(ctx, int64(answer.Body.Len()))
	}
	return q.noteError(err)
}

// noteError notes an error after which the whole query stops.
func (q *query) noteError(err error) error {
	if err != nil {
		switch errs.KindOf(err) {
		case errs.Canceled, errs.Unauthenticated, errs.Unavailable, errs.TooManyRequests, errs.Paused:
			q.stopped = cmp.Or(q.stopped, err)
		}
	}
	return err
}

// kept is a cached answer of REST, or a value.
type kept struct {
	answer *web.Captured
	value  any
	err    error
}

type queryKey struct{}

// queryOf returns the query of a resolver's context.
func queryOf(ctx context.Context) *query { return ctx.Value(queryKey{}).(*query) }

// read sends a question that only reads, once per address and handler.
func (q *query) read(ctx context.Context, question Question) (*web.Captured, error) {
	if question.Media == "" {
		question.Media = "raw"
	}
	key := keyOf(question)
	if k, ok := q.kept[key]; ok {
		return k.answer, k.err
	}
	answer, err := q.request(ctx, question)
	answer, err = q.follow(ctx, question, answer, err)
	q.kept[key] = kept{answer: answer, err: err}
	return answer, err
}

// keyOf returns the key of the answer to a question.
func keyOf(question Question) string {
	media := cmp.Or(question.Media, "raw")
	return fmt.Sprintf("%s?%s %s %t %q", question.Path, question.Query.Encode(), media,
		question.Handler != nil, question.Members)
}

// follow checks an answer and follows the redirect of a moved repository, as clients of REST do.
func (q *query) follow(
	ctx context.Context, question Question, answer *web.Captured, err error,
) (*web.Captured, error) {
	for moved := false; ; moved = true {
		switch {
		case err != nil:
			return nil, err
		case answer.Status == http.StatusOK || answer.Status == http.StatusNoContent:
			return answer, nil
		case answer.Status == http.StatusNotFound: // some routes report a missing right so
			return nil, errs.Absent()
		case answer.Status != http.StatusMovedPermanently:
			return nil, fmt.Errorf("graphql: %s answers %d", question.Path, answer.Status)
		case moved:
			return nil, errs.Absent()
		}
		if question.Path, err = movedTo(answer); err != nil {
			return nil, err
		}
		answer, err = q.request(ctx, question)
	}
}

// movedTo returns the path to which an answer redirects.
func movedTo(answer *web.Captured) (string, error) {
	to, err := url.Parse(answer.Header().Get("Location"))
	if err != nil {
		return "", err
	}
	path := to.EscapedPath()
	if at := strings.Index(path, "/repos/"); at > 0 { // after the prefix
		path = path[at:]
	}
	return path, nil
}

// object reads one object.
func (q *query) object(ctx context.Context, question Question) (payload, error) {
	answer, err := q.read(ctx, question)
	if err != nil {
		return nil, err
	}
	return members(answer.Body.Bytes())
}

// list reads a list. next reports whether more rows follow.
func (q *query) list(ctx context.Context, question Question) (list []payload, next bool, err error) {
	answer, err := q.read(ctx, question)
	if err != nil {
		return nil, false, err
	}
	if list, err = objectsIn(answer.Body.Bytes()); err != nil {
		return nil, false, fmt.Errorf("graphql: %s: %w", question.Path, err)
	}
	return list, strings.Contains(answer.Header().Get("Link"), `rel="next"`), nil
}
