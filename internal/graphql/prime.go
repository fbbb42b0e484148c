package graphql

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// many asks for the same list of many things of a repository at one time, and keeps the answers as those to
// the questions for each of them. So what follows asks these, and no more is asked of the database for many
// than for one.
type many struct {
	path string // below the repository: the route whose right is asked
	// answers an object with what REST answers for each key, or one row more
	handler  web.Handler
	keys     string                   // the parameter with the keys
	key      func(o *object) string   // of a thing
	question func(o *object) Question // for the thing alone
	media    string
	alone    bool       // also for one thing, of which REST does not tell enough
	query    url.Values // what the question asks besides
}

// maxPrimed is how many things one question is for.
const maxPrimed = 100

// prime asks for the page of a list of all objects. What cannot be had so is asked for one by one later, and
// fails then.
func (q *query) prime(ctx context.Context, m many, number, size int, objects []*object) {
	byRepo := map[*object][]*object{}
	var repos []*object
	for _, o := range objects {
		in := q.sameRepository(o.repo)
		if byRepo[in] == nil {
			repos = append(repos, in)
		}
		byRepo[in] = append(byRepo[in], o)
	}
	for _, in := range repos {
		list := byRepo[in]
		for len(list) > 1 || m.alone && len(list) > 0 {
			part := list[:min(maxPrimed, len(list))]
			list = list[len(part):]
			q.primePart(ctx, m, number, size, in, part)
		}
	}
}

// sameRepository gives one object for each repository.
func (q *query) sameRepository(o *object) *object {
	if q.repositories == nil {
		q.repositories = map[string]*object{}
	}
	if q.repositories[o.source.Path] == nil {
		q.repositories[o.source.Path] = o
	}
	return q.repositories[o.source.Path]
}

func (q *query) primePart(ctx context.Context, m many, number, size int, in *object, part []*object) {
	keys := make([]string, len(part))
	for n, o := range part {
		keys[n] = m.key(o)
	}
	values := url.Values{m.keys: {strings.Join(keys, ",")}}
	maps.Copy(values, m.query)
	question := paged(Question{Path: in.source.Path + m.path, Query: values, Media: m.media,
		Handler: m.handler},
		number, size)
	found, err := q.object(ctx, question)
	if err != nil {
		return
	}
	for n, o := range part {
		answer := web.Capture()
		body := found.get(keys[n])
		rows, _ := elements(body) // none of what is no list
		switch {
		case len(body) == 0:
			body = json.RawMessage("[]")
		case len(rows) > size:
			if body, err = json.Marshal(rows[:size]); err != nil {
				return
			}
			answer.Header().Set("Link", `<>; rel="next"`)
		}
		answer.Body.Write(body)
		q.kept[keyOf(paged(m.question(o), number, size))] = kept{answer: answer}
	}
}

// primed makes a resolver of lists that asks for the lists of all parents first, where they begin with a
// page.
func primed(of func(q *query, f *exec.Field) many, next exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		p, err := readPart(f)
		if len(parents) > 1 && err == nil && p.startsList() && wantsNodes(f) {
			q := queryOf(ctx)
			objects := make([]*object, len(parents))
			for n, parent := range parents {
				objects[n] = parent.(*object)
			}
			if q.prime(ctx, of(q, f), 1, p.size, objects); q.waits() {
				return make([]any, len(parents))
			}
		}
		return next(ctx, f, parents)
	}
}

// primedTotals is primed for lists whose objects have a member total, by which totalOf tells how long the
// list is.
func primedTotals(of func(q *query, f *exec.Field) many, next exec.Resolver) exec.Resolver {
	lists := primed(of, next)
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		if len(parents) > 1 && !wantsNodes(f) {
			q := queryOf(ctx)
			objects := make([]*object, len(parents))
			for n, parent := range parents {
				objects[n] = parent.(*object)
			}
			if q.prime(ctx, of(q, f), 1, 1, objects); q.waits() {
				return make([]any, len(parents))
			}
		}
		return lists(ctx, f, parents)
	}
}

// totalOf tells how long a list is: by its first page, where that was asked for with those of others.
func (q *query) totalOf(ctx context.Context, f *exec.Field, question Question) func() (int, error) {
	return func() (int, error) {
		p, err := readPart(f)
		if err != nil {
			return 0, err
		}
		size := p.size
		if !wantsNodes(f) {
			size = 1
		}
		k, ok := q.kept[keyOf(paged(question, 1, size))]
		if !ok || k.err != nil || p.offset > 0 {
			return q.count(ctx, question)
		}
		list, err := objectsIn(k.answer.Body.Bytes())
		if err != nil || len(list) == 0 {
			return 0, err
		}
		total, ok := decode(list[0].get("total_of")).(json.Number)
		if !ok {
			return q.count(ctx, question)
		}
		n, err := total.Int64()
		return int(n), err
	}
}

// primedAll is primed for what looks through whole lists, whatever part is asked for.
func primedAll(of func(q *query, f *exec.Field) many, next exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		if len(parents) > 1 {
			q := queryOf(ctx)
			objects := make([]*object, len(parents))
			for n, parent := range parents {
				objects[n] = parent.(*object)
			}
			if q.prime(ctx, of(q, f), 1, web.MaxPageSize, objects); q.waits() {
				return make([]any, len(parents))
			}
		}
		return next(ctx, f, parents)
	}
}

// numberOf is the number of an issue or a pull request.
func numberOf(o *object) string { return string(o.data.get("number")) }

func manyComments(q *query, f *exec.Field) many {
	media := textMedia(f)
	return many{path: "/issues/comments", handler: q.with.Comments, keys: "numbers", key: numberOf,
		media:    media,
		question: func(o *object) Question { return commentsOf(o, media) }}
}

func manyReviews(q *query, f *exec.Field) many {
	media := textMedia(f)
	return many{path: "/pulls", handler: q.with.Reviews, keys: "numbers", key: numberOf, media: media,
		question: func(o *object) Question { return reviewsOf(o, media) }}
}

// primeRollups asks for the first statuses and checks of commits.
func (q *query) primeRollups(ctx context.Context, commits []*object) {
	if len(commits) == 0 {
		return
	}
	sha := func(o *object) string { return textOf(o.data, "sha") }
	first := sha(commits[0])
	q.prime(ctx, many{path: "/commits/" + first + "/status", handler: q.with.Statuses, alone: true,
		keys: "shas",
		key:  sha, media: "raw",
		query: url.Values{"creators": {"true"}},
		question: func(o *object) Question {
			return Question{Path: rollupPath(o) + "/status", Media: "raw"}
		}}, 1,
		100, commits)
	q.prime(ctx, many{path: "/commits/" + first + "/check-runs", handler: q.with.Checks,
		keys: "shas", key: sha,
		media: "raw",
		question: func(o *object) Question {
			return Question{Path: rollupPath(o) + "/check-runs", Media: "raw"}
		}}, 1,
		100, commits)
}

// rollupPath is the address of a commit, below which its statuses and checks are.
func rollupPath(commit *object) string {
	return commit.repo.path("commits", textOf(commit.data, "sha"))
}
