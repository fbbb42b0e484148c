package gitdata

import (
	"context"
	"net/http"

	"arbor/internal/detect"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/license"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// licenseJSON is GitHub's license-content.
type licenseJSON struct {
	*contentJSON
	License *license.Simple `json:"license"`
}

// GET /repos/{owner}/{repo}/license
//
// GetLicense answers the file in the root that tells the license, and which one it is. The
// media types raw and html give the file alone, as it is or rendered.
func (api *API) GetLicense(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	ref := web.QueryOf(r).Get("ref")
	if kind := web.From(r.Context()).Media.Kind; kind == "raw" || kind == "html" {
		v, err := api.view(r.Context(), a, ref)
		if err != nil {
			return err
		}
		defer v.release()
		entry, err := v.license(r.Context())
		if err != nil {
			return err
		}
		if kind == "html" {
			return api.html(w, r, v, entry)
		}
		return v.raw(w, r, entry)
	}
	return api.cached(w, r, a, named(ref, false), func(ctx context.Context) (any, error) {
		v, err := api.view(ctx, a, ref)
		if err != nil {
			return nil, err
		}
		defer v.release()
		entry, err := v.license(ctx)
		if err != nil {
			return nil, err
		}
		file, err := v.file(ctx, entry)
		if err != nil {
			return nil, err
		}
		key, err := detect.LicenseOf(ctx, v.objects, entry.SHA)
		return licenseJSON{file, license.NewSimple(&key, web.From(ctx))}, err
	})
}

// license finds the file that tells the license. Error: 404.
func (v *view) license(ctx context.Context) (git.TreeEntry, error) {
	entry, found, err := detect.License(ctx, v.objects, v.tree)
	if err == nil && !found {
		err = errs.Absent()
	}
	return entry, err
}
