// Package tag finds what repositories and issues are tagged with: topics, and labels.
//
//	topic.go   GET /search/topics
//	label.go   GET /search/labels
//
// Names are compared with patterns, since they are short and few. Topics are counted in repositories that the caller
// may see (decision 13).
package tag

import (
	"context"
	"net/http"
	"strings"
	"time"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/search"
	"arbor/internal/web"
)

// API answers searches.
type API struct {
	kinds *search.Kinds
	repos *repo.Service
}

// NewAPI returns the handlers.
func NewAPI(kinds *search.Kinds, repos *repo.Service) *API { return &API{kinds, repos} }

// Routes are the endpoints.
func (api *API) Routes() []route.Route {
	return []route.Route{
		route.Needs(scope.PublicRepo, "metadata").Anyone("GET /search/topics", api.Topics),
		route.Needs(scope.PublicRepo, "issues").Anyone("GET /search/labels", api.Labels),
	}
}

// longest is the time that a search may take.
const longest = 10 * time.Second

func topics() search.Kind {
	return search.Kind{Language: search.Language{Known: []string{"is", "repositories", "created"},
		Times: []string{"created"}, Absent: []string{"sort"}},
		Sorts: []string{"best-match"}, Limit: "search", Time: longest}
}

// topic is GitHub's topic-search-result-item. Arbor has no pages about topics.
type topic struct {
	Name         string       `json:"name"`
	Display      *string      `json:"display_name"`
	Short        *string      `json:"short_description"`
	Description  *string      `json:"description"`
	CreatedBy    *string      `json:"created_by"`
	Released     *string      `json:"released"`
	CreatedAt    db.Time      `json:"created_at"` // when the oldest repository was created
	UpdatedAt    db.Time      `json:"updated_at"` // when one of the repositories was changed last
	Featured     bool         `json:"featured"`
	Curated      bool         `json:"curated"`
	Score        search.Score `json:"score"`
	Repositories int64        `json:"repository_count"`

	Matches []search.TextMatch `json:"text_matches,omitzero"`
}

// GET /search/topics
//
// Topics searches the topics of the repositories that are visible to the caller, those of most repositories first.
// Only the first thousand results can be read. Errors: 422, 503.
func (api *API) Topics(w http.ResponseWriter, r *http.Request) error {
	info := web.From(r.Context())
	return api.kinds.Serve(w, r, topics(), func(
		ctx context.Context, _ *web.Output, q *search.Asked,
	) (*search.Found, error) {
		found := &search.Found{}
		err := api.kinds.Read(ctx, func(tx *db.Tx) error {
			*found = search.Found{}
			return findTopics(search.NewConditions(tx, q.Caller), q, info, found)
		})
		return found, err
	})
}

func findTopics(c *search.Conditions, q *search.Asked, info *web.Info, found *search.Found) error {
	having, err := about(c, q.Terms)
	if err != nil {
		return err
	}
	yes, no := q.Words()
	first := "f.topic"
	for n, word := range yes {
		word = topicOf(word)
		c.Where = append(c.Where, "'-' || f.topic LIKE "+c.Arg("%-"+escape(word)+"%")+` ESCAPE '\'`)
		if n == 0 {
			first = "CASE WHEN f.topic = " + c.Arg(word) + " THEN 0 ELSE 1 END"
		}
	}
	for _, word := range no {
		c.Where = append(c.Where, "'-' || f.topic NOT LIKE "+c.Arg("%-"+escape(topicOf(word))+"%")+` ESCAPE '\'`)
	}
	from := repo.FromVisibleIn(`SELECT repo_id AS id, topic FROM repo_topics`, c.Caller)
	where := c.SQL()
	limit, offset := c.Arg(q.MaxRows()), c.Arg(q.Page.Offset())
	return db.QueryEach(c.Tx, func(row db.Scanner) error {
		t := topic{Score: 1}
		if err := row.Scan(&t.Name, &t.Repositories, &t.CreatedAt, &t.UpdatedAt, &found.Total); err != nil {
			return err
		}
		if q.Fragments {
			t.Matches = search.MatchesOf(info.API("/search/topics?q="+t.Name), "Topic", yes, [2]string{"name", t.Name})
		}
		found.Items = append(found.Items, t)
		return nil
	}, `SELECT f.topic, count(*), MIN(r.created_at), MAX(r.updated_at), count(*) OVER ()`+from+` AND `+where+
		` GROUP BY f.topic HAVING `+having+` ORDER BY `+first+`, count(*) DESC, f.topic LIMIT `+limit+` OFFSET `+offset,
		c.Args...)
}

// about adds the conditions of qualifiers, and returns the one on what a topic has in all.
func about(c *search.Conditions, terms []*search.Term) (having string, err error) {
	list := []string{"TRUE"}
	for _, t := range terms {
		ok := true
		switch t.Name {
		case "is":
			switch strings.ToLower(t.Value) {
			case "featured", "curated": // none is
				c.All(t, "FALSE")
			case "not-featured", "not-curated":
				c.All(t, "TRUE")
			default:
				ok = false
			}
		case "repositories":
			ok = span(t, "count(*)", search.ReadNumbers, &list)
		case "created":
			ok = span(t, "MIN(r.created_at)", search.ReadTimes, &list)
		}
		if !ok {
			return "", t.Wrong()
		}
	}
	return strings.Join(list, " AND "), nil
}

func span(t *search.Term, expression string, read func(string) (search.Span, bool), list *[]string) bool {
	s, ok := read(t.Value)
	condition := s.Condition(expression)
	if t.Not {
		condition = "NOT " + condition
	}
	*list = append(*list, condition)
	return ok
}

// topicOf returns a word or phrase as topics have it.
func topicOf(word string) string { return strings.Join(strings.Fields(strings.ToLower(word)), "-") }

// escape escapes the wildcards of LIKE.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text)
}
