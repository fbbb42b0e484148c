package graphql

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
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
	var order *rank
	if !o.ByDate {
		order = byText(o.Desc, "ref")
	}
	l := loader[string, *web.List[payload]]{name: fmt.Sprintf("refs %+v", o), route: "/git/refs"}
	rows := func(ctx context.Context, list []*repo.Access, at web.Page) (
		map[repo.ID]*web.List[*gitdata.RefPayload], error) {
		return queryOf(ctx).load.Git.ListRefs(ctx, list, o, at)
	}
	return connections(func(_ context.Context, _ *exec.Field, in *object) (pages, error) {
		return pages{kind: "RefConnection", rank: order, many: ofRepositories(l, rows),
			node: func(data payload) (any, error) {
				return &object{kind: "Ref", data: data, whole: true, repo: in}, nil
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
	return l.values(ctx, parents, func(o *object, at payload) (any, error) {
		if at == nil {
			return nil, nil
		}
		found := gitObject(o, textOf(at, "type"), textOf(at, "sha"))
		found.data = found.data.with("size", at.get("size")).with("path", at.get("path"))
		return found, nil
	})
}

// objectsNamed loads what names refer to.
func objectsNamed(q *query, name func(o *object) string) loader[string, payload] {
	return full(loader[string, payload]{name: "named", route: "/git/trees/{sha...}", key: name}, q.load.Git.Named)
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
	namedRefs(q, nil).load(ctx, q, refs)
	l := objectsNamed(q, nameOfObject)
	l.load(ctx, q, others)
	for n, o := range objects {
		switch {
		case o == nil:
		case o.kind == "Ref":
			found[n].value, found[n].err = q.ref(ctx, o.repo, ids[n].name)
		default:
			at, err := l.get(ctx, q, o)
			if found[n].err = err; err == nil && textOf(at, "type") == strings.ToLower(o.kind) {
				found[n].value = o
			}
		}
	}
	return found
}

// inGit returns a Git object by its kind and name, or nil.
func (q *query) inGit(ctx context.Context, in *object, kind, name string) (any, error) {
	o := gitObject(in, strings.ToLower(kind), name)
	at, err := objectsNamed(q, nameOfObject).get(ctx, q, o)
	if err != nil || textOf(at, "type") != strings.ToLower(kind) {
		return nil, err
	}
	return o, nil
}

func nameOfObject(o *object) string { return textOf(o.data, "sha") }

// namedCommits loads commits by SHA.
func namedCommits(q *query, _ *object) loader[git.SHA, payload] {
	l := full(loader[git.SHA, payload]{name: "named commits", route: "/commits/{ref...}", key: bySHA}, q.load.Git.Commits)
	whole := l.read
	l.read = func(ctx context.Context, commits []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]payload, error) {
		found, err := whole(ctx, commits)
		for of, outer := range found {
			if found[of], err = plainCommit(outer); err != nil {
				return nil, err
			}
		}
		return found, err
	}
	return l
}

// namedTags loads annotated tags by SHA, and namedTrees trees.
func namedTags(q *query, _ *object) loader[git.SHA, payload] {
	return full(loader[git.SHA, payload]{name: "tags", route: "/git/tags/{sha}", key: bySHA}, q.load.Git.Tags)
}

func namedTrees(q *query, _ *object) loader[git.SHA, payload] {
	return full(loader[git.SHA, payload]{name: "trees", route: "/git/trees/{sha...}", key: bySHA}, q.load.Git.Trees)
}

// histories resolves the histories of commits, themselves first.
func histories(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	filter, err := historyFilter(ctx, f)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	return connections(func(ctx context.Context, f *exec.Field, o *object) (pages, error) {
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
		h.Author = who.(*object).text(ctx, "login")
	case len(emails) == 1:
		h.Author = emails[0].(string)
	case len(emails) > 1:
		return h, refused("A history is looked through for one e-mail address at a time.")
	}
	return h, nil
}

// history lists the history of a commit. Its cursors contain the commit at which the list began, so that
// a cursor continues the same history after the branch has moved.
func history(ctx context.Context, f *exec.Field, o *object, filter gitdata.History) (pages, error) {
	q := queryOf(ctx)
	p, err := readPart(f)
	if err != nil {
		return pages{}, err
	}
	if began, err := git.ParseSHA(cmp.Or(p.after.key, p.before.key)); err == nil && began != bySHA(o) {
		if at, err := q.inGit(ctx, o.repo, "Commit", string(began)); err == nil && at != nil {
			o = at.(*object)
		}
	}
	l := loader[git.SHA, *web.List[payload]]{name: fmt.Sprintf("history %+v", filter), route: "/commits", key: bySHA}
	rows := func(ctx context.Context, tips []repo.Of[git.SHA], page web.Page) (
		map[repo.Of[git.SHA]]*web.List[*gitdata.CommitPayload], error) {
		return q.load.Git.Histories(ctx, tips, filter, page)
	}
	return pages{kind: "CommitHistoryConnection", tip: string(bySHA(o)), many: lists(l, rows), of: o,
		node: func(data payload) (any, error) { return listedCommit(o.repo, data) }}, nil
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
			all[n] = pullAt(in, decimal(number), media)
		}
		if order, ok := f.Args["orderBy"].(map[string]any); ok && order["direction"] == "DESC" {
			slices.Reverse(all)
		}
		return connectAll(f, "PullRequestConnection", all)
	})
}

// bySHA returns the key of a Git object.
func bySHA(o *object) git.SHA { return git.SHA(textOf(o.data, "sha")) }

// parents resolves the parents of a commit.
func parents(ctx context.Context, f *exec.Field, o *object) (any, error) {
	list, err := o.list(ctx, "parents")
	all := make([]any, len(list))
	for n, data := range list {
		all[n] = gitObject(o.repo, "commit", textOf(data, "sha"))
	}
	if err != nil {
		return nil, err
	}
	return connectAll(f, "CommitConnection", all)
}

func tagFields() map[string]exec.Resolver {
	fields := merge(gitObjectFields(), map[string]exec.Resolver{
		"name": same("tag"), "message": same("message"),
		"tagger": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			data, err := o.inner(ctx, "tagger")
			if data == nil {
				return nil, err
			}
			return &gitActor{o, "tagger", data}, nil
		}),
		"target": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			to, err := o.inner(ctx, "object")
			if err != nil {
				return nil, err
			}
			return gitObject(o.repo, textOf(to, "type"), textOf(to, "sha")), nil
		}),
	})
	for _, name := range [...]string{"name", "message", "tagger", "target"} {
		fields[name] = filled(namedTags, anyObject, fields[name])
	}
	return fields
}

func treeFields() map[string]exec.Resolver {
	return merge(gitObjectFields(), map[string]exec.Resolver{"entries": treeEntries})
}

// treeEntries resolves the entries of trees.
func treeEntries(ctx context.Context, _ *exec.Field, parents []exec.Object) []any {
	return namedTrees(queryOf(ctx), nil).values(ctx, parents, func(o *object, data payload) (any, error) {
		if data == nil {
			return nil, errs.Absent()
		}
		return entriesOf(ctx, o, data)
	})
}

// entriesOf returns the entries in the payload of a tree.
func entriesOf(ctx context.Context, o *object, data payload) (any, error) {
	list, err := objectsIn(data.get("tree"))
	if err != nil {
		return nil, err
	}
	if err := queryOf(ctx).hold(ctx, int64(len(list))*nodeBytes); err != nil {
		return nil, err
	}
	all := make([]any, len(list))
	for n, data := range list {
		name, kind := textOf(data, "path"), textOf(data, "type")
		mode, _ := strconv.ParseInt(textOf(data, "mode"), 8, 32)
		entry := map[string]any{"name": name, "nameRaw": base64.StdEncoding.EncodeToString([]byte(name)),
			"extension": path.Ext(name), "mode": mode, "oid": textOf(data, "sha"), "type": kind,
			"size": 0, "object": nil,
			"path": path.Join(textOf(o.data, "path"), name), "repository": o.repo}
		if size := data.get("size"); len(size) > 0 {
			entry["size"] = size
		}
		if kind != "commit" { // a submodule's commit is in another repository
			inner := gitObject(o.repo, kind, textOf(data, "sha"))
			at, _ := json.Marshal(entry["path"])
			inner.data = inner.data.with("size", data.get("size")).with("path", at)
			entry["object"] = inner
		}
		all[n] = bare{"TreeEntry", entry}
	}
	return all, nil
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
		size: func(t *blobText) int64 {
			if t == nil {
				return smallValue
			}
			return int64(len(t.text))
		},
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
				if len(o.data.get("size")) == 0 {
					unknown = append(unknown, o)
				}
			}
			l.load(ctx, q, unknown)
			return one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
				if len(o.data.get("size")) > 0 {
					return show(wholeNumber(o, "size")), nil
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
