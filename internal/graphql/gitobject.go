package graphql

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// refs resolves the refs below a prefix.
func refs(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	var o gitdata.RefOptions
	o.Prefix, _ = f.Args["refPrefix"].(string)
	if !strings.HasPrefix(o.Prefix, "refs/") || !strings.HasSuffix(o.Prefix, "/") {
		return failed(refused("refPrefix must begin with refs/ and end with a slash, as refs/heads/ does."),
			len(parents))
	}
	o.Part, _ = f.Args["query"].(string)
	direction := f.Args["direction"]
	if order, ok := f.Args["orderBy"].(map[string]any); ok {
		direction = order["direction"]
		// other orders are by name, as at GitHub
		o.ByDate = order["field"] == "TAG_COMMIT_DATE" && o.Prefix == "refs/tags/"
	}
	o.Desc = direction == "DESC"
	var order *sortKey[*gitdata.RefPayload]
	name := func(r *gitdata.RefPayload) string { return r.Ref }
	if !o.ByDate {
		order = &sortKey[*gitdata.RefPayload]{desc: o.Desc, of: name}
	}
	l := loader[string, *web.List[*gitdata.RefPayload]]{name: fmt.Sprintf("refs %+v", o), route: "/git/refs"}
	rows := func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[*gitdata.RefPayload], error) {
		return queryOf(ctx).load.Git.ListRefs(ctx, list, o, at)
	}
	return connections(func(_ context.Context, _ *exec.Field, in *object) (pages[*gitdata.RefPayload], error) {
		return pages[*gitdata.RefPayload]{kind: "RefConnection", rank: order, key: name, many: ofRepositories(l, rows),
			node: func(r *gitdata.RefPayload) (any, error) {
				return &object{kind: "Ref", value: r, whole: true, name: r.Ref, repo: in}, nil
			}}, nil
	})(ctx, f, parents)
}

// named resolves Git objects by a SHA or by a revision: main, v1.0, HEAD:docs/a.md. It is null if there is
// none.
func named(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	name, _ := f.Args["expression"].(string)
	if oid, _ := f.Args["oid"].(string); oid != "" {
		if _, err := git.ParseSHA(oid); err != nil {
			return make([]any, len(parents))
		}
		name = oid
	}
	if name == "" {
		return failed(refused("A repository's object is asked for by oid or by expression."), len(parents))
	}
	l := objectsNamed(queryOf(ctx), func(*object) string { return name })
	return l.values(ctx, parents, func(o *object, at *gitdata.ObjectPayload) (any, error) {
		if at == nil {
			return nil, nil
		}
		found := gitObject(o, at.Type, at.SHA)
		if found.kind == "Tree" || found.kind == "Blob" {
			found.value = at
		}
		return found, nil
	})
}

// objectsNamed loads what names refer to.
func objectsNamed(q *query, name func(o *object) string) loader[string, *gitdata.ObjectPayload] {
	return loader[string, *gitdata.ObjectPayload]{name: "named", route: "/git/trees/{sha...}", key: name,
		read: q.load.Git.Named}
}

// findInGit returns Git objects by their repositories and names.
func (q *query) findInGit(ctx context.Context, ids []nodeID) []lookup {
	repos, err := q.repositoriesByID(ctx, numbersOf(ids))
	if err != nil {
		return failures(err, len(ids))
	}
	found, objects := make([]lookup, len(ids)), make([]*object, len(ids))
	var refs, others []*object
	for n, id := range ids {
		in := repos[id.number]
		switch _, err := git.ParseSHA(id.name); {
		case in == nil:
		case id.kind == "Ref":
			objects[n] = refAt(in, id.name)
			refs = append(refs, objects[n])
		case err == nil:
			objects[n] = gitObject(in, strings.ToLower(id.kind), id.name)
			others = append(others, objects[n])
		}
	}
	namedRefs(q).load(ctx, q, refs)
	l := objectsNamed(q, byName)
	l.load(ctx, q, others)
	for n, o := range objects {
		switch {
		case o == nil:
		case o.kind == "Ref":
			found[n].value, found[n].err = q.ref(ctx, o.repo, ids[n].name)
		default:
			at, err := l.get(ctx, q, o)
			if found[n].err = err; at != nil && at.Type == strings.ToLower(o.kind) {
				found[n].value = o
			}
		}
	}
	return found
}

// inGit returns a Git object by its kind and name, or nil.
func (q *query) inGit(ctx context.Context, in *object, kind, name string) (any, error) {
	o := gitObject(in, strings.ToLower(kind), name)
	at, err := objectsNamed(q, byName).get(ctx, q, o)
	if at == nil || at.Type != strings.ToLower(kind) {
		return nil, err
	}
	return o, nil
}

// namedCommits loads commits by SHA, namedTags annotated tags and namedTrees trees.
func namedCommits(q *query) loader[git.SHA, *gitdata.CommitPayload] {
	return loader[git.SHA, *gitdata.CommitPayload]{name: "named commits", route: "/commits/{ref...}", key: bySHA,
		read: q.load.Git.Commits}
}

func namedTags(q *query) loader[git.SHA, *gitdata.TagPayload] {
	return loader[git.SHA, *gitdata.TagPayload]{name: "tags", route: "/git/tags/{sha}", key: bySHA,
		read: q.load.Git.Tags}
}

func namedTrees(q *query) loader[git.SHA, *gitdata.TreePayload] {
	return loader[git.SHA, *gitdata.TreePayload]{name: "trees", route: "/git/trees/{sha...}", key: bySHA,
		read: q.load.Git.Trees}
}

// histories resolves the histories of commits, themselves first.
func histories(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	filter, err := historyFilter(ctx, f)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	return connections(func(ctx context.Context, f *exec.Field, o *object) (pages[*gitdata.CommitPayload], error) {
		return history(ctx, f, o, filter)
	})(ctx, f, parents)
}

// historyFilter returns a history's arguments. Error: 422 for a time that is none.
func historyFilter(ctx context.Context, f *exec.Field) (h gitdata.History, err error) {
	h.Path, _ = f.Args["path"].(string)
	h.Path = strings.TrimSuffix(h.Path, "/")
	for name, to := range map[string]*time.Time{"since": &h.Since, "until": &h.Until} {
		if v, ok := f.Args[name].(string); ok && v != "" {
			if *to, err = gitdata.ParseTime(name, v); err != nil {
				return h, err
			}
		}
	}
	author, ok := f.Args["author"].(map[string]any)
	if !ok {
		return h, nil
	}
	emails, _ := author["emails"].([]any)
	switch id, _ := author["id"].(string); {
	case id != "":
		who, err := queryOf(ctx).find(ctx, id, "User", "Bot")
		if err != nil {
			return h, err
		}
		h.Author = who.(*object).name
	case len(emails) == 1:
		h.Author = emails[0].(string)
	case len(emails) > 1:
		return h, refused("A history is looked through for one e-mail address at a time.")
	}
	return h, nil
}

// history lists the history of a commit. Its cursors contain the commit at which the list began, so that
// a cursor continues the same history after the branch has moved.
func history(
	ctx context.Context, f *exec.Field, o *object, filter gitdata.History,
) (pages[*gitdata.CommitPayload], error) {
	q := queryOf(ctx)
	p, err := readPart(f)
	if err != nil {
		return pages[*gitdata.CommitPayload]{}, err
	}
	if began, err := git.ParseSHA(cmp.Or(p.after.key, p.before.key)); err == nil && began != bySHA(o) {
		if at, err := q.inGit(ctx, o.repo, "Commit", string(began)); err == nil && at != nil {
			o = at.(*object)
		}
	}
	l := loader[git.SHA, *web.List[*gitdata.CommitPayload]]{name: fmt.Sprintf("history %+v", filter),
		route: "/commits", key: bySHA}
	rows := func(ctx context.Context, tips []repo.Of[git.SHA], page web.Page) (
		map[repo.Of[git.SHA]]*web.List[*gitdata.CommitPayload], error) {
		return q.load.Git.Histories(ctx, tips, filter, page)
	}
	return pages[*gitdata.CommitPayload]{kind: "CommitHistoryConnection", tip: o.name,
		many: lists(l, rows), of: o,
		node: func(c *gitdata.CommitPayload) (any, error) { return listedCommit(o.repo, c), nil }}, nil
}

// associated resolves the pull requests of commits: those that were merged with one, and open ones that
// contain it.
func associated(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, media := queryOf(ctx), textMedia(f)
	l := loader[git.SHA, []int64]{name: "pulls of commits", route: "/commits/{ref...}/pulls", key: bySHA,
		read: q.load.Pulls.NumbersOfCommits}
	return l.values(ctx, parents, func(o *object, numbers []int64) (any, error) {
		in := q.sameRepository(o.repo)
		all := make([]any, len(numbers))
		for n, number := range numbers {
			all[n] = pullAt(in, number, media)
		}
		if order, ok := f.Args["orderBy"].(map[string]any); ok && order["direction"] == "DESC" {
			slices.Reverse(all)
		}
		return connectAll(f, "PullRequestConnection", all)
	})
}

func tagFields() map[string]exec.Resolver {
	return merge(gitObjectFields(), after(isWhole, map[string]exec.Resolver{
		"name":    pick(func(t *gitdata.TagPayload) any { return t.Tag }),
		"message": pick(func(t *gitdata.TagPayload) any { return t.Message }),
		"tagger": pick(func(t *gitdata.TagPayload) any {
			if t.Tagger == nil {
				return nil
			}
			return newActor(t.Tagger.Name, t.Tagger.Email, t.Tagger.Date, nil) // REST does not report the account
		}),
		"target": one(func(_ context.Context, _ *exec.Field, o *object) (any, error) {
			to := o.value.(*gitdata.TagPayload).Object
			return gitObject(o.repo, to.Type, to.SHA), nil
		}),
	}))
}

func treeFields() map[string]exec.Resolver {
	return merge(gitObjectFields(), map[string]exec.Resolver{"entries": treeEntries})
}

// treeEntries resolves the entries of trees.
func treeEntries(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	return namedTrees(queryOf(ctx)).values(ctx, parents, func(o *object, t *gitdata.TreePayload) (any, error) {
		if t == nil {
			return nil, errs.Absent()
		}
		return entriesOf(ctx, o, t)
	})
}

// entriesOf returns the entries of a tree.
func entriesOf(ctx context.Context, o *object, t *gitdata.TreePayload) (any, error) {
	if err := queryOf(ctx).hold(ctx, int64(len(t.Entries))*nodeBytes); err != nil {
		return nil, err
	}
	all := make([]any, len(t.Entries))
	for n := range t.Entries {
		all[n] = treeEntryOf(o, &t.Entries[n])
	}
	return all, nil
}

// treeEntryOf returns an entry of a tree.
func treeEntryOf(o *object, e *gitdata.EntryPayload) any {
	dir := ""
	if at, ok := o.value.(*gitdata.ObjectPayload); ok {
		dir = at.Path
	}
	mode, _ := strconv.ParseInt(e.Mode, 8, 32)
	at := &gitdata.ObjectPayload{SHA: e.SHA, Type: string(e.Type), Path: path.Join(dir, e.Path)}
	if e.Size != nil {
		at.Size = *e.Size
	}
	entry := map[string]any{"name": e.Path, "nameRaw": base64.StdEncoding.EncodeToString([]byte(e.Path)),
		"extension": path.Ext(e.Path), "mode": mode, "oid": e.SHA, "type": at.Type, "size": at.Size, "object": nil,
		"path": at.Path, "pathRaw": base64.StdEncoding.EncodeToString([]byte(at.Path)), "repository": o.repo}
	if e.Type != git.TypeCommit { // a submodule's commit is in another repository
		inner := gitObject(o.repo, at.Type, e.SHA)
		inner.value = at
		entry["object"] = inner
	}
	return bare{"TreeEntry", entry}
}

// maxText is the size in bytes of the longest blob whose text is returned.
const maxText = 1 << 20

// sizedBlobs loads the sizes of blobs.
func sizedBlobs(q *query) loader[git.SHA, git.Object] {
	return loader[git.SHA, git.Object]{name: "sizes", route: "/git/blobs/{sha}", key: bySHA, read: q.load.Git.Objects}
}

// blobText is the contents of a blob. All objects that show it share it.
type blobText struct {
	text   string
	binary bool
}

// textsOfBlobs loads the contents of blobs of up to maxText bytes.
func textsOfBlobs(q *query) loader[git.SHA, *blobText] {
	return loader[git.SHA, *blobText]{name: "blobs", route: "/git/blobs/{sha}", key: bySHA,
		read: func(ctx context.Context, blobs []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]*blobText, error) {
			found, err := q.load.Git.Blobs(ctx, blobs, maxText)
			out := make(map[repo.Of[git.SHA]]*blobText, len(found))
			for of, b := range found {
				out[of] = &blobText{text: string(b), binary: isBinary(b)}
				delete(found, of)
			}
			return out, err
		}}
}

func blobFields() map[string]exec.Resolver {
	size := func(show func(n int64) any) exec.Resolver {
		return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			q := queryOf(ctx)
			l := sizedBlobs(q)
			var unknown []*object
			for _, o := range objectsOf(parents) {
				if !isKnown(o) {
					unknown = append(unknown, o)
				}
			}
			l.load(ctx, q, unknown)
			return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
				if at, known := o.value.(*gitdata.ObjectPayload); known {
					return show(at.Size), nil
				}
				at, err := l.get(ctx, q, o)
				if err == nil && at.Type != git.TypeBlob {
					err = errs.Absent()
				}
				return show(at.Size), err
			})(ctx, nil, parents)
		}
	}
	contents := func(show func(t *blobText) any) exec.Resolver {
		return func(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
			return textsOfBlobs(queryOf(ctx)).values(ctx, parents, func(_ *object, t *blobText) (any, error) {
				if t == nil { // it is longer
					return nil, nil
				}
				return show(t), nil
			})
		}
	}
	return merge(gitObjectFields(), map[string]exec.Resolver{
		"byteSize":    size(func(n int64) any { return n }),
		"isTruncated": size(func(n int64) any { return n > maxText }),
		"isBinary":    contents(func(t *blobText) any { return t.binary }),
		"text": contents(func(t *blobText) any {
			if t.binary {
				return nil
			}
			return t.text
		}),
	})
}

// isBinary reports whether b is not UTF-8 text.
func isBinary(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) }
