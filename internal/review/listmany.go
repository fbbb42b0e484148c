package review

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxMany is of how many pull requests one request asks for the reviews.
const maxMany = 100

// ListMany answers the reviews of the pull requests of the parameter numbers, for GraphQL: an object with a
// list for each, as GET /repos/{owner}/{repo}/pulls/{number}/reviews has it, and one review more where there
// are more than the page holds. Pull requests that are not there have none.
func (api *API) ListMany(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	numbers := web.ParseNumbers(web.QueryOf(r).Get("numbers"), maxMany)
	at := web.ReadPage(r)
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		p, of := newPage(out.Context(), a), map[issue.ID]int64{}
		var list []*Review
		var totals map[issue.ID]int64
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
			found, err := issue.Numbered(tx, a.ID, db.Unique(numbers))
			if err != nil {
				return err
			}
			var ids []issue.ID
			for _, i := range found {
				if i.Pull {
					ids, of[i.ID] = append(ids, i.ID), i.Number
				}
			}
			if list, err = firstOf(tx, ids, account.IDOf(a.Caller), at.Size+1, at.Offset()); err != nil {
				return err
			}
			if totals, err = countReviews(tx, ids, account.IDOf(a.Caller)); err != nil {
				return err
			}
			authors := make([]account.ID, len(list))
			for n, v := range list {
				authors[n] = v.AuthorID
			}
			return p.load(tx, authors)
		})
		if err != nil {
			return err
		}
		texts := make([]string, len(list))
		for n, v := range list {
			texts[n] = v.Body
		}
		if err := p.prepare(out, api.s.issues, texts); err != nil {
			return err
		}
		lists := map[string][]*countedReview{}
		for n, v := range list {
			number := of[v.IssueID]
			shown, err := p.review(n, v, number, v.State.String())
			if err != nil {
				return err
			}
			key := strconv.FormatInt(number, 10)
			lists[key] = append(lists[key], &countedReview{shown, totals[v.IssueID]})
		}
		return out.JSON(lists)
	})
}

// countedReview is a review that tells how many its pull request has.
type countedReview struct {
	*reviewPayload
	Total int64 `json:"total_of"`
}
