package gitdata

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/detect"
	"arbor/internal/git"
	"arbor/internal/license"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/readme
//
// GetReadme returns the repository's readme, searched in .github, the root and docs in this order, as at
// GitHub. The media types raw and html return just the file, as stored or rendered.
func (api *API) GetReadme(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.readme(w, r, a, readmeDirs[:]...)
}

// GET /repos/{owner}/{repo}/readme/{dir...}
//
// GetDirectoryReadme returns the readme of a directory.
func (api *API) GetDirectoryReadme(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.readme(w, r, a, strings.TrimSuffix(web.Param(r, "dir"), "/"))
}

func (api *API) readme(w http.ResponseWriter, r *http.Request, a *repo.Access, dirs ...string) error {
	return api.found(w, r, a,
		func(ctx context.Context, v *view) (git.TreeEntry, error) { return v.readme(ctx, dirs) },
		func(ctx context.Context, v *view, entry git.TreeEntry) (any, error) { return v.file(ctx, entry) })
}

// found writes the file that find returns, rendered by show. The media types raw and html return just the
// file.
func (api *API) found(
	w http.ResponseWriter, r *http.Request, a *repo.Access,
	find func(context.Context, *view) (git.TreeEntry, error),
	show func(context.Context, *view, git.TreeEntry) (any, error),
) error {
	ref := web.QueryOf(r).Get("ref")
	if kind := web.From(r.Context()).Media.Kind; kind == "raw" || kind == "html" {
		v, err := api.s.view(r.Context(), a, ref)
		if err != nil {
			return err
		}
		defer v.release()
		entry, err := find(r.Context(), v)
		if err != nil {
			return err
		}
		if kind == "html" {
			return api.html(w, r, v, entry)
		}
		return v.raw(w, r, entry)
	}
	return api.cached(w, r, a, named(ref, false), func(ctx context.Context) (any, error) {
		v, err := api.s.view(ctx, a, ref)
		if err != nil {
			return nil, err
		}
		defer v.release()
		entry, err := find(ctx, v)
		if err != nil {
			return nil, err
		}
		return show(ctx, v, entry)
	})
}

// html responds with a file rendered as HTML. Error: 422 for a file that is not text.
func (api *API) html(w http.ResponseWriter, r *http.Request, v *view, e git.TreeEntry) error {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; img-src http: https:; sandbox")
	body, sha, err := api.s.htmlOf(r.Context(), v, e)
	if err != nil || web.NotModified(w, r, `W/"`+string(sha)+`-html"`) {
		return err
	}
	if err := admission.Hold(r.Context(), int64(len(body))); err != nil {
		return err
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	_, err = w.Write(body)
	return err
}

// licenseJSON is GitHub's license-content.
type licenseJSON struct {
	*contentJSON
	License *license.Simple `json:"license"`
}

// GET /repos/{owner}/{repo}/license
//
// GetLicense returns the license file in the root and the detected license. The media types raw and html
// return just the file, as stored or rendered.
func (api *API) GetLicense(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.found(w, r, a,
		func(ctx context.Context, v *view) (git.TreeEntry, error) { return v.license(ctx) },
		func(ctx context.Context, v *view, entry git.TreeEntry) (any, error) {
			file, err := v.file(ctx, entry)
			if err != nil {
				return nil, err
			}
			key, err := detect.LicenseOf(ctx, v.objects, entry.SHA)
			return licenseJSON{file, license.NewSimple(&key, web.From(ctx))}, err
		})
}
