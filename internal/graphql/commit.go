package graphql

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
)

// repositoryGit returns the fields of a repository about refs.
func repositoryGit() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"refs": one(refs), "object": one(named),
		"defaultBranchRef": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return queryOf(ctx).ref(ctx, o, "refs/heads/"+o.text(ctx, "default_branch"))
		}),
		"ref": one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
			name := f.Args["qualifiedName"].(string)
			if strings.HasPrefix(name, "refs/") {
				return queryOf(ctx).ref(ctx, o, name)
			}
			branch, err := queryOf(ctx).ref(ctx, o, "refs/heads/"+name)
			if branch != nil || err != nil {
				return branch, err
			}
			return queryOf(ctx).ref(ctx, o, "refs/tags/"+name)
		}),
	}
}

// ref returns a ref by its full name, or nil if there is none.
func (q *query) ref(ctx context.Context, in *object, name string) (any, error) {
	short := strings.TrimPrefix(name, "refs/")
	if strings.HasSuffix(short, "/") || short == "" {
		return nil, nil
	}
	data, err := q.object(ctx, Question{Path: in.source.Path + "/git/ref/" + escapeRef(short)})
	switch {
	// an empty repository
	case errs.Is(err, errs.NotFound), errs.Is(err, errs.Conflict), errs.Is(err, errs.Invalid):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &object{kind: "Ref", data: data, whole: true, repo: in}, nil
}

// escapeRef escapes the segments of a ref, and keeps the slashes between them.
func escapeRef(name string) string {
	segments := strings.Split(name, "/")
	for n, s := range segments {
		segments[n] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}

func refFields() map[string]exec.Resolver {
	parts := func(o *object) (prefix, name string) {
		full := textOf(o.data, "ref")
		for _, prefix := range [...]string{"refs/heads/", "refs/tags/", "refs/pull/"} {
			if name, ok := strings.CutPrefix(full, prefix); ok {
				return prefix, name
			}
		}
		at := strings.LastIndexByte(full, '/') + 1
		return full[:at], full[at:]
	}
	return map[string]exec.Resolver{
		"id": same("node_id"), "repository": inRepository, "branchProtectionRule": always(nil),
		"compare": compare,
		"name": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			_, name := parts(o)
			return name, nil
		}),
		"prefix": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			prefix, _ := parts(o)
			return prefix, nil
		}),
		"target": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			to, err := o.inner(ctx, "object")
			if err != nil {
				return nil, err
			}
			return gitObject(o.repo, textOf(to, "type"), textOf(to, "sha")), nil
		}),
	}
}

// gitObject returns a Git object whose payload is not loaded yet.
func gitObject(in *object, kind, sha string) *object {
	raw, _ := json.Marshal(sha)
	o := &object{kind: "Commit", data: payload{}.with("sha", raw), repo: in}
	switch kind {
	case "tree":
		o.kind, o.source.Path = "Tree", in.path("git", "trees", sha)
	case "blob":
		o.kind, o.source.Path = "Blob", in.path("git", "blobs", sha)
	case "tag":
		o.kind, o.source.Path = "Tag", in.path("git", "tags", sha)
	default:
		o.source.Path = in.path("git", "commits", sha)
	}
	return o
}

// listedCommit returns a commit of a list. REST nests the Git commit and puts the accounts next to it.
func listedCommit(in *object, outer payload) (*object, error) {
	data, err := members(outer.get("commit"))
	if err != nil {
		return nil, err
	}
	for _, name := range [...]string{"sha", "node_id", "html_url"} {
		data = data.with(name, outer.get(name))
	}
	data = data.with("author_account", outer.get("author")).with("committer_account", outer.get("committer")).
		with("parents", outer.get("parents"))
	return &object{kind: "Commit", data: data, whole: true, repo: in}, nil
}

// gitObjectFields returns the fields of all Git objects.
func gitObjectFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"oid": same("sha"), "repository": inRepository,
		"abbreviatedOid": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return textOf(o.data, "sha")[:7], nil
		}),
		"id": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			number, err := repositoryID(ctx, o.repo) // this is how REST makes these ids
			inner := account.NodeID(o.kind, number) + ":" + textOf(o.data, "sha")
			return base64.RawURLEncoding.EncodeToString([]byte(inner)), err
		}),
	}
}

func commitFields() map[string]exec.Resolver {
	headline := func(message string) string { first, _, _ := strings.Cut(message, "\n"); return first }
	body := func(message string) string {
		_, rest, _ := strings.Cut(message, "\n")
		return strings.TrimLeft(rest, "\n")
	}
	message := func(part func(string) string) exec.Resolver {
		return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			v, err := o.value(ctx, "message")
			text, _ := v.(string)
			return part(text), err
		})
	}
	date := func(member string) exec.Resolver {
		return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			who, err := o.inner(ctx, member)
			return decode(who.get("date")), err
		})
	}
	fields := merge(map[string]exec.Resolver{
		"message": same("message"), "messageHeadline": message(headline), "messageBody": message(body),
		"authoredDate": date("author"), "committedDate": date("committer"), "url": same("html_url"),
		"resourcePath": resourcePath("html_url"),
		"author": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return actor(ctx, o, "author")
		}),
		"committer": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return actor(ctx, o, "committer")
		}),
		"authors": one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
			author, err := actor(ctx, o, "author")
			if err != nil {
				return nil, err
			}
			return connectAll(f, "GitActorConnection", []any{author})
		}),
		"history": histories, "parents": one(parents),
		"tree": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			tree, err := o.inner(ctx, "tree")
			if err != nil {
				return nil, err
			}
			return gitObject(o.repo, "tree", textOf(tree, "sha")), nil
		}),
	})
	for name, r := range fields {
		fields[name] = filled(namedCommits, anyObject, r)
	}
	return merge(gitObjectFields(), fields, map[string]exec.Resolver{
		"associatedPullRequests": associated,
		"statusCheckRollup":      rollups(itsCommit, whole), "status": rollups(itsCommit, combined),
		"checkSuites": checkSuites,
	})
}

func itsCommit(_ context.Context, o *object) (*object, error) { return o, nil }

// gitActor is the author or committer of a commit.
type gitActor struct {
	commit *object
	member string // author or committer
	data   payload
}

func (*gitActor) TypeName() string { return "GitActor" }

func actor(ctx context.Context, o *object, member string) (any, error) {
	data, err := o.inner(ctx, member)
	if err != nil {
		return nil, err
	}
	return &gitActor{o, member, data}, nil
}

func gitActorFields() map[string]exec.Resolver {
	each := func(value func(ctx context.Context, a *gitActor) (any, error)) exec.Resolver {
		return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			values := make([]any, len(parents))
			for n, p := range parents {
				v, err := value(ctx, p.(*gitActor))
				if values[n] = v; err != nil {
					values[n] = asError(err)
				}
			}
			return values
		}
	}
	member := func(name string) exec.Resolver {
		return each(func(_ context.Context, a *gitActor) (any, error) {
			return decode(a.data.get(name)), nil
		})
	}
	return map[string]exec.Resolver{
		"name": member("name"), "email": member("email"), "date": member("date"),
		"user": each(func(ctx context.Context, a *gitActor) (any, error) {
			if a.member == "tagger" {
				return nil, nil // REST does not report the account of the address
			}
			raw, there := a.commit.data.find(a.member + "_account")
			if !there { // the plain commit does not have the account of the address
				sha := textOf(a.commit.data, "sha")
				data, err := queryOf(ctx).object(ctx, Question{Path: a.commit.repo.path("commits", sha)})
				if err != nil {
					return nil, err
				}
				raw = data.get(a.member)
			}
			data, err := members(raw)
			if err != nil || textOf(data, "type") != "User" {
				return nil, err
			}
			return newAccount(data), nil
		}),
	}
}
