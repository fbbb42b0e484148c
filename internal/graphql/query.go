package graphql

import (
	"cmp"
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/graphql/document"
	"arbor/internal/repo"
)

// query is the state of one GraphQL request.
type query struct {
	*API
	kept map[string]kept // values of loaders
	// of routes that read, by address; and repositories by path, as a caller of these sees them
	permitted map[string]permitResult
	found     map[*account.Caller]map[string]*repo.Access
	estimate  document.Estimate
	sent      *http.Request

	repositories map[string]*object // repositories of lists, so that each is one object

	blames int // files whose lines were blamed
	sizes  int // commits that were compared with their parents

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

// kept is a value of a loader.
type kept struct {
	value any
	there bool // the feature has it
	err   error
}

type queryKey struct{}

// queryOf returns the query of a resolver's context.
func queryOf(ctx context.Context) *query { return ctx.Value(queryKey{}).(*query) }
