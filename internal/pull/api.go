package pull

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API answers the requests about pull requests.
type API struct {
	s       *Service
	git     *gitdata.API
	answers *web.Answers
	ranges  ranges
}

// cacheBytes bounds the rendered answers kept in memory.
const cacheBytes = 32 << 20

// NewAPI makes the handlers of the service; g renders commits and files.
func NewAPI(s *Service, g *gitdata.API) *API {
	return &API{s: s, git: g, answers: web.NewAnswers(web.NewCache(cacheBytes))}
}

// find reads the pull request that {number} names. Error: 404.
func (api *API) find(r *http.Request, a *repo.Access) (*Pull, *issue.Issue, error) {
	n, err := web.Number(r, "number")
	if err != nil {
		return nil, nil, err
	}
	return api.s.find(r.Context(), a, n)
}

// GET /repos/{owner}/{repo}/pulls/{number}
//
// Get answers a pull request; as diff or patch, what it changes. A test merge
// that is missing is made at once (decision 36). Errors: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	switch kind := web.From(r.Context()).Media.Kind; kind {
	case "diff", "patch":
		return api.writeText(w, r, a, kind)
	}
	return api.serve(w, r, a, "", func(ctx context.Context) ([]byte, string, error) {
		p, i, err := api.find(r, a)
		if err != nil {
			return nil, "", err
		}
		if _, err := api.s.tested(ctx, p); err != nil {
			return nil, "", err
		}
		web.LastModified(w, i.UpdatedAt.Time())
		body, err := api.render(ctx, a, p.Number)
		return body, web.Tag(body), err
	})
}

// render renders the full form of one pull request.
func (api *API) render(ctx context.Context, a *repo.Access, number int64) ([]byte, error) {
	return api.renderForm(ctx, a, number, true)
}

// renderForm renders one pull request in its full form, or in that of lists.
func (api *API) renderForm(ctx context.Context, a *repo.Access, number int64, full bool) ([]byte, error) {
	p := newPage(ctx, a)
	p.full = full
	err := api.s.db.Read(ctx, func(tx *db.Tx) error {
		i, err := issue.ByNumber(tx, a.ID, number)
		if err != nil {
			return err
		}
		if !i.Pull {
			return errs.Absent()
		}
		p.Add(i)
		return p.load(tx)
	})
	if err == nil {
		err = p.Bodies(ctx, api.s.issues)
	}
	if err != nil {
		return nil, err
	}
	return p.appendPull(make([]byte, 0, 24<<10), p.Issues()[0]), nil
}

// answer answers with the full form of a pull request that was just written.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, number int64) error {
	body, err := api.render(r.Context(), a, number)
	if err != nil {
		return err
	}
	return web.Bytes(w, r, status, body, "")
}

// serve answers what is kept under the address and all that the answer depends
// on. A list shows forks, whose own state has no number here, so it is kept only
// while nothing at all is committed; elsewhere it is rendered each time.
func (api *API) serve(w http.ResponseWriter, r *http.Request, a *repo.Access, on string, render web.Render) error {
	stamp, ok := api.s.db.Stamp()
	if !ok {
		body, etag, err := render(r.Context())
		if err != nil {
			return err
		}
		return web.Bytes(w, r, http.StatusOK, body, etag)
	}
	info := web.From(r.Context())
	caller := int64(0)
	if a.Caller != nil {
		caller = a.Caller.ID
	}
	key := fmt.Sprint(stamp, caller, info.Media.Preview(web.Assignees), info.Media.Kind, " ", info.Prefix, " ",
		r.URL.EscapedPath(), " ", r.URL.RawQuery, " ", on)
	return api.answers.Serve(w, r, key, render)
}

// POST /repos/{owner}/{repo}/pulls
//
// Create makes a pull request, from scratch or of an issue. Errors: 422
// (decision 38).
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	n := NewPull{Head: body.String("head", 0).Value, Base: body.String("base", 0).Value,
		Draft: body.Bool("draft").Or(false), Modifiable: body.Bool("maintainer_can_modify").Or(true)}
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
	w.Header().Set("Location", web.From(r.Context()).API(web.Path("repos", a.Owner.Login, a.Name)+"/pulls/"+strconv.FormatInt(made.Number, 10)))
	return api.answer(w, r, a, http.StatusCreated, made.Number)
}

// PATCH /repos/{owner}/{repo}/pulls/{number}
//
// Edit changes title, body, state, base and whether maintainers may push to the
// head, for the author and for who has push access. Errors: 403, 404, 422
// (decisions 33, 37, 38).
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
	e := Edit{Title: body.String("title", issue.MaxTitle), State: body.Enum("state", "open", "closed"), Base: body.String("base", 0),
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
