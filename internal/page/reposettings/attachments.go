package reposettings

import (
	"net/http"

	"arbor/internal/inside"
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
	sort := ""
	if v.BySize {
		sort = "size"
	}
	more, err := p.kit.Read(r, inside.Request{Path: api(a) + "/keys", Query: page.Part(r, 50, "sort", sort),
		Handler: p.attachments}, &v.Attachments)
	if err != nil {
		return err
	}
	v.Pages = page.PagesOf(r, more)
	return p.t.Page(w, r, "attachments.html", v)
}
