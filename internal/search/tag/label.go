package tag

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/repo"
	"arbor/internal/search"
	"arbor/internal/web"
)

func labels() search.Kind {
	return search.Kind{Sorts: []string{"best-match", "created", "updated"}, Limit: "search", Time: longest}
}

// labelItem is GitHub's label-search-result-item.
type labelItem struct {
	*label.Payload
	Score   search.Score       `json:"score"`
	Matches []search.TextMatch `json:"text_matches,omitzero"`
}

// GET /search/labels
//
// Labels searches the labels of the repository repository_id for those with one of the words in their names or
// descriptions. sort is best-match, created or updated; order is desc or asc. Errors: 404, 422, 503.
func (api *API) Labels(w http.ResponseWriter, r *http.Request) error {
	id, ok := web.ParseNumber(web.QueryOf(r).Get("repository_id"))
	if !ok {
		return errs.Validation(errs.Field{Resource: "Search", Field: "repository_id", Code: errs.MissingField})
	}
	a, err := api.repos.FindByID(r.Context(), account.CallerFrom(r.Context()), repo.ID(id))
	if err != nil {
		return err
	}
	at := issuekit.AddressesOf(r, a)
	return api.kinds.Serve(w, r, labels(), func(
		ctx context.Context, _ *web.Output, q *search.Asked,
	) (*search.Found, error) {
		found := &search.Found{}
		err := api.kinds.Read(ctx, func(tx *db.Tx) error {
			*found = search.Found{}
			return findLabels(search.NewConditions(tx, q.Caller), q, a, at, found)
		})
		return found, err
	})
}

func findLabels(
	c *search.Conditions, q *search.Asked, a *repo.Access, at *issuekit.Addresses, found *search.Found,
) error {
	yes, no := q.Words()
	has := func(word string) string {
		pattern := c.Arg("%" + escape(strings.ToLower(word)) + "%")
		return `(l.name_folded LIKE ` + pattern + ` ESCAPE '\' OR lower(COALESCE(l.description, '')) LIKE ` + pattern + ` ESCAPE '\')`
	}
	byName, best := q.Sort == labels().Sorts[0], ""
	for n, word := range yes {
		c.OneOf("words", &search.Term{}, has(word))
		if n == 0 && byName {
			best = "CASE WHEN l.name_folded = " + c.Arg(strings.ToLower(word)) + " THEN 0 ELSE 1 END, "
		}
	}
	for _, word := range no {
		c.Where = append(c.Where, "NOT "+has(word))
	}
	order := " ORDER BY " + best + "l.name_folded"
	if !byName {
		order = " ORDER BY l.id DESC"
		if q.Asc {
			order = " ORDER BY l.id"
		}
	}
	// no label depends on the caller
	rest := ` FROM labels l WHERE CAST($1 AS BIGINT) >= 0 AND l.repo_id = ` + c.Arg(a.ID) + ` AND ` + c.SQL()
	ids, scores, err := search.ReadPage[int64](c, q, search.Statement{ID: "l.id", Rest: rest, Order: order}, found)
	if err != nil {
		return err
	}
	byID, err := label.ByIDs(c.Tx, a.ID, ids)
	if err != nil {
		return err
	}
	for n, id := range ids {
		l := byID[id]
		if l == nil {
			continue
		}
		x := labelItem{Payload: label.NewPayload(l, at), Score: scores[n]}
		if q.Fragments {
			texts := [][2]string{{"name", l.Name}}
			if l.Description != nil {
				texts = append(texts, [2]string{"description", *l.Description})
			}
			x.Matches = search.MatchesOf(x.URL, "Label", yes, texts...)
		}
		found.Items = append(found.Items, x)
	}
	return nil
}
