package graphql

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// repository finds a repository by its name, also by a former one.
func (q *query) repository(ctx context.Context, owner, name string) (*object, error) {
	data, err := q.object(ctx, Question{Path: web.Path("repos", owner, name)})
	if err != nil {
		return nil, err
	}
	r := newRepository(data)
	r.whole = true
	return r, nil
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

// fillRepositories asks for the full form of the repositories that were met in a list, of all at one time.
func fillRepositories(next exec.Resolver) exec.Resolver {
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		q := queryOf(ctx)
		var missing []*object
		for _, p := range parents {
			if o := p.(*object); !o.whole && o.data.get("id") != nil {
				missing = append(missing, o)
			}
		}
		id := func(o *object) string { return string(o.data.get("id")) }
		for part := range slices.Chunk(missing, maxLoaded) {
			if len(missing) == 1 {
				break
			}
			list, _, err := q.list(ctx, Question{Path: "/repositories/" + id(part[0]),
				Handler: q.with.Repositories.ListFull,
				Query:   url.Values{"ids": {joinedBy(part, id)}}})
			if err != nil {
				return failed(asError(err), len(parents))
			}
			full := map[string]payload{}
			for _, data := range list {
				full[string(data.get("id"))] = data
			}
			for _, o := range part {
				if data := full[id(o)]; data != nil {
					o.data, o.whole = data, true
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
		"collaborators": one(collaborators), "forks": one(forks),
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
		"viewerHasStarred": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			path := "/user/starred" + strings.TrimPrefix(o.source.Path, "/repos")
			_, err := queryOf(ctx).read(ctx, Question{Path: path})
			if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Forbidden) {
				return false, nil
			}
			return err == nil, err
		}),
		"viewerSubscription": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := queryOf(ctx).object(ctx, Question{Path: o.path("subscription")})
			switch {
			case errs.Is(err, errs.NotFound):
				return "UNSUBSCRIBED", nil
			case errs.Is(err, errs.Forbidden): // the token does not tell
				return nil, nil
			case err != nil:
				return nil, err
			case string(data.get("ignored")) == "true":
				return "IGNORED", nil
			}
			return "SUBSCRIBED", nil
		}),
	}
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
		"languages": one(languages),
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

// languages lists those of the code, most of it first.
func languages(ctx context.Context, f *exec.Field, o *object) (any, error) {
	data, err := queryOf(ctx).object(ctx, Question{Path: o.path("languages")})
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	names := make([]string, 0, len(data))
	for _, m := range data {
		name := string(m.name)
		sizes[name], _ = strconv.ParseInt(string(m.value), 10, 64)
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	all := make([]any, len(names))
	for n, name := range names {
		all[n] = &edge{kind: "LanguageEdge", node: bare{"Language", map[string]any{"name": name}},
			fields: map[string]any{"size": sizes[name]}}
	}
	return connectAll(f, "LanguageConnection", all)
}

// people is a list of accounts below a repository, in an order.
func people(segment string, in *rank) exec.Resolver {
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		return queryOf(ctx).connect(ctx, f,
			pages{kind: "UserConnection", question: Question{Path: o.path(segment)}, rank: in,
				node: func(data payload) (any, error) { return newAccount(data), nil }})
	})
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

// all asks for a list, whole, up to a number of pages of a hundred.
func (q *query) all(ctx context.Context, question Question, most int) (list []payload, err error) {
	for n := 1; n <= most; n++ {
		page, next, err := q.list(ctx, paged(question, n, web.MaxPageSize))
		if err != nil {
			return nil, err
		}
		list = append(list, page...)
		if !next {
			break
		}
	}
	return list, nil
}
