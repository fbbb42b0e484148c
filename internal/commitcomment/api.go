package commitcomment

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// API answers the requests about comments.
type API struct {
	s   *Service
	git *gitdata.Service
}

// NewAPI returns the handlers of the service; g finds commits by their names.
func NewAPI(s *Service, g *gitdata.Service) *API { return &API{s, g} }

// Routes are the endpoints of comments on commits, and of reactions to them.
func (api *API) Routes() []route.Route {
	contents := api.s.repos.Router(route.Needs(scope.PublicRepo, "contents"))
	routes := []route.Route{
		contents.Pull("GET /repos/{owner}/{repo}/comments", api.ListOfRepo),
		contents.Pull("GET /repos/{owner}/{repo}/comments/{id}", api.Get),
		// For others than the author: push.
		contents.Pull("PATCH /repos/{owner}/{repo}/comments/{id}", api.Edit),
		// For others than the author: push.
		contents.Pull("DELETE /repos/{owner}/{repo}/comments/{id}", api.Delete),
		contents.Pull("GET /repos/{owner}/{repo}/commits/{sha}/comments", api.List),
		contents.Pull("POST /repos/{owner}/{repo}/commits/{sha}/comments", api.Create),
	}
	reactions := reaction.NewAPI(api.s.db, api.subject)
	return append(routes, reactions.Routes(contents, "/repos/{owner}/{repo}/comments/{id}")...)
}

// GET /repos/{owner}/{repo}/comments
//
// ListOfRepo answers a page of the comments on all commits, the oldest first.
func (api *API) ListOfRepo(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.list(w, r, a, "")
}

// GET /repos/{owner}/{repo}/commits/{sha}/comments
//
// List answers a page of the comments on a commit, the oldest first. Errors: 409, 422.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := api.git.CommitNamed(r.Context(), a, web.Param(r, "sha"))
	if err != nil {
		return err
	}
	return api.list(w, r, a, sha)
}

func (api *API) list(w http.ResponseWriter, r *http.Request, a *repo.Access, sha git.SHA) error {
	p := web.ReadPage(r)
	return web.Answer(w, r, http.StatusOK, api.render(a, false, func(tx *db.Tx) ([]*Comment, error) {
		list, total, err := page(tx, a.ID, sha, p)
		tx.OnCommit(func() { web.Link(w, r, p, total) })
		return list, err
	}))
}

// find reads the comment that {id} names. Error: 404.
func (api *API) find(r *http.Request, a *repo.Access) (c *Comment, err error) {
	id, err := web.Number(r, "id")
	if err != nil {
		return nil, err
	}
	return api.s.ByID(r.Context(), a, id)
}

// answer answers with one comment.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, c *Comment) error {
	return web.Answer(w, r, status, api.render(a, true, func(*db.Tx) ([]*Comment, error) {
		return []*Comment{c}, nil
	}))
}

// GET /repos/{owner}/{repo}/comments/{id}
//
// Get answers one comment. Error: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.find(r, a)
	if err != nil {
		return err
	}
	web.LastModified(w, c.UpdatedAt.Time())
	return api.answer(w, r, a, http.StatusOK, c)
}

// Bounds of where a comment stands.
const (
	maxPath = 4096 // code points
	maxLine = 1 << 31
)

// POST /repos/{owner}/{repo}/commits/{sha}/comments
//
// Create comments on a commit, or on a line of a file of it. Errors: 409, 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := api.git.CommitNamed(r.Context(), a, web.Param(r, "sha"))
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	c := &Comment{SHA: sha, Body: readText(body)}
	c.Path = web.OrNil(body.String("path", maxPath).Value)
	c.Position, c.Line = readPlace(body, "position"), readPlace(body, "line")
	if err := body.Err(); err != nil {
		return err
	}
	if err := api.s.Create(r.Context(), a, c); err != nil {
		return err
	}
	w.Header().Set("Location", issuekit.AddressesOf(r, a).API+"/comments/"+strconv.FormatInt(c.ID, 10))
	return api.answer(w, r, a, http.StatusCreated, c)
}

// readText reads the text of a comment, which is not blank.
func readText(body *web.Object) string {
	body.Require("body")
	text := body.String("body", issue.MaxBody).Value
	if text != "" && strings.TrimSpace(text) == "" {
		body.Wrong("body", errs.MissingField, "body can't be blank")
	}
	return text
}

// readPlace reads the number of a line.
func readPlace(body *web.Object, field string) *int64 {
	n := body.Int(field)
	if !n.Given() {
		return nil
	}
	if n.Value < 0 || n.Value >= maxLine {
		body.WrongValue(field, n.Value)
	}
	return &n.Value
}

// PATCH /repos/{owner}/{repo}/comments/{id}
//
// Edit changes the text of a comment, for its author and for users with push access. Errors:
// 403, 404, 422.
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.find(r, a)
	if err == nil {
		err = mayEdit(a, c)
	}
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	text := readText(body)
	if err := body.Err(); err != nil {
		return err
	}
	changed, err := api.s.Edit(r.Context(), a, c.ID, text)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, http.StatusOK, changed)
}

// DELETE /repos/{owner}/{repo}/comments/{id}
//
// Delete deletes a comment, for its author and for users with push access: 204. Errors: 403, 404.
func (api *API) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.find(r, a)
	if err == nil {
		err = mayEdit(a, c)
	}
	if err == nil {
		err = api.s.Delete(r.Context(), a, c.ID)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// subject is the comment that {id} names, as package reaction sees it. Error: 404.
func (api *API) subject(r *http.Request, a *repo.Access) (reaction.Subject, error) {
	id, err := web.Number(r, "id")
	if err != nil {
		return reaction.Subject{}, err
	}
	return api.s.Subject(r.Context(), a, id)
}
