package search

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/web"
)

// API answers searches.
type API struct {
	s       *Service
	answers *web.Answers
}

// cacheBytes bounds the answers kept in memory.
const cacheBytes = 8 << 20

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API {
	return &API{s: s, answers: web.NewAnswers(web.NewKept(cacheBytes))}
}

// GET /search/issues
//
// Issues searches the issues and pull requests that are visible to the caller with the query q. sort is
// best-match, created, updated or comments, unless q has a sort:; order is desc or asc. Only the first
// thousand results can be read. Errors: 422, 503.
func (api *API) Issues(w http.ResponseWriter, r *http.Request) error {
	q, err := readQuery(r, web.QueryOf(r).Get("q"))
	if err != nil {
		return err
	}
	at := web.ReadPage(r)
	caller := account.CallerFrom(r.Context())
	render := func(out *web.Output) error {
		found, err := api.s.Search(out.Context(), caller, q, at)
		if err == nil {
			err = found.page.Bodies(out, api.s.issues)
		}
		if err != nil {
			return err
		}
		web.Link(w, r, at, min(found.Total, MaxReach))
		return found.write(out)
	}
	// Results depend on the whole store, so a cached response is valid only until the next commit, of an
	// issue or of the index.
	return api.answers.Serve(w, r, api.s.db.State(r.Context()), web.Key(r, account.ViewOf(caller)), render)
}

// readQuery parses a query's text and the parameters of the order.
func readQuery(r *http.Request, text string) (*Query, error) {
	q, err := Parse(text)
	if err != nil {
		return nil, err
	}
	sort, err := web.QueryEnum(r, resource, "sort", BestMatch.String(), Created.String(), Updated.String(),
		Comments.String())
	if err != nil {
		return nil, err
	}
	order, err := web.QueryEnum(r, resource, "order", "desc", "asc")
	if err != nil {
		return nil, err
	}
	if q.Sort.By == BestMatch {
		q.Sort.By, _ = ParseBy(sort)
		q.Sort.Asc = order == "asc" && q.Sort.By != BestMatch
	}
	return q, nil
}

// write renders GitHub's issue-search-result. The items come first after the counts, because clients use
// the first list for paging.
func (f *Results) write(out *web.Output) error {
	out.Grow(4 << 10 * (len(f.Hits) + 1))
	if err := out.Open(struct {
		Total int64 `json:"total_count"`
		Part  bool  `json:"incomplete_results"`
	}{f.Total, f.Part}); err != nil {
		return err
	}
	out.Member("items")
	if err := out.Array(len(f.Hits), func(n int) error { return f.appendHit(out, f.Hits[n]) }); err != nil {
		return err
	}
	out.Buf = append(out.Buf, `,"search_type":"lexical"}`...)
	return nil
}

// appendHit renders an issue with its score, a number with a fraction as at GitHub.
func (f *Results) appendHit(out *web.Output, hit Hit) (err error) {
	if out.Buf, err = f.page.AppendIssue(out.Buf, hit.Issue); err != nil {
		return err
	}
	b := append(out.Buf[:len(out.Buf)-1], `,"score":`...) // inside the issue's brace
	out.Buf = append(strconv.AppendInt(b, hit.Score, 10), ".0}"...)
	return nil
}

// Caches returns the statistics of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.answers.Stats("search_answers")}
}
