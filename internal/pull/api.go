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
	git     *gitdata.Service
	files   *gitdata.API // answers commits and files
	answers *repo.Answers
}

// cacheBytes is the size of the cache of rendered responses.
const cacheBytes = 32 << 20

// NewAPI returns the handlers of s, some of which are those of files.
func NewAPI(s *Service, g *gitdata.Service, files *gitdata.API) *API {
	return &API{s: s, git: g, files: files, answers: repo.NewAnswers(cacheBytes)}
}

// find reads the pull request with the number {number}. Error: 404.
func (api *API) find(r *http.Request, a *repo.Access) (*Pull, *issue.Issue, error) {
	n, err := web.Number(r, "number")
	if err != nil {
		return nil, nil, err
	}
	return api.s.Find(r.Context(), a, n)
}

// findToEdit reads the pull request, something of which the caller may change, and the body (decision 51).
func (api *API) findToEdit(r *http.Request, a *repo.Access) (*Pull, *web.Object, error) {
	p, i, err := api.find(r, a)
	if err == nil {
		err = mayEdit(a, i, account.Triage)
	}
	if err != nil {
		return nil, nil, err
	}
	body, err := web.ReadObject(r, Resource)
	return p, body, err
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
	return api.answers.OfCaller(api.get)(w, r, a)
}

func (api *API) get(out *web.Output, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	p, err := api.s.testedPage(r.Context(), a, n, whole)
	if err != nil {
		return err
	}
	web.LastModified(out, p.Issues()[0].UpdatedAt.Time())
	return api.render(out, p)
}

// render renders the only pull request of a loaded page.
func (api *API) render(out *web.Output, p *page) error {
	if err := p.Bodies(out, api.s.issues); err != nil {
		return err
	}
	v, err := p.payload(p.Issues()[0])
	if err != nil {
		return err
	}
	return out.JSON(v)
}

// loadPage loads the pull requests of repositories that find reads, in a form.
func loadPage(
	ctx context.Context, tx *db.Tx, f form, in []*repo.Access, find func(tx *db.Tx) ([]*issue.Issue, error),
) (*page, error) {
	p := newPage(ctx, in...)
	if p.full = f == whole; f == viewed {
		p.WithReactions()
	}
	list, err := find(tx)
	if err != nil {
		return nil, err
	}
	p.Add(list...)
	return p, p.load(tx)
}

// readPage is loadPage in a transaction of its own.
func (s *Service) readPage(
	ctx context.Context, f form, in []*repo.Access, find func(tx *db.Tx) ([]*issue.Issue, error),
) (p *page, err error) {
	p, err = db.Get(ctx, s.db, func(tx *db.Tx) (*page, error) { return loadPage(ctx, tx, f, in, find) })
	if err == nil {
		err = p.findBehind(ctx, s.repos)
	}
	if err == nil {
		err = s.askGit(ctx, p.candidates(), p.outlooks)
	}
	return p, err
}

// numberedIn returns a function that finds one pull request. Its error: 404.
func numberedIn(a *repo.Access, number int64) func(tx *db.Tx) ([]*issue.Issue, error) {
	return func(tx *db.Tx) ([]*issue.Issue, error) {
		i, err := issue.ByNumber(tx, a.ID, number)
		if err == nil && !i.Pull {
			err = errs.Absent()
		}
		return []*issue.Issue{i}, err
	}
}

// readOne reads the page of one pull request. Error: 404.
func (s *Service) readOne(ctx context.Context, a *repo.Access, number int64, f form) (*page, error) {
	return s.readPage(ctx, f, []*repo.Access{a}, numberedIn(a, number))
}

// testedPage is readOne, and makes a test merge that is missing (decision 36). Error: 404.
func (s *Service) testedPage(ctx context.Context, a *repo.Access, number int64, f form) (*page, error) {
	p, err := s.readOne(ctx, a, number, f)
	if err != nil {
		return nil, err
	}
	pull := p.pulls[p.Issues()[0].ID]
	if !pull.untested() {
		return p, nil
	}
	if err := s.test(ctx, pull); err != nil {
		return nil, err
	}
	return s.readOne(ctx, a, number, f)
}

// ForHook renders a pull request for a webhook payload. Its mergeable is the result of the last test merge.
// Error: 404.
func (s *Service) ForHook(ctx context.Context, tx *db.Tx, a *repo.Access, number int64) (any, error) {
	p, err := loadPage(ctx, tx, whole, []*repo.Access{a}, numberedIn(a, number))
	if err != nil {
		return nil, err
	}
	if err := p.Bodies(web.Unsent(ctx), s.issues); err != nil {
		return nil, err
	}
	return p.payload(p.Issues()[0])
}

// answer writes a pull request as the response.
func (api *API) answer(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int, number int64, f form,
) error {
	return web.Answer(w, r, status, func(out *web.Output) error {
		p, err := api.s.readOne(out.Context(), a, number, f)
		if err != nil {
			return err
		}
		return api.render(out, p)
	})
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
	return api.answer(w, r, a, http.StatusCreated, made.Number, whole)
}

// PATCH /repos/{owner}/{repo}/pulls/{number}
//
// Edit changes title, body, state, base and whether maintainers may push to the head. Only the author and
// users with push access may do so. Errors: 403, 404, 422 (decisions 33, 37, 38).
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, body, err := api.findToEdit(r, a)
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
	return api.answer(w, r, a, http.StatusOK, p.Number, whole)
}

// Caches returns statistics of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.answers.Stats("pull_answers")}
}
