package comment

import (
	"net/http"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxMany is of how many issues one request asks for the comments.
const maxMany = 100

// ListMany answers the comments of the issues of the parameter numbers, for GraphQL: an object with a list
// for each, as GET /repos/{owner}/{repo}/issues/{number}/comments has it, and one comment more where there
// are more than the page holds. Issues that are not there, or switched off, have none.
func (api *API) ListMany(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	numbers := web.ParseNumbers(web.QueryOf(r).Get("numbers"), maxMany)
	at := web.ReadPage(r)
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		var p *Page
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
			p = NewPage(out.Context(), a)
			found, err := issue.Numbered(tx, a.ID, db.Unique(numbers))
			if err != nil {
				return err
			}
			var ids []issue.ID
			for _, i := range found {
				if issue.Enabled(a.Repo, i) == nil && i.Comments > 0 {
					ids = append(ids, i.ID)
				}
			}
			comments, err := firstOf(tx, ids, at.Size+1, at.Offset())
			if err != nil {
				return err
			}
			return p.Load(tx, comments)
		})
		if err == nil {
			err = p.Bodies(out, api.s.issues)
		}
		if err != nil {
			return err
		}
		lists := map[string][]*Payload{}
		for n, c := range p.comments {
			shown, err := p.payload(n)
			if err != nil {
				return err
			}
			key := strconv.FormatInt(c.Number, 10)
			lists[key] = append(lists[key], shown)
		}
		return out.JSON(lists)
	})
}
