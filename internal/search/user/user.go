// Package user finds people and organizations.
//
//	GET /search/users
//
// Words are matched in the index of names of package fulltext, which the worker of package search updates.
// E-mail addresses are found only by signed-in callers, who can also read them in profiles. Suspended
// accounts are not found.
package user

import (
	"context"
	"net/http"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/search"
	"arbor/internal/web"
)

// API answers searches.
type API struct{ kinds *search.Kinds }

// NewAPI returns the handler.
func NewAPI(kinds *search.Kinds) *API { return &API{kinds} }

// Routes is the endpoint.
func (api *API) Routes() []route.Route {
	free := route.Needs(scope.None, route.None)
	return []route.Route{free.Anyone("GET /search/users", api.Users)}
}

// kind is the language of these searches.
func kind() search.Kind {
	return search.Kind{
		Language: search.Language{
			Known: []string{"in", "type", "is", "user", "org", "repos", "followers", "created", "location",
				"fullname", "sort"},
			Times: []string{"created"}, Absent: []string{"language", "has", "enterprise", "repo"},
		},
		Sorts: []string{"best-match", "followers", "repositories", "joined"},
		Limit: "search", Time: 10 * time.Second,
	}
}

// GET /search/users
//
// Users searches users and organizations with the query q. sort is best-match, followers, repositories or
// joined; order is desc or asc. Only the first thousand results can be read. Errors: 422, 503.
func (api *API) Users(w http.ResponseWriter, r *http.Request) error {
	info := web.From(r.Context())
	return api.kinds.Serve(w, r, kind(), func(ctx context.Context, _ *web.Output, q *search.Asked) (*search.Found, error) {
		return api.find(ctx, q, func(a *account.Account, score search.Score, words []string) any {
			return newItem(a, score, q, words, info)
		})
	})
}

// item is GitHub's user-search-result-item.
type item struct {
	*account.Simple
	Score   search.Score       `json:"score"`
	Matches []search.TextMatch `json:"text_matches,omitzero"`
}

// Find finds a page of people and organizations. Errors: those of Users.
func (api *API) Find(ctx context.Context, of search.Question) (*search.Hits[*account.Account], error) {
	found, err := api.kinds.Find(ctx, kind(), of,
		func(ctx context.Context, _ *web.Output, q *search.Asked) (*search.Found, error) {
			return api.find(ctx, q, func(a *account.Account, _ search.Score, _ []string) any { return a })
		})
	if err != nil {
		return nil, err
	}
	return search.HitsOf[*account.Account](found), nil
}

// find finds a page and makes items of what it shows.
func (api *API) find(
	ctx context.Context, q *search.Asked, item func(a *account.Account, score search.Score, words []string) any,
) (*search.Found, error) {
	return api.kinds.FindNamed(ctx, func(tx *db.Tx, found *search.Found) error {
		c := search.NewConditions(tx, q.Caller)
		in, err := conditions(c, q.Terms)
		if err != nil || in == nowhere {
			return err
		}
		from, possible := c.Names(q, fulltext.Accounts, in, "a.id")
		if !possible {
			return nil
		}
		ids, scores, err := list(c, from, q, found)
		if err != nil {
			return err
		}
		shown, err := account.ByIDs(tx, ids)
		if err != nil {
			return err
		}
		words, _ := q.Words()
		for n, id := range ids {
			if a := shown[id]; a != nil {
				found.Items = append(found.Items, item(a, scores[n], words))
			}
		}
		return nil
	})
}

func newItem(a *account.Account, score search.Score, q *search.Asked, words []string, i *web.Info) item {
	x := item{Simple: account.NewSimple(a, i), Score: score}
	if q.Fragments {
		texts := [][2]string{{"login", a.Login}}
		if a.Name != nil {
			texts = append(texts, [2]string{"name", *a.Name})
		}
		if a.Email != nil && q.Caller != nil {
			texts = append(texts, [2]string{"email", *a.Email})
		}
		x.Matches = search.MatchesOf(x.URL, "User", words, texts...)
	}
	return x
}

// list finds the ids and scores of a page, and how many there are in all.
func list(
	c *search.Conditions, from string, q *search.Asked, found *search.Found,
) ([]account.ID, []search.Score, error) {
	rest := ` FROM accounts a WHERE `
	if from != "" {
		rest = ` FROM (` + from + `) f JOIN accounts a ON a.id = f.id WHERE `
	}
	// no account depends on the caller
	rest += "CAST($1 AS BIGINT) >= 0 AND a.suspended_at IS NULL AND a.kind <> 4 AND " + c.SQL() // no mannequins
	scored := from != ""
	order := orderBy(q, scored)
	return search.ReadPage[account.ID](c, q,
		search.Statement{ID: "a.id", Scored: scored, Rest: rest, Order: order}, found)
}

func orderBy(q *search.Asked, scored bool) string {
	direction := " DESC"
	if q.Asc {
		direction = " ASC"
	}
	column := map[string]string{"followers": "a.followers", "repositories": "a.public_repos",
		"joined": "a.created_at"}[q.Sort]
	switch {
	case column != "":
		return " ORDER BY " + column + direction + ", a.id" + direction
	case scored:
		return " ORDER BY f.score DESC, a.followers DESC, a.id DESC"
	default:
		return " ORDER BY a.followers DESC, a.id DESC"
	}
}

// nowhere is for words that are looked for where the caller sees none.
const nowhere fulltext.Part = 1 << 7

// conditions adds what the qualifiers ask for, and returns where to look for words.
func conditions(c *search.Conditions, terms []*search.Term) (in fulltext.Part, err error) {
	for _, t := range terms {
		ok := true
		switch value := strings.ToLower(t.Value); t.Name {
		case "in":
			for name := range strings.SplitSeq(value, ",") {
				part := map[string]fulltext.Part{"login": fulltext.InFirst, "name": fulltext.InSecond,
					"fullname": fulltext.InSecond,
					"email":    fulltext.InThird}[name]
				in |= part
				ok = ok && part != 0 && !t.Not
			}
		default:
			ok = about(c, t, value)
		}
		if !ok {
			return 0, t.Wrong()
		}
	}
	if in == 0 {
		in = fulltext.InFirst | fulltext.InSecond | fulltext.InThird
	}
	if c.Caller == nil {
		in &^= fulltext.InThird
	}
	if in == 0 {
		return nowhere, nil
	}
	return in, nil
}

// about adds the condition of a qualifier; false for a value that it cannot have.
func about(c *search.Conditions, t *search.Term, value string) bool {
	switch t.Name {
	case "":
	case "type", "is":
		kind := map[string]account.Kind{"user": account.User, "org": account.Organization,
			"organization": account.Organization}[value]
		c.All(t, "a.kind = "+c.Arg(int64(kind)))
		return kind != 0
	case "user", "org":
		if value == search.Me && c.Caller != nil {
			value = account.Fold(c.Caller.Login)
		}
		condition := "a.login_folded = " + c.Arg(account.Fold(value))
		if t.Name == "org" {
			condition += " AND a.kind = " + c.Arg(int64(account.Organization))
		}
		c.OneOf("login", t, condition)
	case "repos":
		return c.Span(t, "a.public_repos", search.ReadNumbers)
	case "followers":
		return c.Span(t, "a.followers", search.ReadNumbers)
	case "created":
		return c.Span(t, "a.created_at", search.ReadTimes)
	case "location":
		c.All(t, contains("a.location", c.Arg(like(value))))
	case "fullname":
		c.All(t, contains("a.name", c.Arg(like(value))))
	default:
		return false
	}
	return true
}

// contains holds where a text that may be NULL has a part, without regard to the case of ASCII letters.
func contains(column, pattern string) string {
	return "COALESCE(lower(" + column + ") LIKE " + pattern + ` ESCAPE '\', FALSE)`
}

// like returns the pattern of texts that hold one.
func like(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(account.Fold(text)) + "%"
}
