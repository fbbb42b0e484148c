package repo

import (
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/web"
)

// Answers keeps rendered answers about repositories. Three methods turn a renderer into the handler of a GET
// request:
//
//	Kept      an answer is kept until the issues of the repository change, or the accounts
//	Repeated  the same for lists, of which most are requested once: it is kept when it is requested again
//	OfCaller  an answer that shows more than these generations cover: it is kept for the caller until anything
//	          is committed
type Answers struct{ *web.Answers }

// NewAnswers keeps answers of at most limit bytes.
func NewAnswers(limit int64) *Answers { return &Answers{web.NewAnswers(web.NewKept(limit))} }

// Renderer renders the answer to a GET request about a repository.
type Renderer func(out *web.Output, r *http.Request, a *Access) error

// Kept returns a handler whose answers are kept under the generations of issues and accounts.
func (s *Answers) Kept(render Renderer) Handler {
	return func(w http.ResponseWriter, r *http.Request, a *Access) error {
		state, key := basis(r, a)
		return s.Serve(w, r, state, key, func(out *web.Output) error { return render(out, r, a) })
	}
}

// Repeated is Kept for lists: see [web.Answers.ServeRepeated].
func (s *Answers) Repeated(render Renderer) Handler {
	return func(w http.ResponseWriter, r *http.Request, a *Access) error {
		state, key := basis(r, a)
		return s.ServeRepeated(w, r, state, key, func(out *web.Output) error { return render(out, r, a) })
	}
}

// OfCaller returns a handler whose answers are kept for their caller, under the state of the whole database.
func (s *Answers) OfCaller(render Renderer) Handler {
	return func(w http.ResponseWriter, r *http.Request, a *Access) error {
		return s.Serve(w, r, a.AsOf, keyOfCaller(r, a), func(out *web.Output) error { return render(out, r, a) })
	}
}

// basis returns what an answer about the issues of a repository depends on. Links in rendered texts lead to any
// repository that the caller may see.
func basis(r *http.Request, a *Access) (cache.State, string) {
	if kind := web.From(r.Context()).Media.Kind; kind == "html" || kind == "full" {
		return a.AsOf, keyOfCaller(r, a)
	}
	return cache.Generations(a.IssuesGeneration, a.AccountsGeneration), keyOf(r, a)
}

// keyOfCaller names everything that an answer depends on besides the database, and the caller.
func keyOfCaller(r *http.Request, a *Access) string {
	return keyOf(r, a) + " " + account.ViewOf(a.Caller).String()
}

// keyOf names everything that an answer depends on besides the generations of all that payloads show: the
// address, the dialect, and what the caller may see.
func keyOf(r *http.Request, a *Access) string {
	info := web.From(r.Context())
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
	for _, s := range [...]string{a.Owner.Login, a.Name, info.Media.Kind, info.Prefix, info.Site,
		r.URL.EscapedPath(), r.URL.RawQuery} {
		b = append(append(b, ' '), s...)
	}
	return web.ShortKey(b)
}
