package graphql

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// object is a payload of the REST API as an object of the schema, so that both APIs show the same data.
type object struct {
	kind   string
	data   payload // from any answer, perhaps nested in another payload and without some members
	source source  // of its full payload; no path: there is none
	whole  bool    // data is the full payload
	repo   *object // the repository that contains it; nil: none
	of     *object // the parent of a comment, if it is loaded
}

// source is the address of an object's full payload.
type source struct{ Path, Media string }

// TypeName returns the type in the schema.
func (o *object) TypeName() string { return o.kind }

// bare is an object without a payload. Its fields are computed.
type bare struct {
	kind   string
	fields map[string]any
}

func (b bare) TypeName() string { return b.kind }

// member returns a member of the payload. It loads the full payload if the member is missing. nil means
// that there is none.
func (o *object) member(ctx context.Context, name string) (json.RawMessage, error) {
	if v, ok := o.data.find(name); ok || o.whole {
		return v, nil
	}
	data, err := queryOf(ctx).wholeOf(ctx, o)
	if err != nil {
		return nil, err
	}
	o.data, o.whole = data, true
	return data.get(name), nil
}

// value returns a decoded member.
func (o *object) value(ctx context.Context, name string) (any, error) {
	raw, err := o.member(ctx, name)
	return decode(raw), err
}

// text returns a member that is a string, or "" if it is not a string or cannot be loaded.
func (o *object) text(ctx context.Context, name string) string {
	v, _ := o.value(ctx, name)
	s, _ := v.(string)
	return s
}

// inner returns an object inside the payload, or nil for null.
func (o *object) inner(ctx context.Context, name string) (payload, error) {
	raw, err := o.member(ctx, name)
	if err != nil || len(raw) == 0 || string(raw) == "null" {
		return nil, err
	}
	return members(raw)
}

// list returns the objects of a list inside the payload.
func (o *object) list(ctx context.Context, name string) ([]payload, error) {
	raw, err := o.member(ctx, name)
	if err != nil {
		return nil, err
	}
	return objectsIn(raw)
}

// textOf returns a string member of a payload.
func textOf(data payload, name string) string {
	s, _ := decode(data.get(name)).(string)
	return s
}

// newAccount returns the account in a payload, or nil for null. It may be a user, an organization or a bot.
func newAccount(data payload) any {
	if data == nil {
		return nil
	}
	kind, login := textOf(data, "type"), textOf(data, "login")
	if kind == "" { // GitHub's organization-simple has no type
		kind = "Organization"
	}
	return &object{kind: kind, data: data, source: source{Path: web.Path("users", login)}}
}

// newRepository returns a repository for its payload.
func newRepository(data payload) *object {
	owner, name, _ := strings.Cut(textOf(data, "full_name"), "/")
	return &object{kind: "Repository", data: data, source: source{Path: web.Path("repos", owner, name)}}
}

// repositoryAt returns a repository by its address. Its payload is loaded when needed.
func repositoryAt(path string) *object {
	full := strings.TrimPrefix(path, "/repos/")
	_, name, _ := strings.Cut(full, "/")
	o := &object{kind: "Repository", source: source{Path: path}}
	for member, text := range map[string]string{"full_name": full, "name": name} {
		raw, _ := json.Marshal(text)
		o.data = o.data.with(member, raw)
	}
	return o
}

// home returns the repository that contains an object, or is the object.
func (o *object) home() *object {
	if o.repo == nil {
		return o
	}
	return o.repo
}

// path returns an address below a repository's.
func (o *object) path(segments ...string) string { return o.source.Path + web.Path(segments...) }

// one returns a resolver for a field whose value the function computes for one parent.
func one(value func(ctx context.Context, f *exec.Field, o *object) (any, error)) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		values := make([]any, len(parents))
		for n, p := range parents {
			v, err := value(ctx, f, p.(*object))
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

// longText is the length from which the memory of a text that a resolver makes is reserved by itself.
const longText = 1 << 10

// holdText reserves memory for a text. A resolver makes one for each of its parents, which may be many.
func holdText(ctx context.Context, v any) error {
	if s, ok := v.(string); ok && len(s) >= longText {
		return queryOf(ctx).hold(ctx, int64(len(s)))
	}
	return nil
}

// same resolves a field with the value of a member.
func same(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		raw, err := o.member(ctx, member)
		if len(raw) == 0 || string(raw) == "null" {
			return nil, err
		}
		return raw, err // copied into the answer unchanged
	})
}

// orEmpty is like same, but "" for null.
func orEmpty(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		v, err := o.value(ctx, member)
		if v == nil {
			v = ""
		}
		return v, err
	})
}

// upper is like same for an enum of the schema.
func upper(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		v, err := o.value(ctx, member)
		if s, ok := v.(string); ok && s != "" {
			return enumName(s), err
		}
		return nil, err
	})
}

// enumName returns a word of REST as an enum value: "off-topic" is OFF_TOPIC.
func enumName(s string) string { return strings.ToUpper(enumWords.Replace(s)) }

var enumWords = strings.NewReplacer("-", "_", " ", "_")

// always resolves a field with one value for all parents.
func always(value any) exec.Resolver {
	return func(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
		values := make([]any, len(parents))
		for n := range values {
			values[n] = value
		}
		return values
	}
}

// isNull resolves whether a member is null, or with want false whether it is not.
func isNull(member string, want bool) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		v, err := o.value(ctx, member)
		return (v == nil) == want, err
	})
}

// accountField resolves a field with an account.
func accountField(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		data, err := o.inner(ctx, member)
		return newAccount(data), err
	})
}

// resourcePath resolves the path of an object's page.
func resourcePath(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		u, err := url.Parse(o.text(ctx, member))
		if err != nil {
			return nil, err
		}
		return u.EscapedPath(), nil
	})
}

// inRepository resolves the repository of an object.
func inRepository(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
	values := make([]any, len(parents))
	for n, p := range parents {
		values[n] = p.(*object).repo
	}
	return values
}

// computed resolves a field of a bare object.
func computed(_ context.Context, f *exec.Field, parents []exec.Object) []any {
	values := make([]any, len(parents))
	for n, p := range parents {
		values[n] = p.(bare).fields[f.Name]
	}
	return values
}
