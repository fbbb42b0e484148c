package reaction

import (
	"net/http"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// resource is the name of reactions in validation errors.
const resource = "Reaction"

// Find returns the subject in the address of a request, if it is in the repository and visible to the
// caller. Errors: 404 and those of its owner.
type Find func(r *http.Request, a *repo.Access) (Subject, error)

// API implements the HTTP handlers of reactions to the subjects of one owner. In the interface dialect reactions
// are a preview: without its media type every operation returns 415, as for locking (decisions 2, 3, 6).
type API struct {
	db   *db.DB
	find Find
}

// NewAPI returns the handlers for the subjects that find returns.
func NewAPI(d *db.DB, find Find) *API { return &API{d, find} }

// Payload is GitHub's reaction.
type Payload struct {
	ID        int64           `json:"id"`
	NodeID    string          `json:"node_id"`
	User      *account.Simple `json:"user"`
	Content   string          `json:"content"`
	CreatedAt db.Time         `json:"created_at"`
}

func newPayload(r row, user *account.Account, i *web.Info) Payload {
	return Payload{r.id, account.NodeID(resource, r.id), account.NewSimple(user, i),
		r.content.String(), r.createdAt}
}

// GET /repos/{owner}/{repo}/issues/{number}/reactions
// GET /repos/{owner}/{repo}/issues/comments/{id}/reactions
// GET /repos/{owner}/{repo}/pulls/comments/{id}/reactions
// GET /repos/{owner}/{repo}/comments/{id}/reactions
// GET /repos/{owner}/{repo}/releases/{release_id}/reactions
//
// List lists the reactions to a subject, oldest first. The parameter content selects one kind. Errors:
// those of Find, 415, 422 for an unknown content.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := api.find(r, a)
	if err != nil {
		return err
	}
	if err := previewed(r); err != nil {
		return err
	}
	content, err := queryContent(r, s.Kind)
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	var found []row
	var total int64
	var users map[account.ID]*account.Account
	err = api.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		if found, total, err = list(tx, a.ID, s, content, page); err != nil {
			return err
		}
		ids := make([]account.ID, len(found))
		for i, f := range found {
			ids[i] = f.userID
		}
		users, err = account.ByIDs(tx, ids)
		return err
	})
	if err != nil {
		return err
	}
	info := web.From(r.Context())
	out := make([]Payload, len(found))
	for i, f := range found {
		out[i] = newPayload(f, users[f.userID], info)
	}
	web.Link(w, r, page, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// POST /repos/{owner}/{repo}/issues/{number}/reactions
// POST /repos/{owner}/{repo}/issues/comments/{id}/reactions
// POST /repos/{owner}/{repo}/pulls/comments/{id}/reactions
// POST /repos/{owner}/{repo}/comments/{id}/reactions
// POST /repos/{owner}/{repo}/releases/{release_id}/reactions
//
// Create adds the caller's reaction to a subject: 201, or 200 with the existing one. Anyone who can see the
// subject may react to it; a locked one requires push access. Errors: those of Find, 403 for a locked one,
// 404 if the repository was deleted, 415, 422 for an unknown content.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := api.admitted(r, a)
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, resource)
	if err != nil {
		return err
	}
	body.Require("content")
	name := body.String("content", 0)
	if err := body.Err(); err != nil {
		return err
	}
	made, added, err := Add(r.Context(), api.db, a, s, name.Value)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if added {
		status = http.StatusCreated
	}
	return web.JSON(w, r, status, made)
}

// DELETE /repos/{owner}/{repo}/issues/{number}/reactions/{reaction_id}
// DELETE /repos/{owner}/{repo}/issues/comments/{id}/reactions/{reaction_id}
// DELETE /repos/{owner}/{repo}/pulls/comments/{id}/reactions/{reaction_id}
// DELETE /repos/{owner}/{repo}/comments/{id}/reactions/{reaction_id}
// DELETE /repos/{owner}/{repo}/releases/{release_id}/reactions/{reaction_id}
//
// Delete deletes the reaction {reaction_id}: 204. It must be the caller's own; site administrators may
// delete any, administrators of the repository may not. A locked subject requires push access, as for
// Create. Errors: those of Find, 403, 404 for an unknown reaction, 415.
func (api *API) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := api.admitted(r, a)
	if err != nil {
		return err
	}
	id, err := web.Number(r, "reaction_id")
	if err != nil {
		return err
	}
	err = api.db.WriteAs(r.Context(), a, func(tx *db.Tx) error {
		userID, err := madeBy(tx, a.ID, s, id)
		if err != nil {
			return err
		}
		if userID != a.Caller.ID && !a.Caller.SiteAdmin {
			return errs.New(errs.Forbidden, "Must be the user who made the reaction.")
		}
		if err := remove(tx, id); err != nil {
			return err
		}
		return s.changed(tx)
	})
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// previewed returns 415 without the media type of the preview.
func previewed(r *http.Request) error { return web.RequirePreview(r, web.Reactions, "Reactions are") }

// admitted finds the subject and checks the conditions of all changes of its reactions.
func (api *API) admitted(r *http.Request, a *repo.Access) (Subject, error) {
	s, err := api.find(r, a)
	if err == nil {
		err = previewed(r)
	}
	if err == nil {
		err = mayReact(a, s)
	}
	return s, err
}

func (s Subject) changed(tx *db.Tx) error {
	if s.Changed == nil {
		return nil
	}
	return s.Changed(tx)
}

// queryContent reads the parameter content for subjects of a kind, or returns 0. An unescaped plus sign arrives as a
// space.
func queryContent(r *http.Request, k Kind) (Content, error) {
	value := web.QueryOf(r).Get("content")
	if value == "" {
		return 0, nil
	}
	if value == " 1" {
		return PlusOne, nil
	}
	if c, ok := ParseContent(value); ok && slices.Contains(k.Contents(), value) {
		return c, nil
	}
	return 0, errs.Validation(errs.Field{Resource: resource, Field: "content", Code: errs.InvalidField,
		Value:   value,
		Message: `"content" must be one of ` + strings.Join(k.Contents(), ", ")})
}
