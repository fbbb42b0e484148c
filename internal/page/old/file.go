package old

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxRefParts bounds the parts of a path that are tried as a ref.
const maxRefParts = 10

type directoryView struct {
	where
	Ref, Path string
	Entries   []entryJSON
}

type blobView struct {
	where
	Ref    string
	File   entryJSON
	Text   string
	IsText bool
}

// GET /{owner}/{repo}/tree/{path...}
//
// Tree answers the page of a directory: a thousand entries of it at most. The
// path begins with a branch, a tag or a SHA; of several that fit, the shortest
// that has such a directory counts. A file leads to its own page. Error: 404.
func (p *Pages) Tree(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.file(w, r, a, "tree")
}

// GET /{owner}/{repo}/blob/{path...}
//
// Blob answers the page of a file, with its text if it has one of up to 1 MB.
// The path is as in Tree. A directory leads to its own page. Error: 404.
func (p *Pages) Blob(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.file(w, r, a, "blob")
}

func (p *Pages) file(w http.ResponseWriter, r *http.Request, a *repo.Access, kind string) error {
	ref, path, content, err := p.contents(r, a, strings.Trim(web.Param(r, "path"), "/"))
	if err != nil {
		return err
	}
	is := "blob"
	if content[0] == '[' {
		is = "tree"
	}
	if is != kind {
		to := web.Path(append([]string{a.Owner.Login, a.Name, is}, strings.Split(strings.Trim(ref+"/"+path, "/"), "/")...)...)
		http.Redirect(w, r, web.From(r.Context()).Page(to), http.StatusFound)
		return nil
	}
	title := path
	if title == "" {
		title = ref
	}
	if is == "tree" {
		v := &directoryView{where: at(a, title), Ref: ref, Path: path}
		if err := json.Unmarshal(content, &v.Entries); err != nil {
			return err
		}
		return p.render.page(w, r, "tree.html", v)
	}
	v := &blobView{where: at(a, title), Ref: ref}
	if err := json.Unmarshal(content, &v.File); err != nil {
		return err
	}
	v.Text, v.IsText = v.File.text()
	return p.render.page(w, r, "blob.html", v)
}

// contents finds what REF/PATH names, where the ref may hold slashes. Error:
// 404.
func (p *Pages) contents(r *http.Request, a *repo.Access, text string) (ref, path string, content json.RawMessage, err error) {
	parts := strings.Split(text, "/")
	for n := 1; n <= min(len(parts), maxRefParts); n++ {
		ref, path = strings.Join(parts[:n], "/"), strings.Join(parts[n:], "/")
		if ref == "" {
			break
		}
		q := question{handler: p.from.Git.GetContents, path: "/contents", params: []string{"path", path}, query: url.Values{"ref": {ref}}}
		if path != "" {
			q.path += web.Path(strings.Split(path, "/")...)
		}
		if _, err = ask(r, a, q, &content); err == nil {
			return ref, path, content, nil
		}
		if err = absent(err); !errs.Is(err, errs.NotFound) {
			return "", "", nil, err
		}
	}
	return "", "", nil, errs.Absent()
}
