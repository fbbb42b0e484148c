package issue

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/label"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// milestones renders milestones with their creators, whom it reads at once.
func renderMilestones(tx *db.Tx, p *tracker.Place, list []*Milestone) ([]*milestoneJSON, error) {
	ids := make([]int64, len(list))
	for n, m := range list {
		ids[n] = m.CreatorID
	}
	creators, err := account.ByIDs(tx, ids)
	out := make([]*milestoneJSON, len(list))
	for n, m := range list {
		out[n] = renderMilestone(p, m, creators[m.CreatorID])
	}
	return out, err
}

// GET /repos/{owner}/{repo}/milestones
//
// ListMilestones answers milestones: state open (default), closed or all; sort
// due_on (default; those without a date come last) or completeness; direction
// asc (default) or desc. Errors: 422.
func (api *API) ListMilestones(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	state, err := web.QueryEnum(r, "Milestone", "state", "open", "closed", "all")
	if err != nil {
		return err
	}
	sort, err := web.QueryEnum(r, "Milestone", "sort", "due_on", "completeness")
	if err != nil {
		return err
	}
	direction, err := web.QueryEnum(r, "Milestone", "direction", "asc", "desc")
	if err != nil {
		return err
	}
	o := milestoneOrder{completeness: sort == "completeness", desc: direction == "desc"}
	o.state, _ = ParseState(state)
	return api.answers.JSON(w, r, a, func(tx *db.Tx) (any, error) {
		page := web.ReadPage(r)
		list, total, err := listMilestones(tx, a.ID, o, page)
		if err != nil {
			return nil, err
		}
		web.Link(w, r, page, total)
		return renderMilestones(tx, tracker.PlaceOf(r, a), list)
	})
}

// POST /repos/{owner}/{repo}/milestones
//
// CreateMilestone makes a milestone of title, description, due_on and state.
// Errors: 422.
func (api *API) CreateMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, "Milestone")
	if err != nil {
		return err
	}
	body.Require("title")
	e := readMilestone(body)
	if err := body.Err(); err != nil {
		return err
	}
	m, err := api.s.CreateMilestone(r.Context(), a, e)
	if err != nil {
		return err
	}
	return api.answerMilestone(w, r, a, http.StatusCreated, m)
}

// readMilestone reads the fields of a milestone.
func readMilestone(body *web.Object) MilestoneEdit {
	e := MilestoneEdit{Title: body.String("title", MaxMilestoneTitle), Description: body.String("description", MaxBody),
		State: body.Enum("state", "open", "closed"), DueOn: readDueOn(body)}
	if e.Title.Value != "" && strings.TrimSpace(e.Title.Value) == "" {
		body.Wrong("title", errs.MissingField, "title can't be blank")
	}
	return e
}

// readDueOn reads a time; null and an empty text are none.
func readDueOn(body *web.Object) (due web.Opt[db.Time]) {
	text := body.String("due_on", 0)
	due.Set, due.Null = text.Set, text.Value == ""
	if due.Null {
		return due
	}
	t, ok := web.ParseTime(text.Value)
	if !ok {
		body.Wrong("due_on", errs.InvalidField, "due_on must be a time such as 2011-04-22T13:33:48Z")
		return due
	}
	// The zero Time is none: the first moment of 1970 is stored as a later one
	// of the same second.
	if due.Value = db.FromTime(t); due.Value == 0 {
		due.Value = 1
	}
	return due
}

// answerMilestone answers with a milestone that was just written.
func (api *API) answerMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, m *Milestone) error {
	var out []*milestoneJSON
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		out, err = renderMilestones(tx, tracker.PlaceOf(r, a), []*Milestone{m})
		return err
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
// GetMilestone answers a milestone. Errors: 404.
func (api *API) GetMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	return api.answers.JSON(w, r, a, func(tx *db.Tx) (any, error) {
		m, err := milestoneByNumber(tx, a.ID, n)
		if err != nil {
			return nil, err
		}
		web.LastModified(w, m.UpdatedAt.Time())
		out, err := renderMilestones(tx, tracker.PlaceOf(r, a), []*Milestone{m})
		return out[0], err
	})
}

// PATCH /repos/{owner}/{repo}/milestones/{number}
//
// EditMilestone changes what the body names: title, description, due_on, state.
// Errors: 404, 422.
func (api *API) EditMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, "Milestone")
	if err != nil {
		return err
	}
	e := readMilestone(body)
	if string(body.Raw("title")) == `""` {
		body.Wrong("title", errs.MissingField, "title can't be blank")
	}
	if err := body.Err(); err != nil {
		return err
	}
	m, err := api.s.EditMilestone(r.Context(), a, n, e)
	if err != nil {
		return err
	}
	return api.answerMilestone(w, r, a, http.StatusOK, m)
}

// DELETE /repos/{owner}/{repo}/milestones/{number}
//
// DeleteMilestone removes a milestone; its issues are in none then. Errors: 404.
func (api *API) DeleteMilestone(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	if err := api.s.DeleteMilestone(r.Context(), a, n); err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /repos/{owner}/{repo}/milestones/{number}/labels
//
// ListMilestoneLabels answers the labels that the issues of a milestone have,
// each once, by name. Errors: 404.
func (api *API) ListMilestoneLabels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	return api.answers.JSON(w, r, a, func(tx *db.Tx) (any, error) {
		m, err := milestoneByNumber(tx, a.ID, n)
		if err != nil {
			return nil, err
		}
		list, err := label.Within(tx, m.RepoID, m.ID)
		return label.NewPayloads(web.Cut(w, r, list), tracker.PlaceOf(r, a)), err
	})
}
