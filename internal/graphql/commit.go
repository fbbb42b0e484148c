package graphql

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
)

// repositoryGit returns the fields of a repository about refs.
func repositoryGit() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"refs": refs, "object": named,
		"defaultBranchRef": refsOf(func(ctx context.Context, o *object) (*object, string, error) {
			branch, err := o.value(ctx, "default_branch")
			name, _ := branch.(string)
			return o, "refs/heads/" + name, err
		}),
		"ref": func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
			names := []string{f.Args["qualifiedName"].(string)}
			if !strings.HasPrefix(names[0], "refs/") {
				names = []string{"refs/heads/" + names[0], "refs/tags/" + names[0]}
			}
			var refs []*object
			for _, name := range names {
				for _, in := range objectsOf(parents) {
					refs = append(refs, refAt(in, name))
				}
			}
			q, values := queryOf(ctx), make([]any, len(parents))
			namedRefs(q, nil).load(ctx, q, refs)
			for n := range parents {
				for k := n; k < len(refs) && values[n] == nil; k += len(parents) {
					values[n] = q.shownRef(ctx, refs[k])
				}
			}
			return values
		},
	}
}

// refAt returns a ref by its full name.
func refAt(in *object, name string) *object {
	raw, _ := json.Marshal(name)
	return &object{kind: "Ref", data: payload{}.with("ref", raw), repo: in}
}

// namedRefs loads refs by their full names.
func namedRefs(q *query, _ *object) loader[string, payload] {
	l := loader[string, payload]{name: "refs", route: "/git/ref/{ref...}",
		key: func(o *object) string { return textOf(o.data, "ref") }}
	return full(l, q.load.Git.Refs)
}

// shownRef returns a ref that was loaded, nil if there is none, or an error.
func (q *query) shownRef(ctx context.Context, o *object) any {
	data, err := namedRefs(q, o).get(ctx, q, o)
	switch {
	case err != nil && !errs.Is(err, errs.NotFound):
		return asError(err)
	case data == nil:
		return nil
	}
	return &object{kind: "Ref", data: data, whole: true, repo: o.repo}
}

// ref returns a ref by its full name, or nil if there is none.
func (q *query) ref(ctx context.Context, in *object, name string) (any, error) {
	v := q.shownRef(ctx, refAt(in, name))
	if err, failed := v.(error); failed {
		return nil, err
	}
	return v, nil
}

// refsOf returns a resolver of a ref of each parent. at returns the ref's repository, nil for none, and its full
// name.
func refsOf(at func(ctx context.Context, o *object) (in *object, name string, err error)) exec.Resolver {
	return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
		q, values, refs := queryOf(ctx), make([]any, len(parents)), make([]*object, len(parents))
		var some []*object
		for n, o := range objectsOf(parents) {
			in, name, err := at(ctx, o)
			switch {
			case err != nil:
				values[n] = asError(err)
			case in != nil:
				refs[n] = refAt(in, name)
				some = append(some, refs[n])
			}
		}
		namedRefs(q, nil).load(ctx, q, some)
		for n, o := range refs {
			if o != nil {
				values[n] = q.shownRef(ctx, o)
			}
		}
		return values
	}
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

// listedCommit returns a commit of a list.
func listedCommit(in *object, outer payload) (*object, error) {
	data, err := plainCommit(outer)
	return &object{kind: "Commit", data: data, whole: true, repo: in}, err
}

// plainCommit returns the Git commit in a commit of a list. REST nests it and puts the accounts next to it.
func plainCommit(outer payload) (payload, error) {
	data, err := members(outer.get("commit"))
	if err != nil {
		return nil, err
	}
	for _, name := range [...]string{"sha", "node_id", "html_url"} {
		data = data.with(name, outer.get(name))
	}
	return data.with("author_account", outer.get("author")).with("committer_account", outer.get("committer")).
		with("parents", outer.get("parents")), nil
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
		"signature": signatureOf("committer"),
		"history":   histories, "parents": one(parents),
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
			data, err := a.commit.inner(ctx, a.member+"_account")
			if err != nil || textOf(data, "type") != "User" {
				return nil, err
			}
			return newAccount(data), nil
		}),
	}
}
