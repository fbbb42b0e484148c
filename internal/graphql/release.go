package graphql

import (
	"context"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/issue/text"
	"arbor/internal/markdown"
	"arbor/internal/release"
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
func releases(ctx context.Context, f *exec.Field, o *object) (pages[*release.Payload], error) {
	if order, ok := f.Args["orderBy"].(map[string]any); ok && (order["field"] != "CREATED_AT" ||
		order["direction"] != "DESC") {
		return pages[*release.Payload]{}, refused("Arbor lists releases by CREATED_AT, DESC.")
	}
	l := loader[string, *web.List[*release.Payload]]{name: "releases", route: "/releases", media: textMedia(f)}
	return pages[*release.Payload]{kind: "ReleaseConnection",
		many: ofRepositories(l, queryOf(ctx).load.Releases.ListMany),
		rank: rankBy(true, func(r *release.Payload) []any { return []any{r.CreatedAt, r.ID} }),
		node: func(r *release.Payload) (any, error) { return newRelease(o, r), nil }}, nil
}

// shownReleases returns the releases that a loader finds for repositories; nil where there is none.
func shownReleases(ctx context.Context, parents []exec.Object, l loader[string, *release.Payload]) []any {
	return l.values(ctx, parents, func(o *object, r *release.Payload) (any, error) {
		if r == nil {
			return nil, nil
		}
		return newRelease(o, r), nil
	})
}

// releasesTagged loads releases by their tags.
func releasesTagged(q *query, tag func(o *object) string) loader[string, *release.Payload] {
	return loader[string, *release.Payload]{name: "releases of tags", route: "/releases/tags/{tag...}", key: tag,
		read: q.load.Releases.ByTags}
}

// latestReleases loads the latest releases of repositories.
func latestReleases(q *query) loader[string, *release.Payload] {
	return perRepository("latest releases", "/releases/latest", q.load.Releases.Latest)
}

// releasesByID loads releases by id.
func releasesByID(q *query, media string) loader[int64, *release.Payload] {
	return loader[int64, *release.Payload]{name: "releases by id", route: "/releases/{release_id}", media: media,
		key: byID, read: q.load.Releases.ByIDs}
}

// newRelease returns a release.
func newRelease(in *object, r *release.Payload) *object {
	return &object{kind: "Release", value: r, whole: true, id: r.ID, repo: in}
}

// ofRelease is pick for releases.
func ofRelease(part func(r *release.Payload) any) exec.Resolver { return pick(part) }

func releaseFields() map[string]exec.Resolver {
	return merge(reactable(), map[string]exec.Resolver{
		"id":           ofRelease(func(r *release.Payload) any { return r.NodeID }),
		"databaseId":   ofRelease(func(r *release.Payload) any { return r.ID }),
		"name":         ofRelease(func(r *release.Payload) any { return r.Name }),
		"tagName":      ofRelease(func(r *release.Payload) any { return r.Tag }),
		"isDraft":      ofRelease(func(r *release.Payload) any { return r.Draft }),
		"isPrerelease": ofRelease(func(r *release.Payload) any { return r.Prerelease }),
		"createdAt":    ofRelease(func(r *release.Payload) any { return r.CreatedAt }),
		"publishedAt":  ofRelease(func(r *release.Payload) any { return r.PublishedAt }),
		"updatedAt":    ofRelease(func(r *release.Payload) any { return r.UpdatedAt }),
		"url":          ofRelease(func(r *release.Payload) any { return r.HTMLURL }),
		"resourcePath": ofRelease(func(r *release.Payload) any { return pathOf(r.HTMLURL) }),
		"author":       ofRelease(func(r *release.Payload) any { return newAccount(r.Author) }),
		"description": ofRelease(func(r *release.Payload) any {
			if r.Raw == nil {
				return nil
			}
			return *r.Raw
		}),
		"descriptionHTML":      texts(func(t text.Payload) **string { return t.HTML }),
		"shortDescriptionHTML": shortDescriptions, "mentions": mentions,
		"repository": inRepository, "releaseAssets": one(releaseAssets),
		"tag": tagsOf(func(ref *object) any { return ref }),
		"tagCommit": tagsOf(func(ref *object) any {
			return gitObject(ref.repo, "commit", string(ref.value.(*gitdata.RefPayload).LeadsTo))
		}),
		"isLatest": func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			return latestReleases(queryOf(ctx)).values(ctx, parents, func(o *object, latest *release.Payload) (any, error) {
				return latest != nil && latest.ID == o.id, nil
			})
		},
	})
}

// shortDescriptions resolves the first characters of the texts of releases, without links and markup.
func shortDescriptions(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	values := texts(func(t text.Payload) **string { return t.Text })(ctx, f, parents)
	for n, v := range values {
		if s, is := v.(string); is {
			values[n] = htmlOf(new(shortened(s, f)))
		}
	}
	return values
}

// mostMentioned limits how many people a release shows as mentioned.
const mostMentioned = 100

// mentions resolves the people whom the texts of releases mention, of all releases together.
func mentions(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, named, all := queryOf(ctx), make([][]string, len(parents)), []string(nil)
	for n, o := range objectsOf(parents) {
		if raw := o.value.(*release.Payload).Raw; raw != nil && *raw != nil {
			logins := markdown.Parse(**raw).References().Logins
			named[n] = logins[:min(len(logins), mostMentioned)]
			all = append(all, named[n]...)
		}
	}
	in, caller, err := q.on(ctx, "GET /users/{username}")
	people := map[string]account.Full{}
	for part := range slices.Chunk(all, maxLoaded) {
		if err == nil {
			var found map[string]account.Full
			found, err = q.load.Accounts.FullByLogins(in, caller, part)
			maps.Copy(people, found)
		}
	}
	if err != nil {
		return failed(asError(q.noteError(err)), len(parents))
	}
	return one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		var list []any
		seen := map[account.ID]bool{}
		for _, login := range named[slices.Index(parents, exec.Object(o))] {
			a, there := people[account.Fold(login)]
			if there && a.Type == "User" && !seen[a.ID] {
				seen[a.ID], list = true, append(list, fullAccount(a))
			}
		}
		return connectAll(f, "UserConnection", list)
	})(ctx, f, parents)
}

// releaseAssets resolves the files of a release, or those with a name.
func releaseAssets(_ context.Context, f *exec.Field, o *object) (any, error) {
	var all []any
	for _, a := range o.value.(*release.Payload).Assets {
		if name, ok := f.Args["name"].(string); !ok || name == a.Name {
			all = append(all, &object{kind: "ReleaseAsset", value: a, whole: true, id: a.ID, repo: o.repo, of: o})
		}
	}
	return connectAll(f, "ReleaseAssetConnection", all)
}

func releaseAssetFields() map[string]exec.Resolver {
	type asset = *release.AssetPayload
	address := pick(func(a asset) any { return a.DownloadURL })
	return map[string]exec.Resolver{
		"id":            pick(func(a asset) any { return a.NodeID }),
		"name":          pick(func(a asset) any { return a.Name }),
		"contentType":   pick(func(a asset) any { return a.ContentType }),
		"size":          pick(func(a asset) any { return a.Size }),
		"downloadCount": pick(func(a asset) any { return a.DownloadCount }),
		"downloadUrl":   address, "url": address,
		"createdAt":  pick(func(a asset) any { return a.CreatedAt }),
		"updatedAt":  pick(func(a asset) any { return a.UpdatedAt }),
		"uploadedBy": pick(func(a asset) any { return newAccount(a.Uploader) }),
		"release":    parent,
	}
}

// tagsOf returns a resolver of a value of releases' tags. It is null for a draft whose tag does not exist yet.
func tagsOf(value func(ref *object) any) exec.Resolver {
	next := refsOf(func(_ context.Context, o *object) (*object, string, error) {
		return o.repo, "refs/tags/" + o.value.(*release.Payload).Tag, nil
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
