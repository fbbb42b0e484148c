// Package commit finds commits of default branches.
//
//	GET /search/commits
//
//	commit.go  the endpoint, walking and rendering
//	filter.go  what a commit must be
//
// No index knows commits: histories are walked, the repositories that were pushed to last first,
// within the bounds of package search. What they leave out makes an answer incomplete.
package commit

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/search"
	"arbor/internal/web"
)

// Bounds of a search.
const (
	maxWalked = 50_000 // commits of one repository, the newest
	maxHits   = 20_000 // commits that are found
	chunk     = 1000   // commits that are read at one time
)

// API answers searches.
type API struct {
	kinds *search.Kinds
	repos *repo.Service
	git   *gitdata.Service
}

// NewAPI returns the handler.
func NewAPI(kinds *search.Kinds, repos *repo.Service, objects *gitdata.Service) *API {
	return &API{kinds, repos, objects}
}

// Routes is the endpoint.
func (api *API) Routes() []route.Route {
	contents := route.Needs(scope.PublicRepo, "contents")
	return []route.Route{contents.Anyone("GET /search/commits", api.Commits)}
}

// kind is the language of these searches.
func kind() search.Kind {
	return search.Kind{
		Language: search.Language{
			Known: []string{"repo", "user", "org", "is", "fork", "author", "committer", "author-name",
				"committer-name", "author-email",
				"committer-email", "author-date", "committer-date", "merge", "hash", "tree",
				"parent", "sort"},
			Times:  []string{"author-date", "committer-date"},
			Absent: []string{"in", "path", "enterprise"},
		},
		Sorts: []string{"best-match", "author-date", "committer-date"},
		Limit: "search", Scans: true,
	}
}

// GET /search/commits
//
// Commits searches the commits on the default branches of repositories that are visible to the caller with
// the query q. sort is best-match, author-date or committer-date; order is desc or asc. Only the first
// thousand results can be read. incomplete_results reports that the time limit was reached before all
// commits were searched. Errors: 422, 429, 503.
func (api *API) Commits(w http.ResponseWriter, r *http.Request) error {
	return api.kinds.Serve(w, r, kind(), api.find)
}

// Find finds a page of commits. Errors: those of Commits.
func (api *API) Find(ctx context.Context, of search.Question) (*search.Hits[*gitdata.CommitView], error) {
	found, err := api.kinds.Find(ctx, kind(), of, api.find)
	if err != nil {
		return nil, err
	}
	for n, one := range found.Items {
		found.Items[n] = one.(item).commit
	}
	return search.HitsOf[*gitdata.CommitView](found), nil
}

// item is GitHub's commit-search-result-item.
type item struct {
	commit     *gitdata.CommitView
	payload    *gitdata.CommitPayload
	repository *repo.Payload
	score      search.Score
	matches    []search.TextMatch
}

// hit is a commit that was found.
type hit struct {
	tip               int
	sha               git.SHA
	author, committer int64 // when
}

func (api *API) find(ctx context.Context, _ *web.Output, q *search.Asked) (*search.Found, error) {
	var f *filter
	tips, part, err := api.kinds.Tips(ctx, q, func(c *search.Conditions) (err error) {
		f, err = newFilter(c, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	var hits []hit
	at := 0
	left, err := q.Scan(ctx, api.repos, tips,
		func(ctx context.Context, tip search.Tip, objects *git.Repository) (bool, error) {
			for tips[at].ID != tip.ID {
				at++
			}
			whole, err := walk(ctx, objects, tip.SHA, f, func(c *git.Commit) bool {
				hits = append(hits, hit{at, c.SHA, c.Author.When.UnixMicro(), c.Committer.When.UnixMicro()})
				return len(hits) < maxHits
			})
			return whole, err
		})
	if err != nil {
		return nil, err
	}
	found := &search.Found{Total: int64(len(hits)), Part: part || left}
	sortHits(hits, q)
	from := min(q.Page.Offset(), found.Total)
	return found, api.show(ctx, q, tips, hits[from:min(from+q.MaxRows(), found.Total)], found)
}

// walk calls fn with the commits that the filter lets through, the newest first, until it returns false.
func walk(
	ctx context.Context, objects *git.Repository, from git.SHA, f *filter, fn func(*git.Commit) bool,
) (whole bool, err error) {
	shas, _, more, err := objects.Log(ctx, git.LogOptions{From: []git.SHA{from}, Max: maxWalked})
	if err != nil {
		return false, err
	}
	whole = !more
	for part := range slices.Chunk(shas, chunk) {
		err := objects.EachCommits(ctx, part, func(list []*git.Commit) error {
			for _, c := range list {
				if f.holds(c) && !fn(c) {
					return git.ErrStop
				}
			}
			return nil
		})
		switch {
		case err == git.ErrStop:
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return whole, nil
}

// sortHits orders by date: the committer's unless it is to be the author's. Of equals, the newer in
// its history comes first.
func sortHits(hits []hit, q *search.Asked) {
	slices.SortStableFunc(hits, func(a, b hit) int {
		order := cmp.Compare(b.committer, a.committer)
		if q.Sort == "author-date" {
			order = cmp.Compare(b.author, a.author)
		}
		if q.Asc {
			return -order
		}
		return order
	})
}

// show renders a page.
func (api *API) show(
	ctx context.Context, q *search.Asked, tips []search.Tip, hits []hit, found *search.Found,
) error {
	list := make([]repo.Of[git.SHA], len(hits))
	for n, h := range hits {
		list[n] = repo.Of[git.SHA]{In: tips[h.tip].Access, Key: h.sha}
	}
	shown, err := api.git.CommitsAcross(ctx, list)
	if err != nil {
		return err
	}
	words, _ := q.Words()
	for n, c := range shown {
		if c == nil {
			continue
		}
		x := item{commit: c, payload: gitdata.NewCommitPayload(ctx, c), repository: repo.NewPayload(list[n].In, web.From(ctx)), score: 1}
		if q.Fragments {
			url := x.repository.URL + "/commits/" + string(hits[n].sha)
			x.matches = search.MatchesOf(url, "Commit", words, [2]string{"message", x.payload.Commit.Message})
		}
		found.Items = append(found.Items, x)
	}
	return nil
}

// MarshalJSON renders the commit with what a search adds.
func (x item) MarshalJSON() ([]byte, error) {
	return search.Extend(x.payload, struct {
		Repository *repo.Payload      `json:"repository"`
		Score      search.Score       `json:"score"`
		Matches    []search.TextMatch `json:"text_matches,omitzero"`
	}{x.repository, x.score, x.matches})
}
