package scim

import (
	"net/http"

	"arbor/internal/external"
	"arbor/internal/web"
)

// GET /scim/v2/Users
//
// ListUsers answers users of the provider by id. filter chooses by id, externalId, userName, displayName and active;
// startIndex and count choose the page; attributes and excludedAttributes what is sent. There may be fewer than count
// where they are in many groups. Errors: 400, 403.
func (a *API) ListUsers(w http.ResponseWriter, r *http.Request) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	asked, err := readPage(r, userColumns, userID)
	if err != nil {
		return err
	}
	list, total, err := a.s.ListPeople(r.Context(), c.of, asked.where, asked.start-1, asked.count, asked.sends("groups"))
	if err != nil {
		return err
	}
	out := make([]any, len(list))
	for i, p := range list {
		out[i] = c.payload(p, asked)
	}
	return answer(w, r, http.StatusOK, newList(total, asked.start, out))
}

// POST /scim/v2/Users
//
// CreateUser stores a user, and makes the account where the sign-in file says so. Errors: 400, 403, and 409 for a
// userName, externalId or login that is taken: an account is never linked by its name.
func (a *API) CreateUser(w http.ResponseWriter, r *http.Request) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	var body userBody
	if err := readBody(r, &body); err != nil {
		return err
	}
	p := &external.Person{Active: true}
	if err := readUser(&body, p).put(p); err != nil {
		return err
	}
	if err := a.s.AddPerson(r.Context(), c.by, c.of, p); err != nil {
		return err
	}
	out := c.payload(p, page{})
	return created(w, r, out.Meta.Location, out)
}

// GET /scim/v2/Users/{scim_user_id}
//
// GetUser answers a user. Errors: 403, 404.
func (a *API) GetUser(w http.ResponseWriter, r *http.Request) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	id, err := idOf(r, "scim_user_id", userID)
	if err != nil {
		return err
	}
	var asked page
	asked.without, asked.only = readAttributes(web.QueryOf(r))
	p, err := a.s.Person(r.Context(), c.of, id)
	if err != nil {
		return err
	}
	return answer(w, r, http.StatusOK, c.payload(p, asked))
}

// PUT /scim/v2/Users/{scim_user_id}
//
// ReplaceUser replaces a user. What is not sent is emptied, but externalId and active. Errors: 400, 403, 404, 409.
func (a *API) ReplaceUser(w http.ResponseWriter, r *http.Request) error {
	var body userBody
	return a.changeUser(w, r, &body, func(p *external.Person) (*user, error) { return readUser(&body, p), nil })
}

// PATCH /scim/v2/Users/{scim_user_id}
//
// PatchUser applies operations to a user: all of them or none. Errors: 400, 403, 404, 409.
func (a *API) PatchUser(w http.ResponseWriter, r *http.Request) error {
	var body patchBody
	return a.changeUser(w, r, &body, func(p *external.Person) (*user, error) {
		u := &user{p.Subject, p.UserName, p.Active, attributesOf(p)}
		return u, body.apply(u.patch)
	})
}

// changeUser changes a user as a body says.
func (a *API) changeUser(
	w http.ResponseWriter, r *http.Request, body any, change func(*external.Person) (*user, error),
) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	id, err := idOf(r, "scim_user_id", userID)
	if err != nil {
		return err
	}
	if err := readBody(r, body); err != nil {
		return err
	}
	p, err := a.s.ChangePerson(r.Context(), c.by, c.of, id, func(p *external.Person) error {
		u, err := change(p)
		if err != nil {
			return err
		}
		return u.put(p)
	})
	if err != nil {
		return err
	}
	return answer(w, r, http.StatusOK, c.payload(p, page{}))
}

// DELETE /scim/v2/Users/{scim_user_id}
//
// DeleteUser forgets a user, and suspends the account. Errors: 400 for an account that cannot be suspended; 403, 404.
func (a *API) DeleteUser(w http.ResponseWriter, r *http.Request) error {
	c, err := a.from(r)
	if err != nil {
		return err
	}
	id, err := idOf(r, "scim_user_id", userID)
	if err != nil {
		return err
	}
	if err := a.s.RemovePerson(r.Context(), c.by, c.of, id); err != nil {
		return err
	}
	return web.NoContent(w)
}
