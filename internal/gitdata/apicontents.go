package gitdata

import (
	"bufio"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	gopath "path"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /{owner}/{repo}/raw/{path...}
//
// GetRaw serves the bytes of a file for download_url and raw_url: an image with its type, any other file as
// text. For a Git LFS pointer it serves the object, and supports range requests. The path starts with a branch, a tag or
// a full SHA; the shortest match counts.
func (api *API) GetRaw(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ref, path, err := api.s.splitRef(r.Context(), a, web.Param(r, "path"))
	if err != nil {
		return api.s.Renamed(r.Context(), a, err, "path", web.Param(r, "path"), true)
	}
	v, err := api.s.view(r.Context(), a, ref)
	if err != nil {
		return err
	}
	defer v.release()
	entry, err := v.lookup(r.Context(), path)
	if err != nil {
		return err
	}
	if entry.Type != git.TypeBlob {
		return errs.Absent()
	}
	o, ok, err := api.s.pointed(r.Context(), a, v, entry)
	switch {
	case err != nil:
		return err
	case ok:
		return api.s.sendLarge(w, r, entry.Path, o)
	}
	return v.rawAs(w, r, entry, pictureType)
}

// pictureType returns the media type of an image or a PDF that browsers can show, detected from its first bytes, or
// "". SVG images cannot run scripts or load other resources, because the response's Content-Security-Policy
// forbids both.
func pictureType(name string, begins []byte) string {
	switch kind := http.DetectContentType(begins); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/x-icon":
		return kind
	case "text/xml; charset=utf-8", "text/plain; charset=utf-8":
		if strings.EqualFold(gopath.Ext(name), ".svg") {
			return "image/svg+xml; charset=utf-8"
		}
	}
	switch {
	case len(begins) > 12 && string(begins[4:12]) == "ftypavif":
		return "image/avif"
	case strings.HasPrefix(string(begins), "%PDF-") && strings.EqualFold(gopath.Ext(name), ".pdf"):
		return pdf
	}
	return ""
}

const pdf = "application/pdf"

// policyOf returns the policy of a file that browsers show. Some show no PDF in a sandbox; their viewers are one
// themselves: scripts of a PDF do not reach the page or the site.
func policyOf(mediaType string) string {
	if mediaType == pdf {
		return "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'"
	}
	return "default-src 'none'; style-src 'unsafe-inline'; sandbox"
}

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

// entry renders what is the same for all kinds of entries.
func (v *view) entry(e *git.TreeEntry) *contentJSON {
	c := &contentJSON{Name: gopath.Base("/" + e.Path), Path: e.Path, SHA: string(e.SHA), Size: max(0, e.Size)}
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
					w.Header().Set("Content-Security-Policy", policyOf(is))
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
