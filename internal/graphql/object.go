package graphql

import (
	"context"
	"net/url"
	"strings"

	"arbor/internal/account"
	"arbor/internal/checkrun"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/status"
	"arbor/internal/web"
)

// object is a thing of a feature as an object of the schema. Its fields are parts of the value with which the feature
// shows it, so that REST, pages and GraphQL show the same.
type object struct {
	kind  string
	value any    // of its feature, such as *issue.View; nil: only what names the thing is known
	whole bool   // value is all that the feature says of the thing
	media string // the form of its texts: raw, or full with HTML
	repo  *object
	of    *object // the parent of a comment, if it is known

	// What names the thing, as far as it is known.
	id     int64  // in the database
	number int64  // of an issue, a pull request or a milestone
	name   string // of a repository OWNER/NAME, of an account its login, of a Git object its SHA, else its name
}

// TypeName returns the type in the schema.
func (o *object) TypeName() string { return o.kind }

// bare is an object without a value of a feature. Its fields are computed.
type bare struct {
	kind   string
	fields map[string]any
}

func (b bare) TypeName() string { return b.kind }

// set gives an object the whole value of its feature.
func (o *object) set(value any) {
	o.value, o.whole = value, true
	switch v := value.(type) {
	case *issue.View:
		o.id, o.number = int64(v.ID), v.Number
	case *pull.View:
		o.id, o.number = int64(v.Issue.ID), v.Issue.Number
	case *label.Label:
		o.id, o.name = v.ID, v.Name
	case *milestone.View:
		o.id, o.number = v.ID, v.Number
	case *repo.FullPayload:
		o.id, o.name = int64(v.ID), v.FullName
	case account.Full:
		o.id, o.name = int64(v.ID), v.Login
	case *review.ThreadComment:
		o.id = v.ID
		o.inPull(v.Number)
	case *review.ThreadPayload:
		o.id = v.Root
		o.inPull(v.Number)
	case status.Payload:
		o.id = v.ID
	case *checkrun.Payload:
		o.id = v.ID
	}
}

// inPull sets the pull request of a comment on a line, or of a thread, that was found by its id.
func (o *object) inPull(number int64) {
	if o.of == nil {
		o.of = pullAt(o.repo, number, "raw")
	}
}

// home returns the repository that contains an object, or is the object.
func (o *object) home() *object {
	if o.repo == nil {
		return o
	}
	return o.repo
}

// isWhole and isKnown report how much of an object is loaded.
func isWhole(o *object) bool { return o.whole }
func isKnown(o *object) bool { return o.value != nil }

// newAccount returns the account that a feature shows, or nil for none. It may be a user, an organization or a bot.
func newAccount(a *account.Simple) any {
	if a == nil {
		return nil
	}
	return &object{kind: a.Type, value: a, id: int64(a.ID), name: a.Login}
}

// person is newAccount for views, which have whole accounts.
func person(ctx context.Context, a *account.Account) any {
	return newAccount(account.NewSimple(a, web.From(ctx)))
}

// newRepository returns a repository of a list.
func newRepository(p *repo.Payload) *object {
	return &object{kind: "Repository", value: &repo.FullPayload{Payload: p}, id: int64(p.ID), name: p.FullName}
}

// repositoryAt returns a repository by OWNER/NAME. Its value is loaded when needed.
func repositoryAt(name string) *object { return &object{kind: "Repository", name: name} }

// inRepositoryOf returns the repository of an access.
func inRepositoryOf(a *repo.Access) *object {
	return &object{kind: "Repository", id: int64(a.ID), name: a.FullName()}
}

// one returns a resolver for a field whose value the function computes for one parent.
func one(value func(ctx context.Context, f *exec.Field, o *object) (any, error)) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		values := make([]any, len(parents))
		for n, p := range parents {
			v, err := value(ctx, f, p.(*object))
			v = leaf(v)
			if err == nil {
				err = holdText(ctx, v)
			}
			if values[n] = v; err != nil {
				values[n] = asError(err)
			}
		}
		return values
	}
}

// leaf returns a value of a feature as one of the schema: null for a nil pointer and an absent time.
func leaf(v any) any {
	switch v := v.(type) {
	case db.Time:
		if !v.IsZero() {
			return v.String()
		}
		return nil
	case *string:
		return deref(v)
	case *int64:
		return deref(v)
	case *bool:
		return deref(v)
	case git.SHA:
		return string(v)
	}
	return v
}

func deref[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// longText is the length from which the memory of a text that a resolver makes is reserved by itself.
const longText = 1 << 10

// holdText reserves memory for a text. A resolver makes one for each of its parents, which may be many.
func holdText(ctx context.Context, v any) error {
	if s, ok := v.(string); ok && len(s) >= longText {
		return queryOf(ctx).hold(ctx, int64(len(s)))
	}
	return nil
}

// pick resolves a field with a part of the objects' values, which are loaded.
func pick[V any](part func(v V) any) exec.Resolver {
	return one(func(_ context.Context, _ *exec.Field, o *object) (any, error) { return part(o.value.(V)), nil })
}

// viewed is pick for parts that depend on the request.
func viewed[V any](part func(ctx context.Context, v V) any) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) { return part(ctx, o.value.(V)), nil })
}

// after returns resolvers of fields that are resolved after enough of the objects is loaded, of all of them together.
func after(enough func(o *object) bool, fields map[string]exec.Resolver) map[string]exec.Resolver {
	all := make(map[string]exec.Resolver, len(fields))
	for name, next := range fields {
		all[name] = func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
			failed := queryOf(ctx).fill(ctx, objectsOf(parents), enough)
			if len(failed) == 0 {
				return next(ctx, f, parents)
			}
			values := make([]any, len(parents))
			var rest []exec.Object
			var at []int
			for n, p := range parents {
				if err := failed[p.(*object)]; err != nil {
					values[n] = asError(err)
				} else {
					rest, at = append(rest, p), append(at, n)
				}
			}
			if len(rest) > 0 {
				for k, v := range next(ctx, f, rest) {
					values[at[k]] = v
				}
			}
			return values
		}
	}
	return all
}

// orNil returns nil for an empty text.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// orEmpty returns a text; an empty one for nil.
func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// enumName returns a word of REST as an enum value: "off-topic" is OFF_TOPIC.
func enumName(s string) string { return strings.ToUpper(enumWords.Replace(s)) }

var enumWords = strings.NewReplacer("-", "_", " ", "_")

// enum is enumName for a word that may be missing.
func enum(s *string) any {
	if s == nil || *s == "" {
		return nil
	}
	return enumName(*s)
}

// always resolves a field with one value for all parents.
func always(value any) exec.Resolver { return each(func(exec.Object) any { return value }) }

// key resolves a field with what names the objects.
func key(part func(o *object) any) exec.Resolver {
	return one(func(_ context.Context, _ *exec.Field, o *object) (any, error) { return part(o), nil })
}

// pathOf returns the path of a page's address.
func pathOf(address string) any {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	return u.EscapedPath()
}

// each resolves a field with a value of each parent, which may be an error.
func each[P exec.Object](value func(p P) any) exec.Resolver {
	return func(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
		values := make([]any, len(parents))
		for n, p := range parents {
			values[n] = value(p.(P))
			if err, wrong := values[n].(error); wrong {
				values[n] = asError(err)
			}
		}
		return values
	}
}

// orError returns a value, or the error instead.
func orError(v any, err error) any {
	if err != nil {
		return err
	}
	return v
}

// The repository of an object, and what it is a part of, such as the pull request of a comment.
var (
	inRepository = each(func(o *object) any { return o.repo })
	parent       = each(func(o *object) any { return o.of })
)
