package pull

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of pull requests.
type API struct {
	s       *Service
	git     *gitdata.API
	answers *web.Answers
	ranges  *cache.Cache[numbered, gitdata.Range] // base and head commits of pull requests
}

// numbered identifies a pull request by number.
type numbered struct {
	repo   repo.ID
	number int64
}

// cacheBytes is the size of the cache of rendered responses.
const cacheBytes = 32 << 20

// NewAPI returns the handlers of s. It uses g to render commits and files.
func NewAPI(s *Service, g *gitdata.API) *API {
	return &API{s: s, git: g, answers: web.NewAnswers(web.NewKept(cacheBytes)),
		ranges: cache.NewCount[numbered, gitdata.Range](maxRanges)}
}

// find reads the pull request with the number {number}. Error: 404.
func (api *API) find(r *http.Request, a *repo.Access) (*Pull, *issue.Issue, error) {
	n, err := web.Number(r, "number")
	if err != nil {
		return nil, nil, err
	}
	return api.s.findCached(r.Context(), a, n)
}

// GET /repos/{owner}/{repo}/pulls/{number}
//
// Get returns a pull request, or its changes as diff or patch. If the test merge is missing, it is made
// first (decision 36). Errors: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	switch kind := web.From(r.Context()).Media.Kind; kind {
	case "diff", "patch":
		return api.writeText(w, r, a, kind)
	}
	return api.serve(w, r, a, "", func(out *web.Output) error {
		p, i, err := api.find(r, a)
		if err != nil {
			return err
		}
		if _, err := api.s.tested(out.Context(), p); err != nil {
			return err
		}
		web.LastModified(w, i.UpdatedAt.Time())
		return api.render(out, a, p.Number, true)
	})
}

// render renders one pull request in its full form or in the form of lists.
func (api *API) render(out *web.Output, a *repo.Access, number int64, full bool) error {
	var p *page
	err := api.s.db.Read(out.Context(), func(tx *db.Tx) (err error) {
		p, err = onePage(out.Context(), tx, a, number, full)
		return err
	})
	if err == nil {
		err = p.findBehind(out.Context(), api.s.repos)
	}
	if err == nil {
		err = p.Bodies(out, api.s.issues)
	}
	if err != nil {
		return err
	}
	v, err := p.payload(p.Issues()[0])
	if err != nil {
		return err
	}
	return out.JSON(v)
}

// onePage loads the page of one pull request. Error: 404.
func onePage(ctx context.Context, tx *db.Tx, a *repo.Access, number int64, full bool) (*page, error) {
	p := newPage(ctx, a)
	p.full = full
	i, err := issue.ByNumber(tx, a.ID, number)
	if err != nil {
		return nil, err
	}
	if !i.Pull {
		return nil, errs.Absent()
	}
	p.Add(i)
	return p, p.load(tx)
}

// ForHook renders a pull request for a webhook payload. Its mergeable is the result of the last test merge.
// Error: 404.
func (s *Service) ForHook(ctx context.Context, tx *db.Tx, a *repo.Access, number int64) (any, error) {
	p, err := onePage(ctx, tx, a, number, true)
	if err != nil {
		return nil, err
	}
	if err := p.Bodies(web.Unsent(ctx), s.issues); err != nil {
		return nil, err
	}
	return p.payload(p.Issues()[0])
}

// answer writes the full form of a pull request as the response.
func (api *API) answer(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int, number int64,
) error {
	return web.Answer(w, r, status, func(out *web.Output) error { return api.render(out, a, number, true) })
}

// serve answers a GET from the cache or with the output of render. on is an additional part of the cache
// key. A list shows forks, whose changes have no generation here, so a cached response is valid only until
// the next commit of any kind. If commits cannot be observed, nothing is cached.
func (api *API) serve(
	w http.ResponseWriter, r *http.Request, a *repo.Access, on string, render web.Render,
) error {
	return api.answers.Serve(w, r, a.AsOf, web.Key(r, account.ViewOf(a.Caller), on), render)
}

// POST /repos/{owner}/{repo}/pulls
//
// Create creates a pull request, new or from an issue. Errors: 422 (decision 38).
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	n := NewPull{Head: body.String("head", 0).Value, Base: body.String("base", 0).Value,
		Draft: body.Bool("draft").Or(false), Modifiable: body.Bool("maintainer_can_modify").Or(true)}
	n.HeadRepo = body.String("head_repo", 0).Value
	body.Require("head", "base")
	if from := body.Int("issue"); from.Given() {
		if n.Issue = from.Value; n.Issue < 1 && body.Err() == nil {
			body.WrongValue("issue", n.Issue)
		}
	} else {
		title := body.String("title", issue.MaxTitle)
		body.Require("title")
		if title.Value != "" && strings.TrimSpace(title.Value) == "" {
			body.Wrong("title", errs.MissingField, "title can't be blank")
		}
		n.Title = title.Value
	}
	text := body.String("body", issue.MaxBody)
	if err := body.Err(); err != nil {
		return err
	}
	n.Text = issue.NewText(text.Value)
	made, err := api.s.Create(r.Context(), a, n)
	if err != nil {
		return err
	}
	w.Header().Set("Location", web.From(r.Context()).API(web.Path("repos", a.Owner.Login,
		a.Name)+"/pulls/"+strconv.FormatInt(made.Number, 10)))
	return api.answer(w, r, a, http.StatusCreated, made.Number)
}

// PATCH /repos/{owner}/{repo}/pulls/{number}
//
// Edit changes title, body, state, base and whether maintainers may push to the head. Only the author and
// users with push access may do so. Errors: 403, 404, 422 (decisions 33, 37, 38).
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, i, err := api.find(r, a)
	if err != nil {
		return err
	}
	if err := mayEdit(a, i); err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	e := Edit{Title: body.String("title", issue.MaxTitle), State: body.Enum("state", "open", "closed"),
		Base:       body.String("base", 0),
		Modifiable: body.Bool("maintainer_can_modify")}
	text := body.String("body", issue.MaxBody)
	if e.Title.Set && strings.TrimSpace(e.Title.Value) == "" && body.Err() == nil {
		body.Wrong("title", errs.MissingField, "title can't be blank")
	}
	if err := body.Err(); err != nil {
		return err
	}
	if text.Set {
		parsed := issue.NewText(text.Value)
		e.Text = &parsed
	}
	if err := api.s.Edit(r.Context(), a, p.Number, e); err != nil {
		return err
	}
	return api.answer(w, r, a, http.StatusOK, p.Number)
}

// Caches returns statistics of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.answers.Stats("pull_answers"), api.ranges.Stats("pull_ranges")}
}
