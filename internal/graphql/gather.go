package graphql

import (
	"context"
	"errors"
	"slices"

	"arbor/internal/db"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// A field is resolved for all its parents in rounds. In a round a resolver gets what is known; what it asks
// for besides is written down, and its answer is missing. Then all that is written down is asked at one time,
// so that requests that do the same need as many SQL statements as one ([db.DB.Together]), and the resolver
// runs again. The round in which nothing was missing counts. So a resolver of many parents asks for all of
// them before it gives up, and one that asks in steps looks at waits between them, lest it asks in vain.

// maxRounds bounds the rounds of one field. What asks in more steps is answered one by one.
const maxRounds = 100

// errMissing says that an answer is missing in this round.
var errMissing = errors.New("graphql: an answer that is not there yet")

// wanted is what a round asks for: read reads it, at the same time as others, and done notes it.
type wanted struct {
	key  string
	read func(ctx context.Context)
	done func(ctx context.Context)
}

// gathering makes a resolver ask for what all parents need at one time.
func gathering(r exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		for range maxRounds {
			used := q.used
			q.gathers, q.missing = true, false
			values := r(ctx, f, parents)
			if q.gathers = false; !q.missing {
				return values
			}
			q.used = used // values are made anew
			q.askAll(ctx)
		}
		return r(ctx, f, parents)
	}
}

// waits reports that an answer was missing in this round, so that it does not count.
func (q *query) waits() bool { return q.gathers && q.missing }

// directly has what follows ask at once: nobody else asks. What it gives ends that.
func (q *query) directly() (end func()) {
	gathers := q.gathers
	q.gathers = false
	return func() { q.gathers = gathers }
}

// want writes down what is missing; false: it is read now.
func (q *query) want(w wanted) bool {
	if !q.gathers || q.stopped != nil {
		return false
	}
	q.missing = true
	if !slices.ContainsFunc(q.wanted, func(other wanted) bool { return other.key == w.key }) {
		q.wanted = append(q.wanted, w)
	}
	return true
}

// run writes down what is missing, or reads it now.
func (q *query) run(ctx context.Context, w wanted) {
	if !q.want(w) {
		w.read(ctx)
		w.done(ctx)
	}
}

// askAll reads what is written down, a hundred at one time.
func (q *query) askAll(ctx context.Context) {
	all := q.wanted
	q.wanted = nil
	for part := range slices.Chunk(all, maxLoaded) {
		q.with.DB.Together(ctx, len(part), func(ctx context.Context, n int) { part[n].read(ctx) })
		for _, w := range part {
			w.done(ctx)
		}
	}
}

// wantAnswer writes down a question.
func (q *query) wantAnswer(key string, question Question) bool {
	var answer *web.Captured
	var err error
	return q.want(wanted{key: key,
		read: func(ctx context.Context) { answer, err = q.ask(ctx, question) },
		done: func(ctx context.Context) {
			answer, err = q.follow(ctx, question, answer, q.note(ctx, answer, err))
			q.kept[key] = kept{answer: answer, err: err}
		}})
}

// placed reads from the database where something is, once for each key. Rights are asked by what follows.
func placed[V any](
	ctx context.Context, q *query, key string, read func(tx *db.Tx) (V, error),
) (v V, err error) {
	key = "placed " + key
	if k, ok := q.kept[key]; ok {
		v, _ = k.value.(V)
		return v, k.err
	}
	q.run(ctx, wanted{key: key,
		read: func(ctx context.Context) {
			err = q.with.DB.Read(ctx, func(tx *db.Tx) (err error) {
				v, err = read(tx)
				return err
			})
		},
		done: func(context.Context) { q.kept[key] = kept{value: v, err: err} }})
	if _, ok := q.kept[key]; !ok {
		return v, errMissing
	}
	return v, err
}
