package graphql

import (
	"context"

	"arbor/internal/graphql/exec"
	"arbor/internal/web"
)

// repositoryReleases returns the fields of a repository about releases.
func repositoryReleases() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"releases": connections(releases),
		"release": func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
			tag := f.Args["tagName"].(string)
			return shownReleases(ctx, parents, releasesTagged(queryOf(ctx), func(*object) string { return tag }))
		},
		"latestRelease": func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			return shownReleases(ctx, parents, latestReleases(queryOf(ctx)))
		},
	}
}

// releases lists the releases of a repository.
func releases(ctx context.Context, f *exec.Field, o *object) (pages, error) {
	if order, ok := f.Args["orderBy"].(map[string]any); ok && (order["field"] != "CREATED_AT" ||
		order["direction"] != "DESC") {
		return pages{}, refused("Arbor lists releases by CREATED_AT, DESC.")
	}
	l := loader[string, *web.List[payload]]{name: "releases", route: "/releases", media: textMedia(f)}
	return pages{kind: "ReleaseConnection", many: ofRepositories(l, queryOf(ctx).load.Releases.ListMany),
		rank: byMembers(true, "created_at", "id"),
		node: func(data payload) (any, error) { return newRelease(o, data), nil }}, nil
}

// shownReleases returns the releases that a loader finds for repositories; nil where there is none.
func shownReleases(ctx context.Context, parents []exec.Object, l loader[string, payload]) []any {
	return l.values(ctx, parents, func(o *object, data payload) (any, error) {
		if data == nil {
			return nil, nil
		}
		return newRelease(o, data), nil
	})
}

// releasesTagged loads releases by their tags.
func releasesTagged(q *query, tag func(o *object) string) loader[string, payload] {
	return full(loader[string, payload]{name: "releases of tags", route: "/releases/tags/{tag...}", key: tag},
		q.load.Releases.ByTags)
}

// latestReleases loads the latest releases of repositories.
func latestReleases(q *query) loader[string, payload] {
	return fullOnce("latest releases", "/releases/latest", q.load.Releases.Latest)
}

// releasesByID loads releases by id.
func releasesByID(q *query, o *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "releases by id", route: "/releases/{release_id}", media: o.source.Media,
		key: byIdentity}
	return full(l, q.load.Releases.ByIDs)
}

// newRelease returns a release for its payload.
func newRelease(in *object, data payload) *object {
	return &object{kind: "Release", data: data, whole: true, repo: in,
		source: source{Path: in.path("releases",
			string(data.get("id")))}}
}

func releaseFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"id": same("node_id"), "databaseId": same("id"), "name": same("name"), "tagName": same("tag_name"),
		"description": same("body"), "isDraft": same("draft"), "isPrerelease": same("prerelease"),
		"createdAt": same("created_at"), "publishedAt": same("published_at"), "updatedAt": same("updated_at"),
		"url": same("html_url"), "resourcePath": resourcePath("html_url"), "author": accountField("author"),
		"repository": inRepository, "releaseAssets": one(releaseAssets),
		"descriptionHTML": texts("body_html"),
		"tag":             tagsOf(func(ref *object) any { return ref }),
		"tagCommit": tagsOf(func(ref *object) any {
			return gitObject(ref.repo, "commit", textOf(ref.data, "leads_to"))
		}),
		"isLatest": func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			return latestReleases(queryOf(ctx)).values(ctx, parents, func(o *object, latest payload) (any, error) {
				return latest != nil && string(latest.get("id")) == string(o.data.get("id")), nil
			})
		},
	}
}

// releaseAssets resolves the files of a release, or those with a name.
func releaseAssets(ctx context.Context, f *exec.Field, o *object) (any, error) {
	list, err := o.list(ctx, "assets")
	if err != nil {
		return nil, err
	}
	var all []any
	for _, data := range list {
		if name, ok := f.Args["name"].(string); !ok || name == textOf(data, "name") {
			all = append(all, newAsset(o.repo, o, data))
		}
	}
	return connectAll(f, "ReleaseAssetConnection", all)
}

func newAsset(in, of *object, data payload) *object {
	return &object{kind: "ReleaseAsset", data: data, whole: true, repo: in, of: of}
}

func releaseAssetFields() map[string]exec.Resolver {
	return map[string]exec.Resolver{"id": same("node_id"), "name": same("name"),
		"contentType": same("content_type"), "size": same("size"),
		"downloadCount": same("download_count"), "downloadUrl": same("browser_download_url"),
		"url":       same("browser_download_url"),
		"createdAt": same("created_at"), "updatedAt": same("updated_at"),
		"uploadedBy": accountField("uploader"),
		"release":    ofPull}
}

// tagsOf returns a resolver of a value of releases' tags. It is null for a draft whose tag does not exist yet.
func tagsOf(value func(ref *object) any) exec.Resolver {
	next := refsOf(func(ctx context.Context, o *object) (*object, string, error) {
		tag, err := o.value(ctx, "tag_name")
		name, _ := tag.(string)
		return o.repo, "refs/tags/" + name, err
	})
	return func(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
		values := next(ctx, f, parents)
		for n, v := range values {
			if ref, ok := v.(*object); ok {
				values[n] = value(ref)
			}
		}
		return values
	}
}
