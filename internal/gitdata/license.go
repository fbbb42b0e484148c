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

// license finds the license file. Error: 404.
func (v *view) license(ctx context.Context) (git.TreeEntry, error) {
	entry, found, err := detect.License(ctx, v.objects, v.tree)
	if err == nil && !found {
		err = errs.Absent()
	}
	return entry, err
}
