package issue

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/issues/{number}/events
//
// ListEvents answers a page of what happened to an issue or pull request, the
// oldest first. Errors: 404, 410, 422 for a page beyond the first 5,000 events.
func (api *API) ListEvents(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	p := &eventPage{page: newPage(r.Context(), a)}
	return api.answers.Serve(w, r, a, api.eventRendering(p, func(tx *db.Tx) ([]*Event, error) {
		i, err := enabledIssue(tx, a, n)
		if err != nil {
			return nil, err
		}
		page := web.ReadPage(r)
		if err := checkDeep(page); err != nil {
			return nil, err
		}
		list, total, err := eventsOfIssue(tx, i.ID, page)
		tx.OnCommit(func() { web.Link(w, r, page, total) })
		return list, err
	}, list))
}

// enabledIssue finds an issue of a repository. Errors: 404, 410 (decision 16).
func enabledIssue(tx *db.Tx, a *repo.Access, number int64) (*Issue, error) {
	i, err := ByNumber(tx, a.ID, number)
	if err != nil {
		return nil, err
	}
	return i, enabled(a.Repo, i)
}

// GET /repos/{owner}/{repo}/issues/events
//
// ListRepoEvents answers a page of what happened to the issues and pull requests
// of a repository, the newest first, each event with its issue. Errors: 410, 422
// for a page beyond the newest 5,000 events.
func (api *API) ListRepoEvents(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := enabled(a.Repo, nil); err != nil {
		return err
	}
	page := web.ReadPage(r)
	if err := checkDeep(page); err != nil {
		return err
	}
	p := &eventPage{page: newPage(r.Context(), a), withIssues: true}
	return api.answers.Serve(w, r, a, api.eventRendering(p, func(tx *db.Tx) ([]*Event, error) {
		list, total, err := eventsOfRepo(tx, a.ID, page)
		tx.OnCommit(func() { web.Link(w, r, page, total) })
		return list, err
	}, list))
}

// GET /repos/{owner}/{repo}/issues/events/{id}
//
// GetEvent answers one event with its issue. What stands in timelines only is
// none. Errors: 404, 410.
func (api *API) GetEvent(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "id")
	if err != nil {
		return err
	}
	p := &eventPage{page: newPage(r.Context(), a), withIssues: true}
	return api.answers.Serve(w, r, a, api.eventRendering(p, func(tx *db.Tx) ([]*Event, error) {
		e, err := eventByID(tx, a.ID, id)
		if err != nil {
			return nil, err
		}
		found, err := ByIDs(tx, []ID{e.IssueID})
		if err != nil {
			return nil, err
		}
		web.LastModified(w, e.CreatedAt.Time())
		return []*Event{e}, enabled(a.Repo, found[0])
	}, single))
}
