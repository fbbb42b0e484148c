package gitdata

import (
	"context"
	"net/http"
	gopath "path"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /{owner}/{repo}/raw/{path...}
//
// GetRaw serves the bytes of a file for download_url and raw_url: an image with its type, any other file as
// text. The path starts with a branch, a tag or a full SHA; the shortest match counts.
func (api *API) GetRaw(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ref, path, err := api.splitRef(r.Context(), a, web.Param(r, "path"))
	if err != nil {
		return api.Renamed(r.Context(), a, err, "path", web.Param(r, "path"), true)
	}
	v, err := api.view(r.Context(), a, ref)
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
	return v.rawAs(w, r, entry, pictureType)
}

// pictureType returns the media type of an image that browsers can show, detected from its first bytes, or
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
	if len(begins) > 12 && string(begins[4:12]) == "ftypavif" {
		return "image/avif"
	}
	return ""
}

// maxRefParts is the number of path segments that are tried as a ref.
const maxRefParts = 10

// splitRef splits REF/PATH; the ref may contain slashes. Error: 404.
func (api *API) splitRef(ctx context.Context, a *repo.Access, text string) (ref, path string, err error) {
	at := 0
	for range maxRefParts {
		n := strings.IndexByte(text[at:], '/')
		if n < 0 {
			break
		}
		at += n
		_, err := api.find(ctx, a, text[:at], false)
		if err == nil && at > 0 {
			return text[:at], text[at+1:], nil
		}
		if err != nil && !errs.Is(err, errs.NotFound) {
			return "", "", err
		}
		at++
	}
	return "", "", errs.Absent()
}

// CompareText serves BASE...HEAD.diff and BASE...HEAD.patch, the value of {basehead}, for diff_url and
// patch_url (decision 30). Package page has the route.
func (api *API) CompareText(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	text := web.Param(r, "basehead")
	for _, kind := range [...]string{"diff", "patch"} {
		if spec, ok := strings.CutSuffix(text, "."+kind); ok {
			c, err := api.comparison(r.Context(), spec, a)
			if err != nil {
				return err
			}
			return api.compareAs(w, r, c, kind)
		}
	}
	return errs.Absent()
}

// CommitText serves SHA.diff and SHA.patch, the value of {sha}. Package page has the route.
func (api *API) CommitText(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	text := web.Param(r, "sha")
	for _, kind := range [...]string{"diff", "patch"} {
		if sha, ok := strings.CutSuffix(text, "."+kind); ok {
			return api.commitAs(w, r, a, sha, kind)
		}
	}
	return errs.Absent()
}
