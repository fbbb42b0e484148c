package release

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /{owner}/{repo}/releases/download/{path...}
//
// Download answers the bytes of an asset, where browser_download_url leads, regardless of the media type that
// the request accepts: the address is not part of the API. The path is a tag and the asset's name.
// Error: 404.
func (api *API) Download(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	path := web.Param(r, "path")
	at := strings.LastIndexByte(path, '/')
	if at <= 0 {
		return errs.Absent()
	}
	var x *Asset
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		of, err := visible(a, func(tx *db.Tx) (*Release, error) { return byAddress(tx, a.ID, path[:at]) }, tx)
		if err == nil {
			x, err = assetByName(tx, of.ID, path[at+1:])
		}
		return err
	})
	if err != nil {
		return err
	}
	return api.send(w, r, x)
}

// GET /{owner}/{repo}/releases/latest/download/{name}
//
// DownloadLatest leads to an asset of the latest release. Error: 404.
func (api *API) DownloadLatest(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	name := web.Param(r, "name")
	var latest *Release
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if latest, err = latestOf(tx, a.ID); err == nil {
			_, err = assetByName(tx, latest.ID, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	to := web.Path(a.Owner.Login, a.Name) + "/releases/download/" + escapeTag(latest.Tag) + web.Path(name)
	w.Header().Set("Location", web.From(r.Context()).Page(to))
	w.WriteHeader(http.StatusFound)
	return nil
}

// byAddress finds the release that stands in an address under its tag or, a draft, under what addressTag
// gives. Error: 404.
func byAddress(tx *db.Tx, repoID repo.ID, tag string) (*Release, error) {
	r, err := byTag(tx, repoID, tag)
	digits, ok := strings.CutPrefix(tag, untaggedPrefix)
	if !ok || !errs.Is(err, errs.NotFound) {
		return r, err
	}
	id, parseErr := strconv.ParseInt(digits, 16, 64)
	if parseErr != nil {
		return nil, err
	}
	if r, err = byID(tx, repoID, id); err == nil && (!r.Draft || r.untagged() != tag) {
		return nil, errs.Absent()
	}
	return r, err
}

// send sends the bytes of an asset, or a range of them, so that no browser shows them as a page of this site; or it
// leads to them in the storage of files.
func (api *API) send(w http.ResponseWriter, r *http.Request, x *Asset) error {
	if web.NotModified(w, r, `"`+x.File.SHA256+`"`) {
		return nil
	}
	if r.Method == http.MethodGet && r.Header.Get("Range") == "" {
		if err := api.countDownload(r, x); err != nil {
			return err
		}
	}
	return api.s.files.SendDownload(w, r, &x.File, disposition(x.Name), x.CreatedAt.Time())
}

var escapeQuoted = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// disposition is the header Content-Disposition of an asset, with its name between quotes as at GitHub. In a name by
// CleanName nothing is to be escaped, but a row may be older than a rule.
func disposition(name string) string {
	return `attachment; filename="` + escapeQuoted.Replace(name) + `"`
}

// countDownload counts a download. One that cannot be counted now, as when the disk is full, goes on.
func (api *API) countDownload(r *http.Request, x *Asset) error {
	err := api.s.db.Write(r.Context(), func(tx *db.Tx) error { return countDownload(tx, x.ID) })
	if errs.Is(err, errs.NoRoom) || errs.Is(err, errs.Unavailable) {
		api.s.log.WarnContext(r.Context(), "a download was not counted", "error", err)
		return nil
	}
	return err
}
