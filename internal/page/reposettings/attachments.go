package reposettings

import (
	"net/http"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// attachmentsView is the files of the repository's texts.
type attachmentsView struct {
	view
	page.Attachments
	BySize bool
}

// GET /{owner}/{repo}/settings/attachments
//
// Attachments lists the files that people put into texts, the newest first, or with ?sort=size the largest.
// Errors: 401, 403.
func (p *Pages) Attachments(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &attachmentsView{BySize: web.QueryOf(r).Get("sort") == "size"}
	var err error
	if v.view, err = p.frame(r, a, "attachments", "Attachments"); err != nil {
		return err
	}
	at := page.At(r, 50)
	found, err := p.of.Attachments.List(r.Context(), a, v.BySize, at)
	if err != nil {
		return err
	}
	v.Attachments, v.Pages = page.NewAttachments(found, a), page.PagerOf(r, at, found.Files)
	return p.t.Page(w, r, "attachments.html", v)
}
