package issue

import (
	"context"
	"net/http"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/repo/collaborator"
	"arbor/internal/web"
)

// knowsMembers reports whether the caller may see all assignable users, including members who conceal their
// membership in the organization.
func knowsMembers(a *repo.Access) bool { return a.Role >= account.Triage || a.Insider() }

// GET /repos/{owner}/{repo}/assignees
//
// ListAssignees lists the users who can be assigned to any issue of the repository, by id: its owner,
// members and collaborators with push access. Concealed memberships are shown only to callers who may assign
// and to members.
func (api *API) ListAssignees(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	page := web.ReadPage(r)
	people, total, err := api.s.Assignable(r.Context(), a, page)
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

// Assignable reads a page of the users that ListAssignees lists, and their total number.
func (s *Service) Assignable(
	ctx context.Context, a *repo.Access, at web.Page,
) (people []*account.Account, total int64, err error) {
	found, err := s.assignable(ctx, []*repo.Access{a}, at)
	if err != nil {
		return nil, 0, err
	}
	return found[a.ID].Rows, found[a.ID].Total, nil
}

func (s *Service) assignable(
	ctx context.Context, repos []*repo.Access, at web.Page,
) (found map[repo.ID]*web.List[*account.Account], err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[repo.ID]*web.List[*account.Account], error) {
		return collaborator.ListPushers(tx, repos, knowsMembers, at)
	})
}

// AssignableIn lists what GET /repos/{owner}/{repo}/assignees does, of several repositories, with a fixed
// number of statements.
func (s *Service) AssignableIn(
	ctx context.Context, repos []*repo.Access, at web.Page,
) (map[repo.ID]*web.List[*account.Simple], error) {
	found, err := s.assignable(ctx, repos, at)
	out := map[repo.ID]*web.List[*account.Simple]{}
	for id, list := range found {
		out[id] = &web.List[*account.Simple]{Total: list.Total, More: list.More,
			Rows: account.NewSimples(list.Rows, web.From(ctx))}
	}
	return out, err
}

// GET /repos/{owner}/{repo}/assignees/{assignee}
//
// CheckAssignee returns 204 for a user that ListAssignees lists, else 404.
func (api *API) CheckAssignee(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.CheckAssignee(r.Context(), a, web.Param(r, "assignee")); err != nil {
		return err
	}
	return web.NoContent(w)
}

// CheckAssignee returns 404 unless a user can be assigned to any issue of the repository.
func (s *Service) CheckAssignee(ctx context.Context, a *repo.Access, login string) error {
	return s.checkAssignee(ctx, a, login, 0)
}

// GET /repos/{owner}/{repo}/issues/{number}/assignees/{assignee}
//
// CheckIssueAssignee is CheckAssignee for one issue, to which its author can also be assigned. Errors: 404,
// 410.
func (api *API) CheckIssueAssignee(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.s.Requested(r, a)
	if err != nil {
		return err
	}
	if err := api.s.checkAssignee(r.Context(), a, web.Param(r, "assignee"), i.AuthorID); err != nil {
		return err
	}
	return web.NoContent(w)
}

func (s *Service) checkAssignee(ctx context.Context, a *repo.Access, login string, authorID account.ID) error {
	return s.db.Read(ctx, func(tx *db.Tx) error {
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
}

// POST /repos/{owner}/{repo}/issues/{number}/assignees
//
// AddAssignees assigns the users in the body. As at GitHub, users who cannot be assigned are ignored.
// Errors: 404, 410, 422 for more than ten.
func (api *API) AddAssignees(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.assign(w, r, a, http.StatusCreated, api.s.Assign)
}

// Assign assigns the given users to an issue, as far as they can be assigned. Errors: 404, 422 for more
// than ten.
func (s *Service) Assign(ctx context.Context, a *repo.Access, number int64, logins []string) (*Issue, error) {
	return s.assign(ctx, a, number, logins, true, func(has, named []account.ID) []account.ID {
		return append(has, difference(named, has)...)
	})
}

// DELETE /repos/{owner}/{repo}/issues/{number}/assignees
//
// RemoveAssignees unassigns the users in the body. Users who are not assigned are ignored. Errors: 404,
// 410, 422.
func (api *API) RemoveAssignees(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.assign(w, r, a, http.StatusOK, api.s.Unassign)
}

// Unassign unassigns the given users from an issue. Errors: 404, 422 for more than ten.
func (s *Service) Unassign(ctx context.Context, a *repo.Access, number int64, logins []string) (*Issue, error) {
	return s.assign(ctx, a, number, logins, false, difference)
}

// assign calls change with the logins in the body.
func (api *API) assign(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int,
	change func(ctx context.Context, a *repo.Access, number int64, logins []string) (*Issue, error),
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
	changed, err := change(r.Context(), a, i.Number, logins.Value)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, status, changed)
}

// assign sets the assignees of an issue to the result of choose, which gets the current assignees and the
// users with the given logins. If adds is true, only users who can be assigned are passed.
func (s *Service) assign(
	ctx context.Context, a *repo.Access, number int64, logins []string, adds bool,
	choose func(has, named []account.ID) []account.ID,
) (*Issue, error) {
	f := web.Faults{Resource: Resource}
	if f.CheckStrings("assignees", logins, MaxAssignees, 0); f.Err() != nil {
		return nil, f.Err()
	}
	return s.Change(ctx, a, number, func(c *Change) error {
		named, err := c.named(logins, adds)
		if err != nil {
			return err
		}
		ids := choose(slices.Clone(c.Issue.Assignees), db.Unique(named))
		if len(ids) > MaxAssignees {
			return tooManyAssignees("assignees")
		}
		c.SetAssignees(ids)
		return nil
	})
}

// named returns the users with the given logins, and with assignable only those who can be assigned.
func (c *Change) named(logins []string, assignable bool) (ids []account.ID, err error) {
	people, err := repo.PeopleNamed(c.Tx, c.Repo, logins)
	for _, login := range logins {
		p, ok := people[account.Fold(login)]
		if ok && (!assignable || canBeAssigned(c.Repo, p, c.Issue.AuthorID)) {
			ids = append(ids, p.ID)
		}
	}
	return ids, err
}
