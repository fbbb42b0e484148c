package search

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/finder"
	"arbor/internal/issue"
	"arbor/internal/web"
)

// maxEach is how many searches are answered at once.
const maxEach = 10

// briefResults is the first page of what one of several searches found.
type briefResults struct {
	Total int64          `json:"total_count"`
	Items []*issue.Brief `json:"items"`
}

// IssuesEach answers several searches at once, for the page of what waits for somebody: the first page of
// what each q finds, as GET /search/issues finds it, with brief items. It takes a few statements for all of
// them where each finds few issues. Errors: those of GET /search/issues; 422 for a query with words.
func (api *API) IssuesEach(w http.ResponseWriter, r *http.Request) error {
	texts := web.QueryOf(r).All("q")
	if len(texts) > maxEach {
		return errs.Validation(errs.Field{Resource: resource, Field: "q", Code: errs.InvalidField})
	}
	var queries []*Query
	for _, text := range texts {
		q, err := readQuery(r, text)
		if err != nil {
			return err
		}
		if q.asksIndex() {
			return errs.Validation(errs.Field{Resource: resource, Field: "q", Code: errs.InvalidField,
				Value: text})
		}
		queries = append(queries, q)
	}
	caller := account.CallerFrom(r.Context())
	render := func(out *web.Output) error {
		var found []briefResults
		err := api.s.read(out.Context(), false, func(tx *db.Tx, _ bool) (err error) {
			page := issue.NewPage(out.Context())
			found, err = readEach(tx, api.s.issues, page, caller, queries, web.ReadPage(r).Size)
			return err
		})
		if err != nil {
			return err
		}
		return out.List(len(found), func(n int) (any, error) { return found[n], nil })
	}
	return api.answers.Serve(w, r, api.s.db.State(r.Context()),
		web.Key(r, account.ViewOf(caller), "each"), render)
}

// readEach reads what the queries find, and with page the repositories of all of it.
func readEach(tx *db.Tx, issues *issue.Service, page *issue.Page, caller *account.Caller, queries []*Query,
	size int64) ([]briefResults, error) {
	in := make([]finder.Query, len(queries))
	for n, q := range queries {
		var err error
		if in[n], err = q.prepare(tx, caller); err != nil {
			return nil, err
		}
	}
	lists, found, err := issues.FindEach(tx, in, size)
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		page.Add(list...)
	}
	if err := page.Enter(tx, caller); err != nil {
		return nil, err
	}
	results := make([]briefResults, len(queries))
	for n, list := range lists {
		results[n] = briefResults{found[n].Total, make([]*issue.Brief, len(list))}
		for k, i := range list {
			results[n].Items[k] = page.Brief(i)
		}
	}
	return results, nil
}
