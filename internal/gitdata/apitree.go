package gitdata

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/git/trees/{sha...}
//
// GetTree returns the entries of a tree in Git's order, with recursive=1 or true also those of all subtrees
// (decision 43). The name is the SHA of a tree or commit, a branch or a tag.
func (api *API) GetTree(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := api.s.tree(r.Context(), a, web.Param(r, "sha"))
	if err != nil {
		return err
	}
	t := &treeAnswer{api: api, access: a, sha: sha, recursive: isRecursive(r)}
	t.prefix = web.From(r.Context()).API(web.Path("repos", a.Owner.Login, a.Name))
	t.etag = t.newETag()
	t.key = a.ID.String() + t.etag + t.prefix
	if web.NotModified(w, r, t.etag) {
		return nil
	}
	return api.answers.Serve(w, r, objectsOf(a), t.key, t.render)
}

// isRecursive reads the parameter recursive: 0 and false are like its absence.
func isRecursive(r *http.Request) bool {
	switch strings.ToLower(web.QueryOf(r).Get("recursive")) {
	case "", "0", "false":
		return false
	default:
		return true
	}
}

// treeAnswer is the response with a tree, with everything that its bytes depend on.
type treeAnswer struct {
	api       *API
	access    *repo.Access
	sha       git.SHA
	recursive bool
	prefix    string // API address of the repository
	etag      string
	key       string // in the cache
}

// newETag returns an ETag that contains the SHA. It never changes (decision 27) unless the operator changes
// the limit of entries.
func (t *treeAnswer) newETag() string {
	tag := `W/"` + string(t.sha)
	if t.recursive {
		tag += "-r"
	}
	if t.api.s.maxEntries != DefaultMaxTreeEntries {
		tag += "-" + strconv.Itoa(t.api.s.maxEntries)
	}
	return tag + `"`
}

// render renders the tree.
func (t *treeAnswer) render(out *web.Output) error {
	objects, release, err := t.api.s.repos.Git(out.Context(), t.access)
	if err != nil {
		return err
	}
	defer release()
	out.ETag = t.etag
	out.Keep(maxKept)
	trees, blobs := t.prefix+"/git/trees/", t.prefix+"/git/blobs/"
	if err := out.Open(objectJSON{SHA: string(t.sha), URL: trees + string(t.sha)}); err != nil {
		return err
	}
	out.Member("tree")
	out.Buf = append(out.Buf, '[')
	entries, paths, truncated := 0, 0, false
	err = objects.WalkTree(out.Context(), t.sha, t.recursive, func(e *git.WalkEntry) error {
		if paths += len(e.Path); entries == t.api.s.maxEntries || paths > maxPaths {
			truncated = true
			return git.ErrStop
		}
		if entries > 0 {
			out.Buf = append(out.Buf, ',')
		}
		entries++
		out.Buf = appendEntry(out.Buf, e, trees, blobs)
		return out.Next()
	})
	if err != nil {
		return err
	}
	out.Buf = append(out.Buf, `],"truncated":`...)
	out.Buf = strconv.AppendBool(out.Buf, truncated)
	out.Close()
	return nil
}

// appendEntry renders an entry: size only for blobs, url not for submodules. It does not use encoding/json,
// which takes fourteen times as long for up to 100,000 entries (BenchmarkAppendEntry).
func appendEntry(b []byte, e *git.WalkEntry, trees, blobs string) []byte {
	b = append(b, `{"path":`...)
	b = web.AppendString(b, e.Path)
	b = append(b, `,"mode":"`...)
	b = append(b, e.Mode.String()...)
	b = append(b, `","type":"`...)
	b = append(b, e.Type...)
	b = append(b, `","sha":"`...)
	b = append(b, e.SHA...)
	b = append(b, '"')
	url := ""
	switch e.Type {
	case git.TypeBlob:
		b = append(b, `,"size":`...)
		b = strconv.AppendInt(b, e.Size, 10)
		url = blobs
	case git.TypeTree:
		url = trees
	}
	if url != "" {
		b = append(b, `,"url":"`...)
		b = append(b, url...)
		b = append(b, e.SHA...)
		b = append(b, '"')
	}
	return append(b, '}')
}

// POST /repos/{owner}/{repo}/git/trees
//
// CreateTree creates a tree by applying entries to base_tree, and blobs for entries with content. The
// result is byte for byte that of git (decision 44). It returns the new tree without subtrees after
// everything is on disk (decision 45).
func (api *API) CreateTree(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ctx := r.Context()
	if err := api.s.refuseEmpty(ctx, a); err != nil {
		return err
	}
	body, err := web.ReadObject(r, "Tree")
	if err != nil {
		return err
	}
	t := &newTree{s: api.s, access: a, sizes: map[git.SHA]int64{}, blobs: map[git.SHA]git.NewObject{}}
	base := readBaseTree(body)
	if err := body.Err(); err != nil {
		return err
	}
	if t.entries, err = readEntries(body.Raw("tree")); err != nil {
		return err
	}
	objects, release, err := api.s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	t.objects = objects
	if err := t.build(ctx, base); err != nil {
		return err
	}
	answer, err := t.render(ctx)
	if err != nil {
		return err
	}
	if err := t.write(ctx); err != nil {
		return err
	}
	w.Header().Set("Location", newPlace(ctx, a).tree(t.built.SHA).URL)
	return web.Bytes(w, r, http.StatusCreated, answer, "")
}

// render renders the tree before it is written.
func (t *newTree) render(ctx context.Context) ([]byte, error) {
	p := newPlace(ctx, t.access)
	b, err := opened(p.tree(t.built.SHA))
	if err != nil {
		return nil, err
	}
	b = append(b, `,"tree":[`...)
	n, paths, truncated := 0, 0, false
	err = t.objects.WalkBuilt(ctx, t.built, t.sizes, func(e *git.WalkEntry) error {
		if paths += len(e.Path); n == t.s.maxEntries || paths > maxPaths {
			truncated = true
			return git.ErrStop
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		b = appendEntry(b, e, p.api+"/git/trees/", p.api+"/git/blobs/")
		return nil
	})
	if err != nil && !errors.Is(err, git.ErrStop) {
		return nil, t.explain(err)
	}
	b = append(b, `],"truncated":`...)
	return append(strconv.AppendBool(b, truncated), '}'), nil
}
