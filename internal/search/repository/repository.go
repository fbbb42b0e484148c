// Package repository finds repositories by their names, descriptions, topics and numbers.
//
//	GET /search/repositories
//
// Words are looked for in the index of names that package fulltext has and the worker of package
// search keeps; everything else is a condition of one statement. Only what the caller may see is
// found and counted (decision 13).
package repository

import (
	"context"
	"net/http"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/search"
	"arbor/internal/web"
)

// API answers searches.
type API struct{ kinds *search.Kinds }

// NewAPI returns the handler.
func NewAPI(kinds *search.Kinds) *API { return &API{kinds} }

// Caches returns the statistics of the answers of all kinds of searches.
func (api *API) Caches() []cache.Stats { return []cache.Stats{api.kinds.Stats("search_kinds_answers")} }

// Routes is the endpoint.
func (api *API) Routes() []route.Route {
	metadata := route.Needs(scope.PublicRepo, "metadata")
	return []route.Route{metadata.Anyone("GET /search/repositories", api.Repositories)}
}

// kind is the language of these searches.
func kind() search.Kind {
	return search.Kind{
		Language: search.Language{
			Known: []string{"in", "user", "org", "repo", "size", "forks", "stars", "created", "pushed",
				"updated", "language",
				"topic", "topics", "license", "is", "visibility", "fork", "archived", "mirror",
				"template", "sort"},
			Times: []string{"created", "pushed", "updated"},
			Absent: []string{"followers", "good-first-issues", "help-wanted-issues", "has",
				"deployed", "props", "custom-properties",
				"no", "enterprise"},
		},
		Sorts: []string{"best-match", "stars", "forks", "updated"},
		Limit: "search", Time: 10 * time.Second,
	}
}

// GET /search/repositories
//
// Repositories searches the repositories that are visible to the caller with the query q. sort is
// best-match, stars, forks or updated; order is desc or asc. Only the first thousand results can be read.
// As at GitHub, forks are found only with fork:. Errors: 422, 503.
func (api *API) Repositories(w http.ResponseWriter, r *http.Request) error {
	info := web.From(r.Context())
	return api.kinds.Serve(w, r, kind(), func(ctx context.Context, _ *web.Output, q *search.Asked) (*search.Found, error) {
		return api.find(ctx, q, func(a *repo.Access, score search.Score, words []string) any {
			return newItem(a, score, q, words, info)
		})
	})
}

// item is GitHub's repo-search-result-item.
type item struct {
	*repo.Payload
	Score   search.Score       `json:"score"`
	Matches []search.TextMatch `json:"text_matches,omitzero"`
}

// Find finds a page of repositories. Errors: those of Repositories.
func (api *API) Find(ctx context.Context, of search.Question) (*search.Hits[*repo.Access], error) {
	found, err := api.kinds.Find(ctx, kind(), of,
		func(ctx context.Context, _ *web.Output, q *search.Asked) (*search.Found, error) {
			return api.find(ctx, q, func(a *repo.Access, _ search.Score, _ []string) any { return a })
		})
	if err != nil {
		return nil, err
	}
	return search.HitsOf[*repo.Access](found), nil
}

// find finds a page and makes items of what it shows.
func (api *API) find(
	ctx context.Context, q *search.Asked, item func(a *repo.Access, score search.Score, words []string) any,
) (*search.Found, error) {
	return api.kinds.FindNamed(ctx, func(tx *db.Tx, found *search.Found) error {
		c := search.NewConditions(tx, q.Caller)
		in, err := conditions(c, q.Terms)
		if err != nil {
			return err
		}
		from, possible := c.Names(q, fulltext.Repos, in, "r.id")
		if !possible {
			return nil
		}
		ids, scores, err := list(c, from, q, found)
		if err != nil {
			return err
		}
		shown, err := repo.VisibleByID(tx, q.Caller, ids)
		if err != nil {
			return err
		}
		byID := map[repo.ID]*repo.Access{}
		for _, a := range shown {
			byID[a.ID] = a
		}
		words, _ := q.Words()
		for n, id := range ids {
			if a := byID[id]; a != nil {
				found.Items = append(found.Items, item(a, scores[n], words))
			}
		}
		return nil
	})
}

func newItem(a *repo.Access, score search.Score, q *search.Asked, words []string, i *web.Info) item {
	x := item{Payload: repo.NewPayload(a, i), Score: score}
	if q.Fragments {
		texts := [][2]string{{"name", a.Name}}
		if a.Description != nil {
			texts = append(texts, [2]string{"description", *a.Description})
		}
		x.Matches = search.MatchesOf(x.URL, "Repository", words, texts...)
	}
	return x
}

// list finds the ids and scores of a page, and how many there are in all.
func list(
	c *search.Conditions, from string, q *search.Asked, found *search.Found,
) ([]repo.ID, []search.Score, error) {
	rest := repo.FromVisibleIn(from, c.Caller) + " AND " + c.SQL()
	scored := from != ""
	order := orderBy(q, scored, c.Caller)
	return search.ReadPage[repo.ID](c, q,
		search.Statement{ID: "r.id", Scored: scored, Rest: rest, Order: order}, found)
}

// orderBy is total: of equals, those with more stars come first, and of these the newer.
func orderBy(q *search.Asked, scored bool, caller *account.Caller) string {
	direction := " DESC"
	if q.Asc {
		direction = " ASC"
	}
	switch {
	case q.Sort == "stars":
		return " ORDER BY r.stars" + direction + ", r.id" + direction
	case q.Sort == "forks":
		return " ORDER BY " + repo.ForksSeen(caller) + direction + ", r.id" + direction
	case q.Sort == "updated":
		return " ORDER BY r.updated_at" + direction + ", r.id" + direction
	case scored:
		return " ORDER BY f.score DESC, r.stars DESC, r.id DESC"
	default:
		return " ORDER BY r.stars DESC, r.id DESC"
	}
}

// partOf is where words are looked for; 0: nowhere.
func partOf(name string) fulltext.Part {
	return map[string]fulltext.Part{"name": fulltext.InFirst, "description": fulltext.InSecond,
		"topics": fulltext.InThird}[name]
}

// conditions adds what the qualifiers ask for, and returns where to look for words.
func conditions(c *search.Conditions, terms []*search.Term) (in fulltext.Part, err error) {
	if _, err := c.Scope(terms); err != nil {
		return 0, err
	}
	forks := "false"
	for _, t := range terms {
		ok := true
		switch value := strings.ToLower(t.Value); t.Name {
		case "in":
			for name := range strings.SplitSeq(value, ",") {
				if name == "readme" {
					return 0, t.Refuse("Words are not looked for in readmes.")
				}
				in |= partOf(name)
				ok = ok && partOf(name) != 0 && !t.Not
			}
		case "fork":
			forks, ok = value, !t.Not && (value == "true" || value == "false" || value == "only")
		default:
			ok = number(c, t) || about(c, t, value)
		}
		if !ok {
			return 0, t.Wrong()
		}
	}
	switch forks {
	case "false":
		c.Where = append(c.Where, "r.parent_id IS NULL")
	case "only":
		c.Where = append(c.Where, "r.parent_id IS NOT NULL")
	}
	return in, nil
}

// number adds the condition of a qualifier whose value is a span; false for others and wrong values.
func number(c *search.Conditions, t *search.Term) bool {
	switch t.Name {
	case "size":
		return c.Span(t, "r.size_kb", search.ReadNumbers)
	case "forks":
		return c.Span(t, repo.ForksSeen(c.Caller), search.ReadNumbers)
	case "stars":
		return c.Span(t, "r.stars", search.ReadNumbers)
	case "topics":
		return c.Span(t, "(SELECT count(*) FROM repo_topics y WHERE y.repo_id = r.id)", search.ReadNumbers)
	case "created", "pushed", "updated":
		return c.Span(t, "r."+t.Name+"_at", search.ReadTimes)
	}
	return false
}

// about adds the condition of another qualifier; false for a value that it cannot have.
func about(c *search.Conditions, t *search.Term, value string) bool {
	switch t.Name {
	case "", "user", "org", "repo":
	case "language":
		c.OneOf("language", t, "r.language IS NOT NULL AND lower(r.language) = "+c.Arg(value))
	case "license":
		c.OneOf("license", t, "r.license IS NOT NULL AND r.license = "+c.Arg(value))
	case "topic":
		c.All(t, "r.id IN (SELECT y.repo_id FROM repo_topics y WHERE y.topic = "+c.Arg(value)+")")
	case "is", "visibility":
		if value != "public" && value != "private" {
			return false
		}
		c.All(t, map[string]string{"public": "NOT r.private", "private": "r.private"}[value])
	case "archived":
		return c.Flag(t, "r.archived")
	case "mirror", "template": // there are none
		return c.Flag(t, "FALSE")
	default:
		return false
	}
	return true
}
