package comment

import (
	"net/http"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxOwn is of how many comments one request asks for the caller's reactions.
const maxOwn = 200

// ListOwnReactions answers how the caller reacted to an issue and to the comments of the parameter comments,
// for pages: lists of contents by the ids of comments; that of the issue is by 0. Errors: 404, 410.
func (api *API) ListOwnReactions(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	out := map[string][]string{}
	if a.Caller == nil {
		return web.JSON(w, r, http.StatusOK, out)
	}
	i, err := api.s.issues.Requested(r, a)
	if err != nil {
		return err
	}
	ids := web.ParseNumbers(web.QueryOf(r).Get("comments"), maxOwn)
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		first, err := reaction.Own(tx, a.ID, a.Caller.ID, reaction.Issue, []int64{int64(i.ID)})
		if err != nil {
			return err
		}
		list, err := reaction.Own(tx, a.ID, a.Caller.ID, reaction.IssueComment, ids)
		if err != nil {
			return err
		}
		list[0] = first[int64(i.ID)]
		for id, contents := range list {
			for _, c := range contents {
				key := strconv.FormatInt(id, 10)
				out[key] = append(out[key], c.String())
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// subject is the comment that {id} names, as package reaction sees it.
// Errors: 404, 410.
func (api *API) subject(r *http.Request, a *repo.Access) (reaction.Subject, error) {
	c, err := api.find(r, a)
	if err != nil {
		return reaction.Subject{}, err
	}
	return reaction.Subject{Kind: reaction.IssueComment, ID: c.ID, Locked: c.Locked,
		Changed: func(tx *db.Tx) error {
			return noteReaction(tx, a.ID, c.ID)
		}}, nil
}
