package graphql

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/graphql/exec"
)

// repositoryReleases returns the fields of a repository about releases.
func repositoryReleases() map[string]exec.Resolver {
	return map[string]exec.Resolver{
		"releases": one(releases), "release": orNull(releaseTagged),
		"latestRelease": orNull(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return queryOf(ctx).releaseAt(ctx, o, o.path("releases", "latest"))
		}),
	}
}

func releases(ctx context.Context, f *exec.Field, o *object) (any, error) {
	if order, ok := f.Args["orderBy"].(map[string]any); ok && (order["field"] != "CREATED_AT" ||
		order["direction"] != "DESC") {
		return nil, refused("Arbor lists releases by CREATED_AT, DESC.")
	}
	return queryOf(ctx).connect(ctx, f, pages{kind: "ReleaseConnection",
		question: Question{Path: o.path("releases"), Media: textMedia(f)}, rank: byMembers(true, "created_at", "id"),
		node: func(data payload) (any, error) {
			return newRelease(o, data), nil
		}})
}

// releaseTagged resolves the release of a tag. For callers who may see drafts it includes the newest
// hundred.
func releaseTagged(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q, tag := queryOf(ctx), f.Args["tagName"].(string)
	if tag == "" {
		return nil, nil
	}
	found, err := q.releaseAt(ctx, o, o.path("releases", "tags")+"/"+url.PathEscape(tag))
	if !errs.Is(err, errs.NotFound) {
		return found, err
	}
	list, err := q.all(ctx, Question{Path: o.path("releases")}, 1)
	for _, data := range list {
		if textOf(data, "tag_name") == tag {
			return newRelease(o, data), nil
		}
	}
	return nil, err
}

// releasesByID loads releases by id.
func releasesByID(q *query, _ *object) loader[int64, payload] {
	l := loader[int64, payload]{name: "releases by id", route: "/releases", key: byIdentity}
	return full(l, inEach(q.load.Releases.ByIDs))
}

// newRelease returns a release for its payload.
func newRelease(in *object, data payload) *object {
	return &object{kind: "Release", data: data, whole: true, repo: in,
		source: source{Path: in.path("releases",
			string(data.get("id")))}}
}

func (q *query) releaseAt(ctx context.Context, in *object, path string) (any, error) {
	data, err := q.object(ctx, Question{Path: path})
	if err != nil {
		return nil, err
	}
	return newRelease(in, data), nil
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
		"isLatest": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			latest, err := queryOf(ctx).object(ctx, Question{Path: o.repo.path("releases", "latest")})
			if errs.Is(err, errs.NotFound) {
				return false, nil
			}
			return string(latest.get("id")) == string(o.data.get("id")), err
		}),
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

// tagsOf returns a resolver of a value of releases' tags. It loads all tags of a repository together. The
// value is null for a draft whose tag does not exist yet.
func tagsOf(value func(ref *object) any) exec.Resolver {
	return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
		q, values, byRepo := queryOf(ctx), make([]any, len(parents)), map[*object][]int{}
		for n, p := range parents {
			in := q.sameRepository(p.(*object).repo)
			byRepo[in] = append(byRepo[in], n)
		}
		for in, places := range byRepo {
			for part := range slices.Chunk(places, maxLoaded) {
				names := make([]string, len(part))
				for n, at := range part {
					names[n] = "refs/tags/" + textOf(parents[at].(*object).data, "tag_name")
				}
				found, err := q.refsNamed(ctx, in, names)
				for n, at := range part {
					if err != nil {
						values[at] = asError(err)
					} else if data := found[names[n]]; data != nil {
						values[at] = value(&object{kind: "Ref", data: data, whole: true, repo: in})
					}
				}
			}
		}
		return values
	}
}

// refsNamed returns refs of a repository by their full names, at most a hundred.
func (q *query) refsNamed(ctx context.Context, in *object, names []string) (map[string]payload, error) {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	list, _, err := q.list(ctx, paged(Question{Path: in.path("git", "refs"), Handler: q.with.Refs,
		Query: url.Values{"prefix": {"refs/"}, "names": {strings.Join(names, " ")}}}, 1, maxLoaded))
	if errs.Is(err, errs.Conflict) { // an empty repository
		return nil, nil
	}
	found := map[string]payload{}
	for _, data := range list {
		found[textOf(data, "ref")] = data
	}
	return found, err
}
