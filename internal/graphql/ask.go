package graphql

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/graphql/document"
	"arbor/internal/inside"
	"arbor/internal/web"
)

// Question is a request to the REST API, made within the server for a part of a query.
type Question = inside.Request

// Ask answers a question as the REST API answers the caller of ctx. Errors: those of the route.
type Ask = inside.Ask

// query is one request for GraphQL while it runs.
type query struct {
	*API
	kept     map[string]kept // answers to questions that only read
	estimate document.Estimate
	sent     *http.Request

	repositories map[string]*object // one of each that lists were asked for

	used, held int64 // bytes of memory; what is held was asked for
	stopped    error // for which the whole answer fails
}

// What is counted of memory, in bytes: it is asked for in steps, since small amounts are not asked for at
// all.
const (
	holdStep  = 256 << 10
	nodeBytes = 3 << 10 // of an object of a list, with its members
)

// hold asks for memory until the request is answered. Once it was refused, it is refused at once.
func (q *query) hold(ctx context.Context, bytes int64) error {
	q.used += bytes
	if q.stopped == nil && q.used-q.held >= holdStep {
		q.stopped = admission.Hold(ctx, q.used-q.held)
		q.held = q.used
	}
	return q.stopped
}

// request asks a question, and counts what is answered.
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

// kept is what was read: an answer of REST, or a value.
type kept struct {
	answer *web.Captured
	value  any
	err    error
}

type queryKey struct{}

// queryOf gives the query that a resolver works for.
func queryOf(ctx context.Context) *query { return ctx.Value(queryKey{}).(*query) }

// read asks for what is there, once for the same address and handler.
func (q *query) read(ctx context.Context, question Question) (*web.Captured, error) {
	question.Method = http.MethodGet
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

// keyOf is what the answer to a question is kept under.
func keyOf(question Question) string {
	media := cmp.Or(question.Media, "raw")
	return fmt.Sprintf("%s?%s %s %t %q", question.Path, question.Query.Encode(), media,
		question.Handler != nil, question.Members)
}

// follow takes what a question was answered, and asks again where a repository has moved to, as clients of
// REST do.
func (q *query) follow(
	ctx context.Context, question Question, answer *web.Captured, err error,
) (*web.Captured, error) {
	for moved := false; ; moved = true {
		switch {
		case err != nil:
			return nil, err
		case answer.Status == http.StatusOK || answer.Status == http.StatusNoContent:
			return answer, nil
		case answer.Status == http.StatusNotFound: // as some routes say no
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

// movedTo is the path to which an answer redirects.
func movedTo(answer *web.Captured) (string, error) {
	to, err := url.Parse(answer.Header().Get("Location"))
	if err != nil {
		return "", err
	}
	path := to.EscapedPath()
	if at := strings.Index(path, "/repos/"); at > 0 { // behind the prefix
		path = path[at:]
	}
	return path, nil
}

// change asks for a change, and gives what is answered, see changed. What was read before counts no longer.
func (q *query) change(ctx context.Context, method, path string, body map[string]any) (payload, error) {
	return q.changeBy(ctx, Question{Method: method, Path: path}, body)
}

// changeBy is change by a question that may have a handler of its own.
func (q *query) changeBy(ctx context.Context, question Question, body map[string]any) (payload, error) {
	clear(q.kept)
	question.Media = "raw"
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		question.Body = b
	}
	answer, err := q.request(ctx, question)
	if err != nil {
		return nil, err
	}
	if answer.Status >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("graphql: %s %s answers %d", question.Method, question.Path, answer.Status)
	}
	return changed(answer)
}

// changed reads what a change answers; nil where that is no object.
func changed(answer *web.Captured) (payload, error) {
	if b := answer.Body.Bytes(); len(b) > 0 && b[0] == '{' {
		return members(b)
	}
	return nil, nil
}

// object asks for one thing.
func (q *query) object(ctx context.Context, question Question) (payload, error) {
	answer, err := q.read(ctx, question)
	if err != nil {
		return nil, err
	}
	return members(answer.Body.Bytes())
}

// list asks for a list. next tells that more follows it.
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
