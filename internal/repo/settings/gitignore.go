package settings

import (
	"io"
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /gitignore/templates
//
// ListGitignores answers the names of all templates, on one page.
func (api *API) ListGitignores(w http.ResponseWriter, r *http.Request) error {
	return web.JSON(w, r, http.StatusOK, repo.Gitignores())
}

// GET /gitignore/templates/{name}
//
// GetGitignore answers a template; with the media type raw only its text. Error: 404.
func (api *API) GetGitignore(w http.ResponseWriter, r *http.Request) error {
	name := web.Param(r, "name")
	text, known := repo.Gitignore(name)
	if !known {
		return errs.Absent()
	}
	if web.From(r.Context()).Media.Kind == "raw" {
		if web.NotModified(w, r, web.Tag([]byte(text))) {
			return nil
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, err := io.WriteString(w, text)
		return err
	}
	return web.JSON(w, r, http.StatusOK, map[string]string{"name": name, "source": text})
}
