package gitdata

import (
	"bufio"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Limits of contents, as at GitHub.
const (
	maxInline  = 1 << 20   // bytes of a file in JSON
	maxFile    = 100 << 20 // bytes of a file
	maxEntries = 1000      // entries of a directory
	maxLink    = 4096      // bytes of a symlink's target
)

// contentJSON is a directory entry, file, symlink or submodule: GitHub's content-directory, -file, -symlink
// and -submodule.
type contentJSON struct {
	Name        string            `json:"name"`
	Path        string            `json:"path"`
	SHA         string            `json:"sha"`
	Size        int64             `json:"size"`
	URL         string            `json:"url"`
	HTMLURL     *string           `json:"html_url"`
	GitURL      *string           `json:"git_url"`
	DownloadURL *string           `json:"download_url"`
	Type        string            `json:"type"`
	Target      *string           `json:"target,omitempty"`
	Submodule   **string          `json:"submodule_git_url,omitempty"`
	Content     *string           `json:"content,omitempty"`
	Encoding    string            `json:"encoding,omitempty"`
	Entries     *[]*contentJSON   `json:"entries,omitempty"`
	Links       contentLinkedJSON `json:"_links"`
}

type contentLinkedJSON struct {
	Self string  `json:"self"`
	Git  *string `json:"git"`
	HTML *string `json:"html"`
}

// view is a tree seen through a revision.
type view struct {
	*addresses
	objects *git.Repository
	release func() // releases objects
	ref     string // as the client named it, or the default branch
	tree    git.SHA
}

// view finds the tree of the request's ref. Errors: 404, 409 for a repository without refs.
func (s *Service) view(ctx context.Context, a *repo.Access, ref string) (*view, error) {
	tree, err := s.find(ctx, a, ref, false)
	if err == nil {
		tree, err = s.peel(ctx, a, tree)
	}
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return nil, s.orEmpty(ctx, a, errs.Newf(errs.NotFound, "No commit found for the ref %s", ref))
	}
	if err != nil {
		return nil, err
	}
	v, err := s.viewOf(ctx, a, tree)
	if ref != "" {
		v.ref = ref
	}
	return v, err
}

// viewOf returns the view of a tree through the default branch.
func (s *Service) viewOf(ctx context.Context, a *repo.Access, tree git.SHA) (v *view, err error) {
	v = &view{addresses: newPlace(ctx, a), ref: a.DefaultBranch, tree: tree}
	v.objects, v.release, err = s.repos.Git(ctx, a)
	return v, err
}

// lookup finds the entry at a path; "" is the root. Error: 404.
func (v *view) lookup(ctx context.Context, path string) (git.TreeEntry, error) {
	if path == "" {
		return git.TreeEntry{Mode: git.ModeTree, Type: git.TypeTree, SHA: v.tree, Size: -1}, nil
	}
	entry, err := v.objects.Lookup(ctx, v.tree, path)
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		err = errs.Wrap(errs.NotFound, "Not Found", err)
	}
	return entry, err
}

// GET /repos/{owner}/{repo}/contents
// GET /repos/{owner}/{repo}/contents/{path...}
//
// GetContents returns what is at a path of a revision: the entries of a directory (at most 1,000), a file
// with its content in Base64 (up to 1 MB; up to 100 MB with the media type raw), a symlink or a submodule.
// A symlink to a file of the repository is returned as that file. The media type object wraps the entries
// of a directory.
func (api *API) GetContents(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	path, ref := strings.TrimSuffix(web.Param(r, "path"), "/"), web.QueryOf(r).Get("ref")
	kind := web.From(r.Context()).Media.Kind
	if kind == "raw" || kind == "html" {
		v, err := api.s.view(r.Context(), a, ref)
		if err != nil {
			return err
		}
		defer v.release()
		entry, err := v.lookup(r.Context(), path)
		if err != nil {
			return err
		}
		switch {
		case entry.Type == git.TypeBlob && kind == "html":
			return api.html(w, r, v, entry)
		case entry.Type == git.TypeBlob:
			return v.raw(w, r, entry)
		}
	}
	return api.cached(w, r, a, named(ref, false), func(ctx context.Context) (any, error) {
		v, err := api.s.view(ctx, a, ref)
		if err != nil {
			return nil, err
		}
		defer v.release()
		entry, err := v.lookup(ctx, path)
		if err != nil {
			return nil, err
		}
		if entry.Type != git.TypeTree {
			return v.file(ctx, entry)
		}
		found, err := v.directory(ctx, entry.SHA, path)
		if err != nil {
			return nil, err
		}
		entries := make([]*contentJSON, len(found))
		for n := range found {
			if entries[n] = v.entry(&found[n]); entries[n].Type == "submodule" {
				entries[n].Type = "file" // as at GitHub
			}
		}
		if kind != "object" {
			return entries, nil
		}
		entry.Path = path
		whole := v.entry(&entry)
		whole.Entries = &entries
		return whole, nil
	})
}

// File is what is at a path of a revision and no directory. A symlink that leads to a file of the
// repository is that file, under its own path.
type File struct {
	git.TreeEntry         // its path is from the root
	Link          *string // the target of a symlink that leads to no file
	Submodule     *string // the address of a submodule; nil: .gitmodules has none
	Data          []byte  // the contents of a file of at most 1 MiB
	Read          bool    // Data is all of it
}

// File reads what is at a path of a revision and no directory. Errors: 403 for a file of more than 100 MiB;
// 404; 409 for a repository without any ref.
func (s *Service) File(ctx context.Context, a *repo.Access, ref, path string) (*File, error) {
	v, entry, err := s.at(ctx, a, ref, path)
	if err != nil {
		return nil, err
	}
	defer v.release()
	if entry.Type == git.TypeTree {
		return nil, errs.Absent()
	}
	f, err := v.read(ctx, entry)
	if err != nil {
		return nil, err
	}
	return f, hold(ctx, len(f.Data))
}

// Directory lists the entries of a directory of a revision, at most 1,000, by their paths from the root.
// Errors: 404; 409 for a repository without any ref.
func (s *Service) Directory(ctx context.Context, a *repo.Access, ref, path string) ([]git.TreeEntry, error) {
	v, entry, err := s.at(ctx, a, ref, path)
	if err != nil {
		return nil, err
	}
	defer v.release()
	if entry.Type != git.TypeTree {
		return nil, errs.Absent()
	}
	return v.directory(ctx, entry.SHA, path)
}

// at finds what is at a path of a revision. The caller releases the view. Errors: those of view and of its
// lookup.
func (s *Service) at(ctx context.Context, a *repo.Access, ref, path string) (*view, git.TreeEntry, error) {
	v, err := s.view(ctx, a, ref)
	if err != nil {
		return nil, git.TreeEntry{}, err
	}
	entry, err := v.lookup(ctx, path)
	if err != nil {
		v.release()
		return nil, entry, err
	}
	return v, entry, nil
}

// entry renders what is the same for all kinds of entries.
func (v *view) entry(e *git.TreeEntry) *contentJSON {
	c := &contentJSON{Name: path.Base("/" + e.Path), Path: e.Path, SHA: string(e.SHA), Size: max(0, e.Size)}
	if e.Path == "" {
		c.Name = ""
	}
	escaped := escapePath(e.Path)
	c.URL = v.api + "/contents/" + escaped + "?ref=" + url.QueryEscape(v.ref)
	c.Links.Self = c.URL
	kind, object := "/blob/", "/git/blobs/"
	switch e.Mode {
	case git.ModeTree:
		c.Type, kind, object = "dir", "/tree/", "/git/trees/"
	case git.ModeSubmodule:
		c.Type = "submodule"
		return c
	case git.ModeSymlink:
		c.Type = "symlink"
	default:
		c.Type = "file"
	}
	at := escapePath(v.ref) + "/" + escaped
	html, object := v.page+kind+at, v.api+object+string(e.SHA)
	c.HTMLURL, c.GitURL = &html, &object
	c.Links.HTML, c.Links.Git = c.HTMLURL, c.GitURL
	if e.Type == git.TypeBlob {
		raw := v.page + "/raw/" + at
		c.DownloadURL = &raw
	}
	return c
}

// directory lists the first entries of a directory.
func (v *view) directory(ctx context.Context, tree git.SHA, dir string) (list []git.TreeEntry, err error) {
	err = v.objects.WalkTree(ctx, tree, false, func(w *git.WalkEntry) error {
		if len(list) == maxEntries {
			return git.ErrStop
		}
		e := w.Entry()
		e.Path = path.Join(dir, e.Path)
		list = append(list, e)
		return nil
	})
	return list, err
}

// file renders an entry that is not a directory.
func (v *view) file(ctx context.Context, e git.TreeEntry) (*contentJSON, error) {
	f, err := v.read(ctx, e)
	if err != nil {
		return nil, err
	}
	c := v.entry(&f.TreeEntry)
	switch {
	case f.Type == git.TypeCommit:
		c.Submodule = &f.Submodule
	case f.Link != nil:
		c.Target = f.Link
	case f.Read:
		text := wrapBase64(f.Data)
		c.Encoding, c.Content = "base64", &text
	default:
		c.Encoding, c.Content = "none", new(string)
	}
	return c, nil
}

// read reads a file, a symbolic link or a submodule. Error: 403 for a file of more than 100 MiB.
func (v *view) read(ctx context.Context, e git.TreeEntry) (f *File, err error) {
	if f = (&File{TreeEntry: e}); e.Type == git.TypeCommit {
		f.Size = 0
		f.Submodule, err = v.submodule(ctx, e.Path)
		return f, err
	}
	target, link, err := v.follow(ctx, e)
	if err != nil {
		return nil, err
	}
	if link != nil {
		f.Size, f.Link = int64(len(*link)), link
		return f, nil
	}
	target.Path = e.Path
	object, err := v.objects.Info(ctx, target.SHA)
	if err != nil {
		return nil, err
	}
	target.Size = object.Size
	f.TreeEntry = target
	switch {
	case object.Size > maxFile:
		return nil, tooLargeFile()
	case object.Size <= maxInline:
		_, f.Data, err = v.objects.Contents(ctx, target.SHA, maxInline)
		f.Read = err == nil
	}
	return f, err
}

func tooLargeFile() error {
	e := errs.New(errs.Forbidden,
		"This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API; clone the repository instead.")
	e.Fields = []errs.Field{{Resource: "Blob", Field: "data", Code: "too_large"}}
	return e
}

// wrapBase64 encodes like GitHub: lines of 60 characters, each with a newline.
func wrapBase64(data []byte) string {
	var b strings.Builder
	const line = 45
	b.Grow((len(data)/line + 1) * 61)
	for len(data) > 0 {
		n := min(line, len(data))
		b.WriteString(base64.StdEncoding.EncodeToString(data[:n]))
		b.WriteByte('\n')
		data = data[n:]
	}
	return b.String()
}

// maxFollowed is the maximum length of a chain of symlinks.
const maxFollowed = 8

// follow resolves a symlink within the repository. If it does not lead to a file, link is its target. Other
// entries are returned unchanged.
func (v *view) follow(ctx context.Context, e git.TreeEntry) (target git.TreeEntry, link *string, err error) {
	at := e
	for range maxFollowed {
		if at.Mode != git.ModeSymlink {
			if at.Type != git.TypeBlob {
				break
			}
			return at, nil, nil
		}
		_, text, err := v.objects.Contents(ctx, at.SHA, maxLink)
		if errs.Is(err, errs.TooLarge) {
			text, err = text[:0], nil
		}
		if err != nil {
			return e, nil, err
		}
		if at.SHA == e.SHA && link == nil {
			s := string(text)
			link = &s
		}
		to := string(text)
		if to == "" || path.IsAbs(to) || git.CheckPath(path.Join(path.Dir(at.Path), to)) != nil {
			break
		}
		if at, err = v.lookup(ctx, path.Join(path.Dir(at.Path), to)); errs.Is(err, errs.NotFound) {
			break
		} else if err != nil {
			return e, nil, err
		}
	}
	return e, link, nil
}

// submodule returns the URL of a submodule in the tree's .gitmodules, or nil.
func (v *view) submodule(ctx context.Context, at string) (*string, error) {
	entry, err := v.lookup(ctx, ".gitmodules")
	if err != nil || entry.Type != git.TypeBlob {
		if errs.Is(err, errs.NotFound) {
			err = nil
		}
		return nil, err
	}
	_, text, err := v.objects.Contents(ctx, entry.SHA, maxInline)
	if err != nil {
		if errs.Is(err, errs.TooLarge) {
			err = nil
		}
		return nil, err
	}
	if address, ok := submoduleURL(string(text), at); ok {
		return &address, nil
	}
	return nil, nil
}

// submoduleURL finds the URL of a path in a .gitmodules file.
func submoduleURL(text, at string) (string, bool) {
	var name, address string
	for line := range strings.Lines(text + "\n[") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			if name == at && address != "" {
				return address, true
			}
			name, address = "", ""
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "path":
			name = value
		case "url":
			address = value
		}
	}
	return "", false
}

// raw writes the bytes of a file, or the target of a symlink that does not lead to a file.
func (v *view) raw(w http.ResponseWriter, r *http.Request, e git.TreeEntry) error {
	return v.rawAs(w, r, e, nil)
}

// sniffed is the number of bytes used to detect a file's media type.
const sniffed = 512

// rawAs is raw with the media type that kind returns for the file's name and first bytes, or that of text
// if it returns "".
func (v *view) rawAs(
	w http.ResponseWriter, r *http.Request, e git.TreeEntry, kind func(string, []byte) string,
) error {
	ctx := r.Context()
	target, link, err := v.follow(ctx, e)
	if err != nil {
		return err
	}
	etag := `W/"` + string(target.SHA) + `"`
	w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	if link != nil && target.Mode == git.ModeSymlink {
		return text(w, r, []byte(*link), etag)
	}
	if web.NotModified(w, r, etag) {
		return nil
	}
	err = v.objects.ReadBlob(ctx, target.SHA, maxFile, func(size int64, contents io.Reader) error {
		if err := holdBlob(ctx, size); err != nil {
			return err
		}
		w.Header()["Content-Length"] = []string{strconv.FormatInt(size, 10)}
		return stream(w, r, func(to io.Writer) error {
			if kind != nil {
				in := bufio.NewReaderSize(contents, sniffed)
				begins, _ := in.Peek(sniffed)
				contents = in
				if is := kind(e.Path, begins); is != "" {
					w.Header()["Content-Type"] = []string{is}
					w.Header().Set("Content-Security-Policy",
						"default-src 'none'; style-src 'unsafe-inline'; sandbox")
				}
			}
			_, err := io.Copy(to, contents)
			return err
		})
	})
	if errs.Is(err, errs.TooLarge) {
		return tooLargeFile()
	}
	return err
}
