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
// GetRaw answers the bytes of a file, where download_url and raw_url lead: a picture as one, anything else as
// text. The path begins with a branch, a tag or a full SHA; of several that fit, the
// shortest counts.
func (api *API) GetRaw(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ref, path, err := api.splitRef(r.Context(), a, web.Param(r, "path"))
	if err != nil {
		return err
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

// pictureType is the media type of a picture that browsers show, by its contents' beginning; of any other
// file it is empty. An SVG has no script here and nothing from elsewhere: the answer's policy forbids both.
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

// maxRefParts bounds the parts of a path that are tried as a ref.
const maxRefParts = 10

// splitRef cuts REF/PATH, where the ref may hold slashes. Error: 404.
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

// CompareText answers the request's {basehead} as text, where diff_url and
// patch_url lead: BASE...HEAD.diff or .patch (decision 30). Package page serves
// it beside its pages.
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

// CommitText answers the request's {sha} as text: SHA.diff or SHA.patch. Package page serves it beside its
// pages.
func (api *API) CommitText(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	text := web.Param(r, "sha")
	for _, kind := range [...]string{"diff", "patch"} {
		if sha, ok := strings.CutSuffix(text, "."+kind); ok {
			return api.commitAs(w, r, a, sha, kind)
		}
	}
	return errs.Absent()
}
