package gitdata

import (
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
