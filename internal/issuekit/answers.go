// Package issuekit is what the parts of a repository's tracker share: issues,
// labels and milestones.
//
//	answers.go   rendered answers, kept while nothing that they show changes
//	place.go     the addresses of a repository's resources
//	state.go     open and closed
//	store.go     how a change says that payloads change, of the table repos
//
// Invariant: each transaction that changes what a payload of issues shows locks
// the repository's row first and raises its issues_generation, see [Lock]: answers kept under the
// generation before are no longer used.
package issuekit

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Answers keeps rendered answers about the trackers of repositories.
type Answers struct {
	db   *db.DB
	kept *web.Answers
}

// NewAnswers keeps answers of at most limit bytes.
func NewAnswers(d *db.DB, limit int64) *Answers {
	return &Answers{db: d, kept: web.NewAnswers(web.NewKept(limit))}
}

// Serve answers with what is kept under the address, or renders it.
//
// Links in rendered bodies lead to any repository that this caller may see:
// such an answer is kept only while nothing at all is committed.
func (s *Answers) Serve(w http.ResponseWriter, r *http.Request, a *repo.Access, render web.Render) error {
	state, key := s.basis(r, a)
	return s.kept.Serve(w, r, state, key, render)
}

// ServeRepeated is Serve for lists. Most lists are requested only once, so only repeated ones are cached:
// see web.Answers.
func (s *Answers) ServeRepeated(
	w http.ResponseWriter, r *http.Request, a *repo.Access, render web.Render,
) error {
	state, key := s.basis(r, a)
	return s.kept.ServeRepeated(w, r, state, key, render)
}

// basis is what an answer about a repository's tracker depends on.
func (s *Answers) basis(r *http.Request, a *repo.Access) (cache.State, string) {
	if kind := web.From(r.Context()).Media.Kind; kind == "html" || kind == "full" {
		return a.AsOf, keyOfCaller(r, a)
	}
	return cache.Generations(a.IssuesGeneration, a.AccountsGeneration), key(r, a)
}

// ServeCaller is Serve for what shows more of other repositories than the generations
// of this one cover: it is kept for this caller, while nothing at all is committed.
func (s *Answers) ServeCaller(
	w http.ResponseWriter, r *http.Request, a *repo.Access, render web.Render,
) error {
	return s.kept.Serve(w, r, a.AsOf, keyOfCaller(r, a), render)
}

// ServeAtRest answers with what is kept under the key while nothing at all is
// committed, or renders it; where that cannot be known, always.
func (s *Answers) ServeAtRest(w http.ResponseWriter, r *http.Request, key string, render web.Render) error {
	return s.kept.Serve(w, r, s.db.State(r.Context()), key, render)
}

// JSON is Serve with the JSON of the value that find reads, in one snapshot.
func (s *Answers) JSON(
	w http.ResponseWriter, r *http.Request, a *repo.Access, find func(tx *db.Tx) (any, error),
) error {
	return s.Serve(w, r, a, func(out *web.Output) error {
		var v any
		err := s.db.Read(out.Context(), func(tx *db.Tx) (err error) {
			v, err = find(tx)
			return err
		})
		if err != nil {
			return err
		}
		return out.JSON(v)
	})
}

// keyOfCaller names everything that an answer about one repository's tracker
// depends on besides the database, and the caller.
func keyOfCaller(r *http.Request, a *repo.Access) string {
	return key(r, a) + " " + account.ViewOf(a.Caller).String()
}

// key names everything that an answer about one repository's tracker depends on
// besides the generations of all that payloads show: the address, the dialect, and
// what this caller may see.
func key(r *http.Request, a *repo.Access) string {
	b := Name(web.From(r.Context()), a)
	for _, s := range [...]string{r.URL.EscapedPath(), r.URL.RawQuery} {
		b = append(append(b, ' '), s...)
	}
	return web.ShortKey(b)
}

// Name names what an answer about one repository's tracker depends on besides
// generations and its address: the dialect, and what this caller may see.
func Name(info *web.Info, a *repo.Access) []byte {
	b := make([]byte, 0, 400)
	b = strconv.AppendInt(b, int64(a.ID), 36)
	b = append(b, ' ')
	for _, on := range [...]bool{info.Media.Preview(web.Assignees), info.Media.Preview(web.Reactions),
		a.Insider(), a.HasIssues} {
		digit := byte('0')
		if on {
			digit = '1'
		}
		b = append(b, digit)
	}
	for _, s := range [...]string{a.Owner.Login, a.Name, info.Media.Kind, info.Prefix, info.Site} {
		b = append(append(b, ' '), s...)
	}
	return append(b, ' ')
}

// Stats returns statistics of the cache under a name.
func (a *Answers) Stats(name string) cache.Stats { return a.kept.Stats(name) }
