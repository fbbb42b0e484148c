package gitdata

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/admission"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/serve"
	"arbor/internal/lfs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/tarball
// GET /repos/{owner}/{repo}/tarball/{ref...}
//
// GetTarball redirects to the files of a branch, a tag or a commit as tar.gz; the default branch if there
// is not a ref. Errors: 404, 409 for an empty repository.
func (api *API) GetTarball(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.toArchive(w, r, a, serve.TarGz)
}

// GET /repos/{owner}/{repo}/zipball
// GET /repos/{owner}/{repo}/zipball/{ref...}
//
// GetZipball redirects to the files of a branch, a tag or a commit as zip, like GetTarball.
func (api *API) GetZipball(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.toArchive(w, r, a, serve.Zip)
}

// toArchive redirects to the archive of the commit that a ref currently refers to.
func (api *API) toArchive(w http.ResponseWriter, r *http.Request, a *repo.Access, f serve.ArchiveFormat) error {
	sha, err := api.s.revision(r.Context(), a, strings.TrimPrefix(web.Param(r, "ref"), "refs/"), false)
	if err != nil {
		return err
	}
	to := web.Path(a.Owner.Login, a.Name, "archive", string(sha)+"."+string(f))
	w.Header().Set("Location", web.From(r.Context()).Page(to))
	w.WriteHeader(http.StatusFound)
	return nil
}

// GET /{owner}/{repo}/archive/{file...}
//
// GetArchive serves NAME.tar.gz or NAME.zip with the files of a commit, branch or tag. It is packed while
// it is sent; its top directory is named after repository and commit. It has the objects of Git LFS in the
// place of their pointers. Errors: 404, 409 for an empty
// repository.
func (api *API) GetArchive(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	file := web.Param(r, "file")
	for f, kind := range map[serve.ArchiveFormat]string{serve.TarGz: "application/gzip",
		serve.Zip: "application/zip"} {
		name, ok := strings.CutSuffix(file, "."+string(f))
		if !ok || name == "" {
			continue
		}
		sha, err := api.s.revision(r.Context(), a, strings.TrimPrefix(name, "refs/"), false)
		if err != nil {
			return err
		}
		tag := string(sha)
		newest := int64(0)
		if api.s.LFS != nil {
			if newest, err = api.s.LFS.Newest(r.Context(), a); err != nil {
				return err
			}
		}
		if newest > 0 { // then its objects are in the archive
			tag += "-" + strconv.FormatInt(newest, 10)
		}
		if web.NotModified(w, r, fmt.Sprintf(`"%s.%s"`, tag, f)) {
			return nil
		}
		return api.sendArchive(w, r, a, archive{sha, f, kind, newest > 0})
	}
	return errs.Absent()
}

// archive is an archive that is asked for.
type archive struct {
	sha    git.SHA
	format serve.ArchiveFormat
	kind   string // its media type
	large  bool   // there are objects of Git LFS
}

func (api *API) sendArchive(w http.ResponseWriter, r *http.Request, a *repo.Access, x archive) error {
	objects, release, err := api.s.repos.GitInUse(r.Context(), a)
	if err != nil {
		return err
	}
	defer release()
	folder := a.Owner.Login + "-" + a.Name + "-" + string(x.sha[:7])
	h := w.Header()
	h.Set("Content-Type", x.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.%s"`, folder, x.format))
	if r.Method == http.MethodHead {
		return nil
	}
	if !x.large {
		admission.As(r.Context(), admission.Stream)
		return serve.Archive(r.Context(), objects, w, x.sha, x.format, folder+"/")
	}
	contents, err := api.s.LFS.Contents(r.Context(), a)
	if err != nil {
		return err
	}
	admission.As(r.Context(), admission.Stream)
	return serve.ArchiveWith(r.Context(), objects, w, x.sha, x.format, folder+"/", lfs.MaxPointer, contents.Replace)
}
