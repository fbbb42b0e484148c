package graphql

import (
	"context"
	"encoding/base64"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
)

// repositoryGit returns the fields of a repository about refs.
func repositoryGit() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"refs": refs, "object": named, "codeowners": codeOwners, "submodules": submodules,
		"defaultBranchRef": refsOf(func(ctx context.Context, o *object) (*object, string, error) {
			if err := queryOf(ctx).loadOne(ctx, o, isKnown); err != nil {
				return nil, "", err
			}
			return o, heads + o.value.(*repo.FullPayload).DefaultBranch, nil
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
			namedRefs(q).load(ctx, q, refs)
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
func refAt(in *object, name string) *object { return &object{kind: "Ref", name: name, repo: in} }

// namedRefs loads refs by their full names.
func namedRefs(q *query) loader[string, *gitdata.RefPayload] {
	return loader[string, *gitdata.RefPayload]{name: "refs", route: "/git/ref/{ref...}", key: byName,
		read: q.load.Git.Refs}
}

// shownRef returns a ref that was loaded, nil if there is none, or an error.
func (q *query) shownRef(ctx context.Context, o *object) any {
	switch err := q.loadOne(ctx, o, isWhole); {
	case err == nil:
		return o
	case !errs.Is(err, errs.NotFound):
		return asError(err)
	}
	return nil
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
		namedRefs(q).load(ctx, q, some)
		for n, o := range refs {
			if o != nil {
				values[n] = q.shownRef(ctx, o)
			}
		}
		return values
	}
}

func refFields() map[string]exec.Resolver {
	parts := func(full string) (prefix, name string) {
		for _, prefix := range [...]string{heads, "refs/tags/", "refs/pull/"} {
			if name, ok := strings.CutPrefix(full, prefix); ok {
				return prefix, name
			}
		}
		at := strings.LastIndexByte(full, '/') + 1
		return full[:at], full[at:]
	}
	return merge(after(isWhole, map[string]exec.Resolver{
		"id":      pick(func(r *gitdata.RefPayload) any { return r.NodeID }),
		"compare": compare, "associatedPullRequests": pullsFrom,
		"target": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			to := o.value.(*gitdata.RefPayload).Object
			return gitObject(o.repo, to.Type, to.SHA), nil
		}),
	}), map[string]exec.Resolver{
		"repository": inRepository, "branchProtectionRule": protectionOfRefs, "refUpdateRule": updateRules, "rules": rulesOfRefs,
		"name":   key(func(o *object) any { _, name := parts(o.name); return name }),
		"prefix": key(func(o *object) any { prefix, _ := parts(o.name); return prefix }),
	})
}

// gitObject returns a Git object that is not loaded.
func gitObject(in *object, kind, sha string) *object {
	o := &object{kind: "Commit", name: sha, repo: in}
	switch kind {
	case "tree", "blob", "tag":
		o.kind = strings.ToUpper(kind[:1]) + kind[1:]
	}
	return o
}

// listedCommit returns a commit of a list.
func listedCommit(in *object, c *gitdata.CommitPayload) *object {
	return &object{kind: "Commit", value: c, whole: true, name: c.SHA, repo: in}
}

// gitObjectFields returns the fields of all Git objects.
func gitObjectFields() map[string]exec.Resolver {
	return merge(addresses("commit", func(o *object) string { return "/commit/" + o.name }), map[string]exec.Resolver{
		"oid": key(func(o *object) any { return o.name }), "repository": inRepository,
		"abbreviatedOid": key(func(o *object) any { return o.name[:7] }),
		"id": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return inRepositoryID(ctx, o.repo, o.kind, o.name)
		}),
	})
}

// inRepositoryID returns a node id of a repository and a name in it. This is how REST makes those of Git objects.
func inRepositoryID(ctx context.Context, in *object, kind, name string) (any, error) {
	err := queryOf(ctx).identify(ctx, in)
	return base64.RawURLEncoding.EncodeToString([]byte(account.NodeID(kind, in.id) + ":" + name)), err
}

// ofCommit is pick for commits.
func ofCommit(part func(c *gitdata.CommitPayload) any) exec.Resolver { return pick(part) }

func commitFields() map[string]exec.Resolver {
	type commit = *gitdata.CommitPayload
	fields := map[string]exec.Resolver{
		"message": ofCommit(func(c commit) any { return c.Commit.Message }),
		"messageHeadline": ofCommit(func(c commit) any {
			first, _, _ := strings.Cut(c.Commit.Message, "\n")
			return first
		}),
		"messageBody": ofCommit(func(c commit) any {
			_, rest, _ := strings.Cut(c.Commit.Message, "\n")
			return strings.TrimLeft(rest, "\n")
		}),
		"authoredDate":  ofCommit(func(c commit) any { return c.Commit.Author.Date }),
		"committedDate": ofCommit(func(c commit) any { return c.Commit.Committer.Date }),
		"url":           ofCommit(func(c commit) any { return c.HTMLURL }),
		"resourcePath":  ofCommit(func(c commit) any { return pathOf(c.HTMLURL) }),
		"author":        ofCommit(func(c commit) any { return authorOf(c) }),
		"committer": ofCommit(func(c commit) any {
			return newActor(c.Commit.Committer.Name, c.Commit.Committer.Email, c.Commit.Committer.Date, c.Committer)
		}),
		"authors": one(func(_ context.Context, f *exec.Field, o *object) (any, error) {
			return connectAll(f, "GitActorConnection", []any{authorOf(o.value.(commit))})
		}),
		"history": histories,
		"parents": one(func(_ context.Context, f *exec.Field, o *object) (any, error) {
			var all []any
			for _, p := range o.value.(commit).Parents {
				all = append(all, gitObject(o.repo, "commit", p.SHA))
			}
			return connectAll(f, "CommitConnection", all)
		}),
		"signature": one(commitSignature),
		"tree": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			return gitObject(o.repo, "tree", o.value.(commit).Commit.Tree.SHA), nil
		}),
	}
	return merge(gitObjectFields(), after(isWhole, fields), after(isWhole, commitTexts()), commitSizes(),
		map[string]exec.Resolver{
			"associatedPullRequests": associated,
			"statusCheckRollup":      rollups(itself, wholeRollup), "status": rollups(itself, combined),
			"checkSuites": checkSuites, "comments": connections(commentsOnCommit),
			"deployments": connections(deploymentsOfCommits), "submodules": submodulesOfCommits,
		})
}

// newActor returns the author or committer of a commit, or the tagger of a tag. who is its account, if it is known.
func newActor(name, email, date string, who *account.Simple) bare {
	return bare{"GitActor", map[string]any{"name": name, "email": email, "date": date, "user": userOf(who)}}
}

func authorOf(c *gitdata.CommitPayload) bare {
	return newActor(c.Commit.Author.Name, c.Commit.Author.Email, c.Commit.Author.Date, c.Author)
}
