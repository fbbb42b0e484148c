package issue

import (
	"net/http"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/repo/collaborator"
	"arbor/internal/web"
)

// knowsMembers reports a caller who may know of all who can be assigned, also of
// those who conceal that they are members of the organization.
func knowsMembers(a *repo.Access) bool { return a.Role >= account.Push || a.Insider() }

// GET /repos/{owner}/{repo}/assignees
//
// ListAssignees answers who can be assigned to any issue of the repository, by
// id: those who belong to it and may push. Who conceals a membership is shown
// to those only who may push themselves, and to members.
func (api *API) ListAssignees(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	page := web.ReadPage(r)
	var people []*account.Account
	var total int64
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		people, total, err = collaborator.ListPushers(tx, a.Repo, knowsMembers(a), page)
		return err
	})
	if err != nil {
		return err
	}
	out := make([]*account.Simple, len(people))
	for n, p := range people {
		out[n] = account.NewSimple(p, web.From(r.Context()))
	}
	web.Link(w, r, page, total)
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /repos/{owner}/{repo}/assignees/{assignee}
//
// CheckAssignee answers 204 for who is in the list of ListAssignees and 404 for
// anyone else.
func (api *API) CheckAssignee(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.checkAssignee(w, r, a, 0)
}

// GET /repos/{owner}/{repo}/issues/{number}/assignees/{assignee}
//
// CheckIssueAssignee is CheckAssignee for one issue, to which its author can be
// assigned, too. Errors: 404, 410.
func (api *API) CheckIssueAssignee(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.s.Requested(r, a)
	if err != nil {
		return err
	}
	return api.checkAssignee(w, r, a, i.AuthorID)
}

func (api *API) checkAssignee(
	w http.ResponseWriter, r *http.Request, a *repo.Access, authorID account.ID,
) error {
	login := web.Param(r, "assignee")
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		who, err := account.ByLogin(tx, login)
		if err != nil {
			return err
		}
		people, err := repo.PeopleByID(tx, a.Repo, []account.ID{who.ID})
		if err != nil {
			return err
		}
		p := people[who.ID]
		concealed := p.Member && !p.Public && !p.Collaborator && p.ID != authorID && !knowsMembers(a)
		if concealed || !canBeAssigned(a.Repo, p, authorID) {
			return errs.Absent()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// POST /repos/{owner}/{repo}/issues/{number}/assignees
//
// AddAssignees adds those of the body's logins who can be assigned; the others
// are ignored, as at GitHub. Errors: 404, 410, 422 for more than ten.
func (api *API) AddAssignees(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.assign(w, r, a, http.StatusCreated, func(has, named []account.ID) []account.ID {
		return append(has, difference(named, has)...)
	})
}

// DELETE /repos/{owner}/{repo}/issues/{number}/assignees
//
// RemoveAssignees takes the body's logins off the issue; those who are not
// assigned are ignored. Errors: 404, 410, 422.
func (api *API) RemoveAssignees(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.assign(w, r, a, http.StatusOK, difference)
}

// assign replaces the assignees of an issue by what choose makes of them and of
// those whom the body names: when it answers 201, as far as they can be
// assigned.
func (api *API) assign(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int,
	choose func(has, named []account.ID) []account.ID,
) error {
	i, err := api.s.Requested(r, a)
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	body.Require("assignees")
	logins := body.Strings("assignees", MaxAssignees, 0)
	if err := body.Err(); err != nil {
		return err
	}
	changed, err := api.s.Change(r.Context(), a, i.Number, func(c *Change) error {
		people, err := repo.PeopleNamed(c.Tx, c.Repo, logins.Value)
		if err != nil {
			return err
		}
		var named []account.ID
		for _, login := range logins.Value {
			p, ok := people[account.Fold(login)]
			if ok && (status != http.StatusCreated || canBeAssigned(c.Repo, p, c.Issue.AuthorID)) {
				named = append(named, p.ID)
			}
		}
		ids := choose(slices.Clone(c.Issue.Assignees), db.Unique(named))
		if len(ids) > MaxAssignees {
			return tooManyAssignees("assignees")
		}
		c.SetAssignees(ids)
		return nil
	})
	if err != nil {
		return err
	}
	return api.answer(w, r, a, status, changed)
}
