package milestone

import (
	"net/http"

	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of milestones.
type API struct {
	s       *Service
	repos   *repo.Service
	answers *repo.Answers
}

// cacheBytes is the size of the cache of rendered responses.
const cacheBytes = 4 << 20

// NewAPI returns the handlers of s.
func NewAPI(s *Service, repos *repo.Service) *API {
	return &API{s, repos, repo.NewAnswers(cacheBytes)}
}

// GET /repos/{owner}/{repo}/milestones
//
// List lists milestones: state open (default), closed or all; sort due_on (default; those without a date
// are last) or completeness; direction asc (default) or desc. Errors: 422.
func (api *API) List(out *web.Output, r *http.Request, a *repo.Access) error {
	state, err := web.QueryEnum(r, resource, "state", "open", "closed", "all")
	if err != nil {
		return err
	}
	sort, err := web.QueryEnum(r, resource, "sort", "due_on", "completeness")
	if err != nil {
		return err
	}
	direction, err := web.QueryEnum(r, resource, "direction", "asc", "desc")
	if err != nil {
		return err
	}
	o := Order{Completeness: sort == "completeness", Desc: direction == "desc"}
	o.State, _ = issuekit.ParseState(state)
	page := web.ReadPage(r)
	found, total, err := api.s.List(r.Context(), a, o, page)
	if err != nil {
		return err
	}
	web.Link(out, r, page, total)
	return out.JSON(renderViews(found, issuekit.AddressesOf(r, a)))
}

// POST /repos/{owner}/{repo}/milestones
//
// Create creates a milestone with title, description, due_on and state. Errors: 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, resource)
	if err != nil {
		return err
	}
	m, err := api.s.Create(r.Context(), a, readEdit(body))
	if err != nil {
		return err
	}
	return api.answer(w, r, a, http.StatusCreated, m)
}

// readEdit reads the fields of a milestone.
func readEdit(body *web.Object) Edit {
	e := Edit{Title: body.String("title", 0), Description: body.String("description", 0),
		State: body.String("state", 0), DueOn: readDueOn(body)}
	e.Body = body.Faults
	return e
}

// readDueOn reads a time. Null and an empty text mean none.
func readDueOn(body *web.Object) (due web.Opt[db.Time]) {
	text := body.String("due_on", 0)
	due = dueOn(&body.Faults, text.Value)
	due.Set = text.Set
	return due
}

// ReadDueOn parses the due time of a milestone. An empty text means none. Error: 422.
func ReadDueOn(text string) (web.Opt[db.Time], error) {
	f := web.Faults{Resource: resource}
	due := dueOn(&f, text)
	return due, f.Err()
}

func dueOn(f *web.Faults, text string) web.Opt[db.Time] {
	if text == "" {
		return web.Opt[db.Time]{Set: true, Null: true}
	}
	t, ok := web.ParseTime(text)
	if !ok {
		f.Wrong("due_on", errs.InvalidField, "due_on must be a time such as 2011-04-22T13:33:48Z")
	}
	due := web.Some(db.FromTime(t))
	if due.Value == 0 { // 0 means none, so the first moment of 1970 is stored as a later one of the same second
		due.Value = 1
	}
	return due
}

// answer writes a milestone as the response.
func (api *API) answer(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int, m *Milestone,
) error {
	out, err := db.Get(r.Context(), api.s.db, func(tx *db.Tx) ([]*Payload, error) {
		return payloads(tx, []*Milestone{m}, issuekit.AddressesOf(r, a))
	})
	if err != nil {
		return err
	}
	if status == http.StatusCreated {
		w.Header().Set("Location", out[0].URL)
	}
	return web.JSON(w, r, status, out[0])
}

// GET /repos/{owner}/{repo}/milestones/{number}
//
// Get returns a milestone. Errors: 404.
func (api *API) Get(out *web.Output, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	v, err := api.s.Get(r.Context(), a, n)
	if err != nil {
		return err
	}
	web.LastModified(out, v.UpdatedAt.Time())
	return out.JSON(NewPayload(v.Milestone, v.Creator, issuekit.AddressesOf(r, a)))
}

// PATCH /repos/{owner}/{repo}/milestones/{number}
//
// Edit changes the fields in the body: title, description, due_on, state. Errors: 404, 422.
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, resource)
	if err != nil {
		return err
	}
	m, err := api.s.Edit(r.Context(), a, n, readEdit(body))
	if err != nil {
		return err
	}
	return api.answer(w, r, a, http.StatusOK, m)
}

// GET /repos/{owner}/{repo}/milestones/{number}/labels
//
// ListLabels lists the labels of a milestone's issues, without duplicates, by name. Errors: 404.
func (api *API) ListLabels(out *web.Output, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	var found []*label.Label
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		m, err := ByNumber(tx, a.ID, n)
		if err == nil {
			found, err = label.Within(tx, m.RepoID, m.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	return out.JSON(label.NewPayloads(web.Cut(out, r, found), issuekit.AddressesOf(r, a)))
}

// Caches returns statistics of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.answers.Stats("milestone_answers")}
}
