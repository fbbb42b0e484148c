package graphql

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/graphql/exec"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// refs resolves the refs below a prefix.
func refs(ctx context.Context, f *exec.Field, o *object) (any, error) {
	q, values := queryOf(ctx), url.Values{}
	prefix, _ := f.Args["refPrefix"].(string)
	if !strings.HasPrefix(prefix, "refs/") || !strings.HasSuffix(prefix, "/") {
		return nil, refused("refPrefix must begin with refs/ and end with a slash, as refs/heads/ does.")
	}
	values.Set("prefix", prefix)
	if part, _ := f.Args["query"].(string); part != "" {
		values.Set("part", part)
	}
	direction := f.Args["direction"]
	if order, ok := f.Args["orderBy"].(map[string]any); ok {
		direction = order["direction"]
		// other orders are by name, as at GitHub
		if order["field"] == "TAG_COMMIT_DATE" && prefix == "refs/tags/" {
			values.Set("order", "date")
		}
	}
	if direction == "DESC" {
		values.Set("direction", "desc")
	}
	var order *rank
	if values.Get("order") == "" {
		order = byText(direction == "DESC", "ref")
	}
	c, err := q.connect(ctx, f, pages{kind: "RefConnection", rank: order,
		question: Question{Path: o.path("git", "refs"), Query: values, Handler: q.with.Refs},
		node: func(data payload) (any, error) {
			return &object{kind: "Ref", data: data, whole: true, repo: o}, nil
		}})
	if errs.Is(err, errs.Conflict) { // an empty repository
		return connectAll(f, "RefConnection", nil)
	}
	return c, err
}

// named resolves a Git object by its SHA or by a revision: main, v1.0, HEAD:docs/a.md. It is null if there
// is none.
func named(ctx context.Context, f *exec.Field, o *object) (any, error) {
	name, _ := f.Args["expression"].(string)
	if oid, _ := f.Args["oid"].(string); oid != "" {
		if _, err := git.ParseSHA(oid); err != nil {
			return nil, nil
		}
		name = oid
	}
	if name == "" {
		return nil, refused("A repository's object is asked for by oid or by expression.")
	}
	at, err := queryOf(ctx).nameOf(ctx, o, name)
	switch {
	case errs.Is(err, errs.NotFound), errs.Is(err, errs.Conflict), errs.Is(err, errs.Invalid):
		return nil, nil
	case err != nil:
		return nil, err
	}
	found := gitObject(o, textOf(at, "type"), textOf(at, "sha"))
	found.data = found.data.with("size", at.get("size")).with("path", at.get("path"))
	return found, nil
}

// nameOf resolves a revision in a repository.
func (q *query) nameOf(ctx context.Context, in *object, name string) (payload, error) {
	return q.object(ctx, Question{Path: in.path("git", "trees", "HEAD"), Query: url.Values{"name": {name}},
		Handler: q.with.Named})
}

// namedCommits loads commits by SHA.
func namedCommits(q *query, of *object) loader[git.SHA, payload] {
	l := full(loader[git.SHA, payload]{name: "named commits", route: "/commits", key: bySHA}, inEach(q.load.Git.Commits))
	whole := l.read
	l.read = func(ctx context.Context, shas []repo.Of[git.SHA]) (map[repo.Of[git.SHA]]payload, error) {
		found, err := whole(ctx, shas)
		for sha, outer := range found {
			c, wrong := listedCommit(of.repo, outer)
			if err = cmp.Or(err, wrong); err != nil {
				return nil, err
			}
			found[sha] = c.data
		}
		return found, err
	}
	return l
}

// namedTags loads annotated tags by SHA.
func namedTags(q *query, _ *object) loader[git.SHA, payload] {
	l := loader[git.SHA, payload]{name: "tags", route: "/git/tags/{sha}", key: bySHA}
	return full(l, inEach(q.load.Git.Tags))
}

// histories resolves the histories of commits, themselves first.
func histories(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	values, err := historyFilter(ctx, f)
	if err != nil {
		return failed(asError(err), len(parents))
	}
	of := func(q *query, _ *exec.Field) listLoader[git.SHA] { return historyLists(q, values) }
	return listed(of, true, one(func(ctx context.Context, f *exec.Field, o *object) (any, error) {
		return history(ctx, f, o, values)
	}))(ctx, f, parents)
}

// historyFilter returns a history's arguments as parameters of REST's list of commits.
func historyFilter(ctx context.Context, f *exec.Field) (url.Values, error) {
	values := url.Values{}
	for _, name := range [...]string{"path", "since", "until"} {
		if v, ok := f.Args[name].(string); ok && v != "" {
			values.Set(name, v)
		}
	}
	author, ok := f.Args["author"].(map[string]any)
	if !ok {
		return values, nil
	}
	emails, _ := author["emails"].([]any)
	switch id, _ := author["id"].(string); {
	case id != "":
		who, err := queryOf(ctx).find(ctx, id, "User", "Bot")
		if err != nil {
			return nil, err
		}
		values.Set("author", who.(*object).text(ctx, "login"))
	case len(emails) == 1:
		values.Set("author", emails[0].(string))
	case len(emails) > 1:
		return nil, refused("A history is looked through for one e-mail address at a time.")
	}
	return values, nil
}

// historyLists loads the filtered histories of commits.
func historyLists(q *query, filter url.Values) listLoader[git.SHA] {
	l := loader[git.SHA, *web.List[payload]]{name: "history " + filter.Encode(), route: "/commits", key: bySHA}
	return lists(l, listsInEach(func(ctx context.Context, a *repo.Access, tips []git.SHA, page web.Page) (
		map[git.SHA]*web.List[*gitdata.CommitPayload], error) {
		return q.load.Git.Histories(ctx, a, tips, filter.Get, page)
	}))
}

// history resolves the history of a commit. Its cursors contain the commit at which the list began, so that
// a cursor continues the same history after the branch has moved.
func history(ctx context.Context, f *exec.Field, o *object, filter url.Values) (any, error) {
	q := queryOf(ctx)
	p, err := readPart(f)
	if err != nil {
		return nil, err
	}
	if began, err := git.ParseSHA(cmp.Or(p.after.key, p.before.key)); err == nil && began != bySHA(o) {
		if at, err := q.inGit(ctx, o.repo, "Commit", string(began)); err == nil {
			o = at.(*object)
		}
	}
	return q.connect(ctx, f, pages{kind: "CommitHistoryConnection", tip: string(bySHA(o)),
		many: historyLists(q, filter), of: o,
		node: func(data payload) (any, error) { return listedCommit(o.repo, data) }})
}

// associated resolves the pull requests of commits: those that were merged with one, and open ones that
// contain it.
func associated(ctx context.Context, f *exec.Field, parents []exec.Object) []any {
	q, media := queryOf(ctx), textMedia(f)
	l := loader[git.SHA, []int64]{name: "pulls of commits", route: "/commits/{ref...}/pulls", key: bySHA,
		read: inEach(q.load.Pulls.NumbersOfCommits)}
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
	return merge(gitObjectFields(), map[string]exec.Resolver{"entries": one(treeEntries)})
}

// treeEntries resolves the entries of a tree.
func treeEntries(ctx context.Context, _ *exec.Field, o *object) (any, error) {
	at := o.data.get("path") // REST does not report it for a tree
	list, err := o.list(ctx, "tree")
	if err != nil {
		return nil, err
	}
	o.data = o.data.with("path", at)
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

func blobFields() map[string]exec.Resolver {
	size := func(ctx context.Context, o *object) (int64, error) {
		if len(o.data.get("size")) == 0 {
			at, err := queryOf(ctx).nameOf(ctx, o.repo, textOf(o.data, "sha"))
			if err != nil {
				return 0, err
			}
			o.data = o.data.with("size", at.get("size"))
		}
		return strconv.ParseInt(string(o.data.get("size")), 10, 64)
	}
	contents := func(ctx context.Context, o *object) (text []byte, told bool, err error) {
		if n, err := size(ctx, o); err != nil || n > maxText {
			return nil, false, err
		}
		answer, err := queryOf(ctx).read(ctx, Question{Path: o.source.Path, Media: "raw"})
		if err != nil {
			return nil, false, err
		}
		return answer.Body.Bytes(), true, nil
	}
	return merge(gitObjectFields(), map[string]exec.Resolver{
		"byteSize": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			return size(ctx, o)
		}),
		"isTruncated": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			n, err := size(ctx, o)
			return n > maxText, err
		}),
		"isBinary": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			text, told, err := contents(ctx, o)
			if !told {
				return nil, err
			}
			return isBinary(text), nil
		}),
		"text": one(func(ctx context.Context, _ *exec.Field, o *object) (any, error) {
			text, told, err := contents(ctx, o)
			if !told || isBinary(text) {
				return nil, err
			}
			return string(text), nil
		}),
	})
}

// isBinary reports whether b is not UTF-8 text.
func isBinary(b []byte) bool { return bytes.IndexByte(b, 0) >= 0 || !utf8.Valid(b) }
