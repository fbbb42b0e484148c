package graphql

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/checkrun"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/issue/branch"
	"arbor/internal/issue/comment"
	"arbor/internal/issue/timeline"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/pull"
	"arbor/internal/reaction"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/status"
)

// Loaders are the features that load the data of many objects of a repository.
type Loaders struct {
	Repos     *repo.Service
	Pulls     *pull.API
	Reviews   *review.API
	Issues    *issue.API
	Comments  *comment.API
	Timelines *timeline.API
	Branches  *branch.API
	Statuses  *status.API
	Checks    *checkrun.API
	Reactions *reaction.Many
	Git       *gitdata.API

	Labels     *label.API
	Milestones *milestone.API
	Releases   *release.API
}

// loader loads a value for each of many objects, with one call per repository. The value of an object that
// the feature omits is zero.
type loader[K comparable, V any] struct {
	name  string // distinguishes its values from those of other loaders
	route string // below the repository: the address whose right and token permission are required
	media string // of texts; empty: raw
	key   func(o *object) K
	read  func(ctx context.Context, a *repo.Access, keys []K) (map[K]V, error)
	size  func(v V) int64 // in bytes; nil: the value is a few numbers
}

// smallValue is the memory in bytes of a value of a loader without a size.
const smallValue = 256

// maxLoaded limits the objects of one call.
const maxLoaded = 100

func (l loader[K, V]) keyOf(q *query, o *object) string {
	return fmt.Sprint(l.name, " ", q.sameRepository(o.repo).source.Path, l.route, " ", l.media, " ", l.key(o))
}

// load loads the values of the objects that have none yet.
func (l loader[K, V]) load(ctx context.Context, q *query, objects []*object) {
	var missing []*object
	seen := map[string]bool{}
	for _, o := range objects {
		key := l.keyOf(q, o)
		if _, there := q.kept[key]; !there && !seen[key] {
			missing, seen[key] = append(missing, o), true
		}
	}
	byRepository(q, missing, func(in *object, list []*object) {
		keys := make([]K, len(list))
		for n, o := range list {
			keys[n] = l.key(o)
		}
		var found map[K]V
		err := q.granted(ctx, in.source.Path+l.route, l.media,
			func(ctx context.Context, a *repo.Access) (err error) {
				found, err = l.read(ctx, a, keys)
				return err
			})
		for _, o := range list {
			v, bytes := found[l.key(o)], int64(smallValue)
			if l.size != nil {
				bytes = l.size(v)
			}
			err = cmp.Or(err, q.hold(ctx, bytes))
			q.kept[l.keyOf(q, o)] = kept{value: v, err: err}
		}
	})
}

// get returns the value of an object. It loads the value if no call for several objects did.
func (l loader[K, V]) get(ctx context.Context, q *query, o *object) (v V, err error) {
	l.load(ctx, q, []*object{o})
	k := q.kept[l.keyOf(q, o)]
	v, _ = k.value.(V)
	return v, k.err
}

// known returns the value of an object that is already loaded.
func (l loader[K, V]) known(q *query, o *object) (v V, there bool) {
	v, there = q.kept[l.keyOf(q, o)].value.(V)
	return v, there
}

// values returns a field's values for its parents from the loaded ones.
func (l loader[K, V]) values(
	ctx context.Context, parents []exec.Object, show func(o *object, v V) (any, error),
) []any {
	q, objects, values := queryOf(ctx), objectsOf(parents), make([]any, len(parents))
	l.load(ctx, q, objects)
	for n, o := range objects {
		v, err := l.get(ctx, q, o)
		if err == nil {
			values[n], err = show(o, v)
		}
		if err != nil {
			values[n] = asError(err)
		}
	}
	return values
}

// objectsOf returns the parents of a field as objects.
func objectsOf(parents []exec.Object) []*object {
	objects := make([]*object, len(parents))
	for n, p := range parents {
		objects[n] = p.(*object)
	}
	return objects
}

// granted calls load with the caller's access to a repository, limited to what the role and the token allow
// at path, an address below the repository. Errors: those of the address's route.
func (q *query) granted(
	ctx context.Context, path, media string, load func(ctx context.Context, a *repo.Access) error,
) error {
	if q.stopped != nil {
		return q.stopped
	}
	question := Question{Path: path, Media: cmp.Or(media, "raw"), Handler: q.load.Repos.With(account.Pull,
		func(_ http.ResponseWriter, r *http.Request, a *repo.Access) error { return load(r.Context(), a) })}
	for moved := false; ; moved = true {
		answer, err := q.ask(ctx, question)
		if err != nil || answer.Status == http.StatusOK {
			return q.noteError(err)
		}
		if moved || answer.Status != http.StatusMovedPermanently {
			return errs.Absent()
		}
		if question.Path, err = movedTo(answer); err != nil {
			return err
		}
	}
}

// byNumber returns the key of an issue or a pull request, and byIdentity that of other objects.
func byNumber(o *object) int64   { return wholeNumber(o, "number") }
func byIdentity(o *object) int64 { return wholeNumber(o, "id") }

func wholeNumber(o *object, member string) int64 {
	n, _ := strconv.ParseInt(string(o.data.get(member)), 10, 64)
	return n
}

// filled returns a resolver that first loads the full payloads of the parents that have only a part, with
// one call per repository. A single parent of a repository is read from REST, and only if a member is
// missing.
func filled[K comparable](
	of func(q *query, o *object) loader[K, payload], partial func(o *object) bool, next exec.Resolver,
) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		var missing []*object
		for _, o := range objectsOf(parents) {
			if !o.whole && partial(o) {
				missing = append(missing, o)
			}
		}
		if err := fill(ctx, q, of, missing); err != nil {
			return failed(asError(err), len(parents))
		}
		return next(ctx, f, parents)
	}
}

// fill loads the full payloads of objects, see filled.
func fill[K comparable](
	ctx context.Context, q *query, of func(q *query, o *object) loader[K, payload], objects []*object,
) (failure error) {
	byRepository(q, objects, func(_ *object, list []*object) {
		if len(list) == 1 {
			return
		}
		l := of(q, list[0])
		l.load(ctx, q, list)
		for _, o := range list {
			data, err := l.get(ctx, q, o)
			if failure = cmp.Or(failure, err); data != nil {
				o.data, o.whole = data, true
			}
		}
	})
	return failure
}

// anyObject reports true for all objects.
func anyObject(*object) bool { return true }
