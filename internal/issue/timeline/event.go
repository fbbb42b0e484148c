package timeline

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Service reads timelines.
type Service struct {
	db      *db.DB
	issues  *issue.Service
	reviews Reviews
}

// New returns a Service.
func New(d *db.DB, issues *issue.Service, reviews Reviews) *Service {
	return &Service{d, issues, reviews}
}

// API implements the HTTP handlers of events and timelines.
type API struct {
	*Service
	repos   *repo.Service
	answers *repo.Answers
}

// Reviews reads the texts of submitted reviews by id. Package forge implements it.
type Reviews interface {
	ReviewTexts(tx *db.Tx, ids []int64) (map[int64]string, error)
}

// NewAPI returns the handlers of s.
func NewAPI(s *Service, repos *repo.Service) *API { return &API{s, repos, s.issues.Answers()} }

// GET /repos/{owner}/{repo}/issues/{number}/events
//
// List lists the events of an issue or pull request, oldest first. Errors: 404, 410, 422 for a page beyond
// the first 5,000 events.
func (api *API) List(out *web.Output, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	return api.render(out, a, eventForm{}, func(tx *db.Tx) ([]*issue.Event, error) {
		i, err := issue.EnabledByNumber(tx, a, n)
		if err != nil {
			return nil, err
		}
		page := web.ReadPage(r)
		if err := checkDeep(page); err != nil {
			return nil, err
		}
		list, total, err := eventsOfIssue(tx, i.ID, page)
		tx.OnCommit(func() { web.Link(out, r, page, total) })
		return list, err
	})
}

// GET /repos/{owner}/{repo}/issues/events
//
// ListOfRepo lists the events of all issues and pull requests of a repository, newest first, each with its
// issue. Errors: 410, 422 for a page beyond the newest 5,000 events.
func (api *API) ListOfRepo(out *web.Output, r *http.Request, a *repo.Access) error {
	if err := issue.Enabled(a.Repo, nil); err != nil {
		return err
	}
	page := web.ReadPage(r)
	if err := checkDeep(page); err != nil {
		return err
	}
	form := eventForm{withIssues: true}
	return api.render(out, a, form, func(tx *db.Tx) ([]*issue.Event, error) {
		list, total, err := eventsOfRepo(tx, a.ID, page)
		tx.OnCommit(func() { web.Link(out, r, page, total) })
		return list, err
	})
}

// GET /repos/{owner}/{repo}/issues/events/{id}
//
// Get returns one event with its issue. Events that exist only in timelines are not found. Errors: 404,
// 410.
func (api *API) Get(out *web.Output, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "id")
	if err != nil {
		return err
	}
	form := eventForm{withIssues: true, alone: true}
	return api.render(out, a, form, func(tx *db.Tx) ([]*issue.Event, error) {
		e, err := byID(tx, a.ID, id)
		if err != nil {
			return nil, err
		}
		found, err := issue.ByIDs(tx, []issue.ID{e.IssueID})
		if err != nil {
			return nil, err
		}
		web.LastModified(out, e.CreatedAt.Time())
		return []*issue.Event{e}, issue.Enabled(a.Repo, found[0])
	})
}
