package graphql

import (
	"context"
	"html"
	"path"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
)

// commitTexts returns the fields of commits that are made of what lists show.
func commitTexts() map[string]exec.Resolver {
	type commit = *gitdata.CommitPayload
	return merge(addresses("tree", func(o *object) string { return "/tree/" + o.name }), map[string]exec.Resolver{
		"messageHeadlineHTML": ofCommit(func(c commit) any {
			first, _, _ := strings.Cut(c.Commit.Message, "\n")
			return html.EscapeString(first)
		}),
		"messageBodyHTML": ofCommit(func(c commit) any {
			_, rest, _ := strings.Cut(c.Commit.Message, "\n")
			return html.EscapeString(strings.TrimLeft(rest, "\n"))
		}),
		"authoredByCommitter": ofCommit(func(c commit) any { return c.Commit.Author.Email == c.Commit.Committer.Email }),
		"committedViaWeb": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return signedByServer(ctx, o.value.(commit))
		}),
		"tarballUrl": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return below(ctx, o, "/archive/"+o.name+".tar.gz"), nil
		}),
		"zipballUrl": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return below(ctx, o, "/archive/"+o.name+".zip"), nil
		}),
	})
}

// addresses returns the fields nameUrl and nameResourcePath of a page below the repository.
func addresses(name string, path func(o *object) string) map[string]exec.Resolver {
	fields := pageFields(func(ctx context.Context, o *object) string { return below(ctx, o, path(o)) })
	return map[string]exec.Resolver{name + "Url": fields["url"], name + "ResourcePath": fields["resourcePath"]}
}

// commitSizes returns the fields of commits about how much they change.
func commitSizes() map[string]exec.Resolver {
	size := func(part func(s gitdata.Size) any) exec.Resolver {
		return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			q := queryOf(ctx)
			l := loader[git.SHA, gitdata.Size]{name: "sizes of commits", route: "/commits/{ref...}", key: bySHA,
				read: func(ctx context.Context, list []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]gitdata.Size, error) {
					if q.sizes += len(list); q.sizes > maxSizes {
						return nil, errs.Newf(errs.TooLarge, "A query may ask for the sizes of at most %d commits.", maxSizes)
					}
					return q.load.Git.Sizes(ctx, list)
				}}
			return l.values(ctx, parents, func(_ *object, s gitdata.Size) (any, error) { return part(s), nil })
		}
	}
	return map[string]exec.Resolver{
		"additions":    size(func(s gitdata.Size) any { return s.Additions }),
		"deletions":    size(func(s gitdata.Size) any { return s.Deletions }),
		"changedFiles": size(func(s gitdata.Size) any { return s.Files }),
		"changedFilesIfAvailable": size(func(s gitdata.Size) any {
			if s.Cut {
				return nil
			}
			return s.Files
		}),
		"blame": blame, "file": commitFile,
	}
}

// maxSizes limits the commits of a query that are compared with their parents.
const maxSizes = 500

// maxBlames limits the files of a query whose lines are blamed, each by a process of git.
const maxBlames = 25

// blame resolves the commits of the lines of a file.
func blame(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, name := queryOf(ctx), f.Args["path"].(string)
	l := loader[git.SHA, gitdata.BlameOf]{name: "blame " + name, route: "/contents/{path...}", key: bySHA,
		read: func(ctx context.Context, list []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]gitdata.BlameOf, error) {
			if q.blames += len(list); q.blames > maxBlames {
				return nil, errs.Newf(errs.TooLarge, "A query may blame at most %d files.", maxBlames)
			}
			return q.load.Git.BlameEach(ctx, list, name)
		}}
	return l.values(ctx, parents, func(o *object, b gitdata.BlameOf) (any, error) {
		if b.Err != nil {
			return nil, orUnresolved(b.Err, "a file with the path '"+clip(name)+"'")
		}
		if err := q.hold(ctx, int64(len(b.Hunks))*nodeBytes); err != nil {
			return nil, err
		}
		ranges, ages := make([]any, len(b.Hunks)), b.Ages()
		for n, h := range b.Hunks {
			ranges[n] = bare{"BlameRange", map[string]any{"startingLine": h.Start, "endingLine": h.Start + len(h.Lines) - 1,
				"age": ages[n], "commit": gitObject(o.repo, "commit", string(h.Commit.SHA))}}
		}
		return bare{"Blame", map[string]any{"ranges": ranges}}, nil
	})
}

// commitFile resolves the entries at a path of commits; null where there is none.
func commitFile(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, name := queryOf(ctx), strings.Trim(f.Args["path"].(string), "/")
	dir, base := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	at := objectsNamed(q, func(o *object) string { return o.name + ":" + dir })
	at.load(ctx, q, objectsOf(parents))
	trees := make([]*object, len(parents))
	var some []*object
	for n, o := range objectsOf(parents) {
		if found, err := at.get(ctx, q, o); err == nil && found != nil && found.Type == "tree" {
			trees[n] = gitObject(o.repo, "tree", found.SHA)
			trees[n].value = found
			some = append(some, trees[n])
		}
	}
	namedTrees(q).load(ctx, q, some)
	values := make([]any, len(parents))
	for n, tree := range trees {
		if tree == nil {
			continue
		}
		t, err := namedTrees(q).get(ctx, q, tree)
		if err != nil {
			values[n] = asError(err)
		} else if t != nil {
			values[n] = entryNamed(tree, t, base)
		}
	}
	return values
}

// entryNamed returns the entry of a tree that has a name; nil if there is none.
func entryNamed(o *object, t *gitdata.TreePayload, name string) any {
	for n := range t.Entries {
		if t.Entries[n].Path == name {
			return treeEntryOf(o, &t.Entries[n])
		}
	}
	return nil
}
