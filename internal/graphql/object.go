package graphql

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// object is a payload of the REST API as an object of the schema. So both show the same of it.
type object struct {
	kind   string
	data   payload // as it was met, perhaps in another payload, which has not all members
	source source  // of its full payload; without a path there is none
	whole  bool    // data is the full payload
	repo   *object // the repository that it is in; nil: none
	of     *object // what it is a comment on, where that is at hand
}

// source is where an object's full payload is.
type source struct{ Path, Media string }

func (s source) question() Question { return Question{Path: s.Path, Media: s.Media} }

// TypeName is the type in the schema.
func (o *object) TypeName() string { return o.kind }

// bare is an object without a payload: its fields are computed.
type bare struct {
	kind   string
	fields map[string]any
}

func (b bare) TypeName() string { return b.kind }

// member gives a member of the payload, for which it asks if the object was met without it. Nil: there is
// none.
func (o *object) member(ctx context.Context, name string) (json.RawMessage, error) {
	if v, ok := o.data.find(name); ok || o.whole || o.source.Path == "" {
		return v, nil
	}
	data, err := queryOf(ctx).object(ctx, o.source.question())
	if err != nil {
		return nil, err
	}
	o.data, o.whole = data, true
	return data.get(name), nil
}

// value gives a member decoded.
func (o *object) value(ctx context.Context, name string) (any, error) {
	raw, err := o.member(ctx, name)
	return decode(raw), err
}

// text gives a member that is a text; empty where it is none, or cannot be read.
func (o *object) text(ctx context.Context, name string) string {
	v, _ := o.value(ctx, name)
	s, _ := v.(string)
	return s
}

// inner gives an object inside the payload; nil for null.
func (o *object) inner(ctx context.Context, name string) (payload, error) {
	raw, err := o.member(ctx, name)
	if err != nil || len(raw) == 0 || string(raw) == "null" {
		return nil, err
	}
	return members(raw)
}

// list gives the objects of a list inside the payload.
func (o *object) list(ctx context.Context, name string) ([]payload, error) {
	raw, err := o.member(ctx, name)
	if err != nil {
		return nil, err
	}
	return objectsIn(raw)
}

// textOf reads a text out of a payload.
func textOf(data payload, name string) string {
	s, _ := decode(data.get(name)).(string)
	return s
}

// newAccount is an account that stands in a payload; nil for null. It may be a person, an organization or a
// bot.
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

// newRepository is a repository of which a payload is at hand.
func newRepository(data payload) *object {
	owner, name, _ := strings.Cut(textOf(data, "full_name"), "/")
	return &object{kind: "Repository", data: data, source: source{Path: web.Path("repos", owner, name)}}
}

// repositoryAt is a repository of which only the address is at hand.
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

// path is the address of what is below a repository.
func (o *object) path(segments ...string) string { return o.source.Path + web.Path(segments...) }

// one makes a resolver of what gives the value for one parent.
func one(value func(ctx context.Context, f *exec.Field, o *object) (any, error)) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		values := make([]any, len(parents))
		for n, p := range parents {
			v, err := value(ctx, f, p.(*object))
			if values[n] = v; err != nil {
				values[n] = asError(err)
			}
		}
		return values
	}
}

// same is a field that has a member's value.
func same(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		raw, err := o.member(ctx, member)
		if len(raw) == 0 || string(raw) == "null" {
			return nil, err
		}
		return raw, err // it goes into the answer as it is
	})
}

// orEmpty is same for a text that is never null.
func orEmpty(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		v, err := o.value(ctx, member)
		if v == nil {
			v = ""
		}
		return v, err
	})
}

// upper is same for what is an enum in the schema.
func upper(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		v, err := o.value(ctx, member)
		if s, ok := v.(string); ok && s != "" {
			return enumName(s), err
		}
		return nil, err
	})
}

// enumName writes a word of REST as enums have it: "off-topic" is OFF_TOPIC.
func enumName(s string) string { return strings.ToUpper(enumWords.Replace(s)) }

var enumWords = strings.NewReplacer("-", "_", " ", "_")

// always is a field with one value for all.
func always(value any) exec.Resolver {
	return func(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
		values := make([]any, len(parents))
		for n := range values {
			values[n] = value
		}
		return values
	}
}

// isNull tells whether a member is null, or with want false whether it is not.
func isNull(member string, want bool) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		v, err := o.value(ctx, member)
		return (v == nil) == want, err
	})
}

// accountField is a field that has an account.
func accountField(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		data, err := o.inner(ctx, member)
		return newAccount(data), err
	})
}

// resourcePath is the path of the page.
func resourcePath(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		u, err := url.Parse(o.text(ctx, member))
		if err != nil {
			return nil, err
		}
		return u.EscapedPath(), nil
	})
}

// inRepository is the repository of what is in one.
func inRepository(_ context.Context, _ *exec.Field, parents []exec.Object) []any {
	values := make([]any, len(parents))
	for n, p := range parents {
		values[n] = p.(*object).repo
	}
	return values
}

// computed is a field of a bare object.
func computed(_ context.Context, f *exec.Field, parents []exec.Object) []any {
	values := make([]any, len(parents))
	for n, p := range parents {
		values[n] = p.(bare).fields[f.Name]
	}
	return values
}
