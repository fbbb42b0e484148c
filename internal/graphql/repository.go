package graphql

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/star"
	"arbor/internal/web"
)

// repository finds a repository by its name, also by a former one. Error: 404.
func (q *query) repository(ctx context.Context, owner, name string) (*object, error) {
	at := repositoryAt(web.Path("repos", owner, name))
	data, err := wholeRepositories(q, at).get(ctx, q, at)
	if err == nil && data == nil {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	r := newRepository(data)
	r.whole = true
	return r, nil
}

// wholeRepositories loads full repositories by their names.
func wholeRepositories(q *query, _ *object) loader[string, payload] {
	return fullOnce("repositories", "", q.load.Lists.Full)
}

// repositoriesByID returns repositories by id. It omits those that are hidden from the caller.
func (q *query) repositoriesByID(ctx context.Context, ids []int64) (map[int64]*object, error) {
	ctx, caller, err := q.on(ctx, "GET /repositories/{repository_id}")
	if err != nil {
		return nil, err
	}
	repos := map[int64]*object{}
	for part := range slices.Chunk(db.Unique(ids), maxLoaded) {
		found, err := q.load.Lists.ByIDs(ctx, caller, asIDs[repo.ID](part))
		if err != nil {
			return nil, q.noteError(err)
		}
		full, err := q.load.Lists.Full(ctx, slices.Collect(maps.Values(found)))
		if err != nil {
			return nil, q.noteError(err)
		}
		for id, shown := range full {
			data, err := q.show(ctx, shown)
			if err != nil {
				return nil, err
			}
			repos[int64(id)] = newRepository(data)
			repos[int64(id)].whole = true
		}
	}
	return repos, nil
}

// repositoryByName is Query.repository.
func repositoryByName(ctx context.Context, f *exec.Field) (any, error) {
	owner, name := f.Args["owner"].(string), f.Args["name"].(string)
	r, err := queryOf(ctx).repository(ctx, owner, name)
	if err != nil {
		return nil, orUnresolved(err, fmt.Sprintf("a Repository with the name '%s/%s'",
			clip(owner), clip(name)))
	}
	return r, nil
}

// fillRepositories loads the full form of the repositories that were met in a list, all with one call.
func fillRepositories(next exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		var missing []*object
		for _, o := range objectsOf(parents) {
			if !o.whole && o.data.get("id") != nil {
				missing = append(missing, o)
			}
		}
		if len(missing) > 0 {
			ids := make([]int64, len(missing))
			for n, o := range missing {
				ids[n] = byIdentity(o)
			}
			found, err := q.repositoriesByID(ctx, ids)
			if err != nil {
				return failed(asError(err), len(parents))
			}
			for n, o := range missing {
				if full := found[ids[n]]; full != nil {
					o.data, o.whole = full.data, true
				}
			}
		}
		return next(ctx, f, parents)
	}
}

func repositoryFields() map[string]exec.Resolver {
	fields := repositoryTables()
	for _, name := range [...]string{"parent", "templateRepository", "licenseInfo", "mergeCommitAllowed",
		"squashMergeAllowed",
		"rebaseMergeAllowed", "autoMergeAllowed", "deleteBranchOnMerge", "allowUpdateBranch"} {
		fields[name] = fillRepositories(fields[name])
	}
	return fields
}

func repositoryTables() map[string]exec.Resolver {
	return merge(map[string]exec.Resolver{
		"id": same("node_id"), "databaseId": same("id"), "name": same("name"),
		"nameWithOwner": same("full_name"),
		"owner":         accountField("owner"), "description": same("description"), "url": same("html_url"),
		"resourcePath": resourcePath("html_url"), "sshUrl": same("ssh_url"), "homepageUrl": same("homepage"),
		"createdAt": same("created_at"), "updatedAt": same("updated_at"), "pushedAt": same("pushed_at"),
		"diskUsage": same("size"), "isPrivate": same("private"), "isFork": same("fork"),
		"isArchived": same("archived"),
		"isDisabled": same("disabled"), "isTemplate": same("is_template"), "visibility": upper("visibility"),
		"forkCount": same("forks_count"), "stargazerCount": same("stargazers_count"),
		"forkingAllowed":   same("allow_forking"),
		"hasIssuesEnabled": same("has_issues"), "hasProjectsEnabled": same("has_projects"),
		"hasWikiEnabled":        same("has_wiki"),
		"hasDiscussionsEnabled": same("has_discussions"), "mirrorUrl": same("mirror_url"),
		"isEmpty": isNull("pushed_at", true),
		// What Arbor does not have.
		"isLocked": always(false), "isMirror": always(false),
		"isSecurityPolicyEnabled": always(nil), "securityPolicyUrl": always(nil),
		"codeOfConduct": always(nil),
		"fundingLinks":  always([]any{}), "usesCustomOpenGraphImage": always(false),
		"viewerDefaultMergeMethod": always("MERGE"), "viewerDefaultCommitEmail": always(nil),
		"viewerPossibleCommitEmails":    always(nil),
		"hasVulnerabilityAlertsEnabled": always(false), "mergeQueue": always(nil),
		"collaborators": collaborators, "forks": forks,
		"projects": none("ProjectConnection"), "projectsV2": none("ProjectV2Connection"),
		// REST returns the merge settings only with push access. Other callers get the values of a new
		// repository.
		"mergeCommitAllowed":  setting("allow_merge_commit", true),
		"squashMergeAllowed":  setting("allow_squash_merge", true),
		"rebaseMergeAllowed":  setting("allow_rebase_merge", true),
		"autoMergeAllowed":    setting("allow_auto_merge", false),
		"deleteBranchOnMerge": setting("delete_branch_on_merge", false),
		"allowUpdateBranch":   setting("allow_update_branch", false),
		"openGraphImageUrl": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			owner, err := o.inner(ctx, "owner")
			return decode(owner.get("avatar_url")), err
		}),
		"isInOrganization": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			owner, err := o.inner(ctx, "owner")
			return textOf(owner, "type") == "Organization", err
		}),
		"isUserConfigurationRepository": one(func(ctx context.Context, _ *exec.Field,
			o *object) (any, error) {
			owner, err := o.inner(ctx, "owner")
			return textOf(owner, "type") == "User" && textOf(owner, "login") == o.text(ctx, "name"), err
		}),
		"parent": otherRepository("parent"), "templateRepository": otherRepository("template_repository"),
	}, repositoryViewer(), repositoryTexts(), repositoryTemplates(), repositoryIssues(), repositoryPulls(),
		repositoryGit(), repositoryReleases())
}

// otherRepository is a repository that stands in a payload; null if there is none, or it is not to be
// seen.
func otherRepository(member string) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		data, err := o.inner(ctx, member)
		if data == nil {
			return nil, err
		}
		return newRepository(data), nil
	})
}

// setting is a member that REST returns only to some callers.
func setting(member string, otherwise bool) exec.Resolver {
	return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
		v, err := o.value(ctx, member)
		if v == nil {
			v = otherwise
		}
		return v, err
	})
}

// repositoryViewer returns the fields about the viewer.
func repositoryViewer() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"viewerPermission": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return permissionOn(ctx, o)
		}),
		"viewerCanAdminister": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			p, err := permissionOn(ctx, o)
			return p == "ADMIN", err
		}),
		"viewerHasStarred": viewerHasStarred, "viewerSubscription": viewerSubscription,
	}
}

// viewerHasStarred resolves whether the caller has starred repositories. A token that does not tell has not.
func viewerHasStarred(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	l := perRepository("starred", "GET /user/starred/{owner}/{repo}", q.load.Stars.Starred)
	l.load(ctx, q, objectsOf(parents))
	for n, o := range objectsOf(parents) {
		starred, err := l.get(ctx, q, o)
		if values[n] = starred; errs.Is(err, errs.NotFound) || errs.Is(err, errs.Forbidden) {
			values[n] = false
		} else if err != nil {
			values[n] = asError(err)
		}
	}
	return values
}

// viewerSubscription resolves how the caller is subscribed to repositories.
func viewerSubscription(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	q, values := queryOf(ctx), make([]any, len(parents))
	l := perRepository("subscription", "/subscription", q.load.Stars.Subscriptions)
	l.load(ctx, q, objectsOf(parents))
	for n, o := range objectsOf(parents) {
		wish, err := l.get(ctx, q, o)
		switch {
		case errs.Is(err, errs.Forbidden): // the token does not tell
		case err != nil && !errs.Is(err, errs.NotFound):
			values[n] = asError(err)
		default:
			values[n] = [...]string{star.NoWish: "UNSUBSCRIBED", star.Everything: "SUBSCRIBED",
				star.Nothing: "IGNORED"}[wish]
		}
	}
	return values
}

// perRepository returns a loader for a feature's function that reads what repositories have once.
func perRepository[V any](
	name, route string, read func(ctx context.Context, list []*repo.Access) (map[repo.ID]V, error),
) loader[string, V] {
	return loader[string, V]{name: name, route: route, key: func(*object) string { return "" },
		read: func(ctx context.Context, list []repo.Of[string]) (map[repo.Of[string]]V, error) {
			found, err := read(ctx, slices.Collect(maps.Values(repo.In(list))))
			out := map[repo.Of[string]]V{}
			for _, of := range list {
				if v, there := found[of.In.ID]; there {
					out[of] = v
				}
			}
			return out, err
		}}
}

// permissionOn is what the caller may do with a repository.
func permissionOn(ctx context.Context, o *object) (string, error) {
	may, err := o.inner(ctx, "permissions")
	if err != nil {
		return "", err
	}
	return permissionIn(may), nil
}

// permissionIn is what REST's permissions come to.
func permissionIn(may payload) string {
	switch {
	case string(may.get("admin")) == "true":
		return "ADMIN"
	case string(may.get("push")) == "true":
		return "WRITE"
	}
	return "READ"
}

// repositoryTexts are the fields about what is in the code.
func repositoryTexts() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"primaryLanguage": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			name, err := o.value(ctx, "language")
			if name == nil {
				return nil, err
			}
			return bare{"Language", map[string]any{"name": name}}, nil
		}),
		"languages": languages,
		"licenseInfo": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := o.inner(ctx, "license")
			if data == nil {
				return nil, err
			}
			return bare{"License", map[string]any{"key": decode(data.get("key")),
				"name":   decode(data.get("name")),
				"spdxId": decode(data.get("spdx_id")), "nickname": nil}}, nil
		}),
		"repositoryTopics": one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
			topics, err := o.value(ctx, "topics")
			names, _ := topics.([]any)
			all := make([]any, len(names))
			for n, name := range names {
				text, _ := name.(string)
				all[n] = bare{"RepositoryTopic", map[string]any{
					"url":   web.From(ctx).Page("/search?" + url.Values{"q": {"topic:" + text}}.Encode()),
					"topic": bare{"Topic", map[string]any{"name": text}}}}
			}
			if err != nil {
				return nil, err
			}
			return connectAll(f, "RepositoryTopicConnection", all)
		}),
	}
}

// languages resolves the languages of the code, most of it first.
func languages(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q := queryOf(ctx)
	l := perRepository("languages", "/languages", q.load.Languages.LanguagesOf)
	return l.values(ctx, parents, func(_ *object, sizes map[string]int64) (any, error) {
		names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
			return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
		})
		all := make([]any, len(names))
		for n, name := range names {
			all[n] = &edge{kind: "LanguageEdge", node: bare{"Language", map[string]any{"name": name}},
				fields: map[string]any{"size": sizes[name]}}
		}
		return connectAll(f, "LanguageConnection", all)
	})
}

// people resolves a list of accounts that repositories have, in an order.
func people(many func(q *query) listLoader[string], in *rank) exec.Resolver {
	return connections(func(ctx context.Context, _ *exec.Field, _ *object) (pages, error) {
		return pages{kind: "UserConnection", many: many(queryOf(ctx)), rank: in,
			node: func(data payload) (any, error) { return newAccount(data), nil }}, nil
	})
}

// watchers loads who watches repositories.
func watchers(q *query) listLoader[string] {
	return ofRepositories(loader[string, *web.List[payload]]{name: "watchers", route: "/subscribers"},
		func(ctx context.Context, list []*repo.Access, page web.Page) (
			map[repo.ID]*web.List[*account.Simple], error) {
			return q.load.Stars.PeopleOf(ctx, list, star.Watch, page)
		})
}

// fullOnce returns a loader of full payloads of what repositories have once.
func fullOnce[V any](
	name, route string, read func(ctx context.Context, list []*repo.Access) (map[repo.ID]V, error),
) loader[string, payload] {
	l := loader[string, payload]{name: name, route: route, key: func(*object) string { return "" }}
	return full(l, perRepository(name, route, read).read)
}

// merge joins tables of fields.
func merge(tables ...map[string]exec.Resolver) map[string]exec.Resolver {
	all := map[string]exec.Resolver{}
	for _, t := range tables {
		for name, r := range t {
			all[name] = r
		}
	}
	return all
}
