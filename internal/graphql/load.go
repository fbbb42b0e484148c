package graphql

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/checkrun"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/issue/branch"
	"arbor/internal/issue/comment"
	"arbor/internal/pull"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/status"
	"arbor/internal/web"
)

// Loaders are the features whose functions load what many things of a repository show.
type Loaders struct {
	Repos     *repo.Service
	Pulls     *pull.API
	Reviews   *review.API
	Issues    *issue.API
	Comments  *comment.API
	Branches  *branch.API
	Statuses  *status.API
	Checks    *checkrun.API
	Reactions *reaction.Many
	Git       *gitdata.API
}

// loader loads a value for each of many objects, with one call for all that are in one repository. The value of
// an object that the feature leaves out is zero.
type loader[K comparable, V any] struct {
	name  string // distinguishes its values from those of other loaders
	route string // below the repository: the address whose right and token permission are asked
	media string // of texts; empty: raw
	key   func(o *object) K
	read  func(ctx context.Context, a *repo.Access, keys []K) (map[K]V, error)
	size  func(v V) int64 // in bytes; nil: of a few numbers
}

// smallValue is what a value of a loader without a size takes of memory, in bytes.
const smallValue = 256

// maxLoaded is how many objects one call is for.
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
	byRepository(q, missing, func(in *object, list []*object, _ []int) {
		keys := make([]K, len(list))
		for n, o := range list {
			keys[n] = l.key(o)
		}
		var found map[K]V
		var err error
		q.run(ctx, wanted{key: fmt.Sprint(l.name, l.media, in.source.Path, l.route, keys),
			read: func(ctx context.Context) {
				err = q.granted(ctx, in.source.Path+l.route, l.media,
					func(ctx context.Context, a *repo.Access) (err error) {
						found, err = l.read(ctx, a, keys)
						return err
					})
			},
			done: func(ctx context.Context) {
				err = q.noteError(err)
				for _, o := range list {
					v, bytes := found[l.key(o)], int64(smallValue)
					if l.size != nil {
						bytes = l.size(v)
					}
					err = cmp.Or(err, q.hold(ctx, bytes))
					q.kept[l.keyOf(q, o)] = kept{value: v, err: err}
				}
			}})
	})
}

// get is the value of an object, which is loaded if it was not with those of others.
func (l loader[K, V]) get(ctx context.Context, q *query, o *object) (v V, err error) {
	l.load(ctx, q, []*object{o})
	k, there := q.kept[l.keyOf(q, o)]
	if !there {
		return v, errMissing
	}
	v, _ = k.value.(V)
	return v, k.err
}

// known is the value of an object that was loaded before.
func (l loader[K, V]) known(q *query, o *object) (v V, there bool) {
	v, there = q.kept[l.keyOf(q, o)].value.(V)
	return v, there
}

// values makes the values of a field of what the loader has for its parents.
func (l loader[K, V]) values(
	ctx context.Context, parents []exec.Object, show func(o *object, v V) (any, error),
) []any {
	q, objects, values := queryOf(ctx), objectsOf(parents), make([]any, len(parents))
	if l.load(ctx, q, objects); q.waits() {
		return values
	}
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

// objectsOf are the parents of a field.
func objectsOf(parents []exec.Object) []*object {
	objects := make([]*object, len(parents))
	for n, p := range parents {
		objects[n] = p.(*object)
	}
	return objects
}

// granted calls load with the caller's access to a repository, narrowed to what the role and the token allow at
// the address path, which is below it. Errors: those of the address's route.
func (q *query) granted(
	ctx context.Context, path, media string, load func(ctx context.Context, a *repo.Access) error,
) error {
	question := Question{Path: path, Media: cmp.Or(media, "raw"), Handler: q.load.Repos.With(account.Pull,
		func(_ http.ResponseWriter, r *http.Request, a *repo.Access) error { return load(r.Context(), a) })}
	for moved := false; ; moved = true {
		answer, err := q.ask(ctx, question)
		if err != nil || answer.Status == http.StatusOK {
			return err
		}
		if moved || answer.Status != http.StatusMovedPermanently {
			return errs.Absent()
		}
		if question.Path, err = movedTo(answer); err != nil {
			return err
		}
	}
}

// listLoader loads pages of a list that each of many objects has.
type listLoader struct {
	loader[int64, *web.List[payload]]

	rows func(ctx context.Context, a *repo.Access, keys []int64, page web.Page) (
		map[int64]*web.List[payload], error)
}

// page loads a page of the list of each object.
func (l listLoader) page(number, size int) loader[int64, *web.List[payload]] {
	page := web.Page{Number: int64(number), Size: int64(size)}
	one := l.loader
	one.name = fmt.Sprint(l.name, " ", number, "/", size)
	one.size = bytesOf
	one.read = func(ctx context.Context, a *repo.Access, keys []int64) (map[int64]*web.List[payload], error) {
		return l.rows(ctx, a, keys, page)
	}
	return one
}

// all reads the list of an object, whole, up to a number of pages of a hundred.
func (l listLoader) all(ctx context.Context, q *query, o *object, most int) (all []payload, err error) {
	for n := 1; n <= most; n++ {
		page, err := l.page(n, web.MaxPageSize).get(ctx, q, o)
		if err != nil || page == nil {
			return all, err
		}
		if all = append(all, page.Rows...); !page.More {
			break
		}
	}
	return all, nil
}

// listed makes a resolver of lists that loads the first page of all parents before next shows each: the rows, if
// they are asked for, or with counts how many there are.
func listed(of func(q *query, f *exec.Field) listLoader, counts bool, next exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		p, err := readPart(f)
		size := 0
		switch {
		case err != nil:
		case !wantsNodes(f) && counts:
			size = 1
		case wantsNodes(f) && p.startsList():
			size = p.size
		}
		if size > 0 {
			q := queryOf(ctx)
			if of(q, f).page(1, size).load(ctx, q, objectsOf(parents)); q.waits() {
				return make([]any, len(parents))
			}
		}
		return next(ctx, f, parents)
	}
}

// listedWhole is listed for what looks through whole lists, whatever part is asked for.
func listedWhole(of func(q *query, f *exec.Field) listLoader, next exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		if of(q, f).page(1, web.MaxPageSize).load(ctx, q, objectsOf(parents)); q.waits() {
			return make([]any, len(parents))
		}
		return next(ctx, f, parents)
	}
}

// byNumber is the key of an issue or a pull request, and byIdentity that of other things.
func byNumber(o *object) int64   { return wholeNumber(o, "number") }
func byIdentity(o *object) int64 { return wholeNumber(o, "id") }

func wholeNumber(o *object, member string) int64 {
	n, _ := strconv.ParseInt(string(o.data.get(member)), 10, 64)
	return n
}

// maxRows is the size in bytes of what one call of a loader shows.
const maxRows = 32 << 20

// timesRow is the memory of a row in sizes of its text: the feature's value, the text and what is decoded of it.
const timesRow = 3

// rows makes payloads of what one call of a loader returns, and asks for their memory.
type rows struct {
	ctx         context.Context
	bytes, held int64
}

// show is a value of a feature as REST shows it. Errors: TooLarge, those of asking for memory.
func (r *rows) show(v any) (payload, error) {
	row, err := payloadOf(v)
	if r.bytes += bytesOfRow(row); err == nil && r.bytes > maxRows {
		err = errs.New(errs.TooLarge, "There is too much here: ask for less at one time.")
	}
	if err == nil && r.bytes-r.held >= holdStep {
		err = admission.Hold(r.ctx, timesRow*(r.bytes-r.held))
		r.held = r.bytes
	}
	return row, err
}

func payloadOf(v any) (payload, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return members(b.Bytes())
}

// payloadsOf are values of a feature as REST shows them. Error: err, or that of showing them.
func payloadsOf[K comparable, V any](ctx context.Context, found map[K]V, err error) (map[K]payload, error) {
	r, out := rows{ctx: ctx}, make(map[K]payload, len(found))
	for key, v := range found {
		if err == nil {
			out[key], err = r.show(v)
		}
	}
	return out, err
}

// listsOf are lists of values of a feature as REST shows them. Error: err, or that of showing them.
func listsOf[K comparable, V any](
	ctx context.Context, found map[K]*web.List[V], err error,
) (map[K]*web.List[payload], error) {
	r, out := rows{ctx: ctx}, make(map[K]*web.List[payload], len(found))
	for key, list := range found {
		shown := &web.List[payload]{More: list.More, Total: list.Total, Rows: make([]payload, len(list.Rows))}
		for n, v := range list.Rows {
			if err == nil {
				shown.Rows[n], err = r.show(v)
			}
		}
		out[key] = shown
	}
	return out, err
}

func bytesOfRow(row payload) (bytes int64) {
	for _, m := range row {
		bytes += int64(len(m.name) + len(m.value))
	}
	return bytes
}

// bytesOf is the size of a page of rows.
func bytesOf(page *web.List[payload]) int64 {
	bytes := int64(smallValue)
	if page != nil {
		for _, row := range page.Rows {
			bytes += bytesOfRow(row)
		}
	}
	return bytes
}

// filled makes a resolver that loads the full payloads of the parents that have a part of it, of all in a
// repository at one time. One alone in its repository is asked for as REST answers it, and not before a member
// is missing.
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
	byRepository(q, objects, func(_ *object, list []*object, _ []int) {
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

// anyObject reports all objects.
func anyObject(*object) bool { return true }
