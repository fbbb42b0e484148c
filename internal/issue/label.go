package issue

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/label"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/issues/{number}/labels
//
// ListIssueLabels answers the labels of an issue, in the order in which they
// were given. Errors: 404, 410.
func (api *API) ListIssueLabels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	return api.s.answers.JSON(w, r, a, func(tx *db.Tx) (any, error) {
		i, err := EnabledByNumber(tx, a, n)
		if err != nil {
			return nil, err
		}
		list, err := label.InOrder(tx, a.ID, i.Labels)
		return label.NewPayloads(web.Cut(w, r, list), tracker.PlaceOf(r, a)), err
	})
}

// POST /repos/{owner}/{repo}/issues/{number}/labels
//
// AddIssueLabels adds labels to those of the issue, and makes those that the
// repository lacks (decision 32). Errors: 404, 410, 422.
func (api *API) AddIssueLabels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.relabel(w, r, a, api.s.AddLabels)
}

// AddLabels adds labels to those of an issue, and makes those that the repository lacks (decision 32). Errors:
// 404, 422.
func (s *Service) AddLabels(
	ctx context.Context, a *repo.Access, number int64, names []string,
) ([]*label.Label, error) {
	return s.relabel(ctx, a, number, func(tx *db.Tx, has []*label.Label) ([]*label.Label, error) {
		more, err := labelsFor(tx, a.ID, names, a.Caller.ID)
		for _, l := range more {
			if !slices.ContainsFunc(has, func(h *label.Label) bool { return h.ID == l.ID }) {
				has = append(has, l)
			}
		}
		return has, err
	})
}

// PUT /repos/{owner}/{repo}/issues/{number}/labels
//
// SetIssueLabels replaces the labels of the issue; an empty array takes them all
// off. Errors: 404, 410, 422.
func (api *API) SetIssueLabels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.relabel(w, r, a, api.s.SetLabels)
}

// SetLabels replaces the labels of an issue; without names it takes them all off. Errors: 404, 422.
func (s *Service) SetLabels(
	ctx context.Context, a *repo.Access, number int64, names []string,
) ([]*label.Label, error) {
	return s.relabel(ctx, a, number, func(tx *db.Tx, _ []*label.Label) ([]*label.Label, error) {
		return labelsFor(tx, a.ID, names, a.Caller.ID)
	})
}

// relabel changes the labels of an issue with the names that the body has, and
// answers those that it has then.
func (api *API) relabel(
	w http.ResponseWriter, r *http.Request, a *repo.Access,
	change func(ctx context.Context, a *repo.Access, number int64, names []string) ([]*label.Label, error),
) error {
	i, err := api.s.Requested(r, a)
	if err != nil {
		return err
	}
	names, err := readNames(r)
	if err != nil {
		return err
	}
	list, err := change(r.Context(), a, i.Number, names)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, label.NewPayloads(list, tracker.PlaceOf(r, a)))
}

// readNames reads the names of labels from a body, which may be the array
// itself, as at GitHub.
func readNames(r *http.Request) ([]string, error) {
	raw, err := web.ReadBody(r)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) && json.Valid(raw) {
		raw = slices.Concat([]byte(`{"labels":`), raw, []byte("}"))
	}
	body, err := web.ParseBody(r, raw, Resource)
	if err != nil {
		return nil, err
	}
	body.Require("labels")
	names := readLabels(body)
	return names.Value, body.Err()
}

// DELETE /repos/{owner}/{repo}/issues/{number}/labels
//
// ClearIssueLabels takes all labels off the issue. Errors: 404, 410.
func (api *API) ClearIssueLabels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.s.Requested(r, a)
	if err != nil {
		return err
	}
	none := func(*db.Tx, []*label.Label) ([]*label.Label, error) { return nil, nil }
	if _, err := api.s.relabel(r.Context(), a, i.Number, none); err != nil {
		return err
	}
	return web.NoContent(w)
}

// DELETE /repos/{owner}/{repo}/issues/{number}/labels/{name}
//
// RemoveIssueLabel takes a label off the issue and answers the others. Errors:
// 404 when the issue does not have it, 410.
func (api *API) RemoveIssueLabel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.s.Requested(r, a)
	if err != nil {
		return err
	}
	folded := label.Fold(web.Param(r, "name"))
	list, err := api.s.relabel(r.Context(), a, i.Number,
		func(_ *db.Tx, has []*label.Label) ([]*label.Label, error) {
			at := slices.IndexFunc(has, func(l *label.Label) bool { return label.Fold(l.Name) == folded })
			if at < 0 {
				return nil, errs.New(errs.NotFound, "Label does not exist")
			}
			return slices.Delete(has, at, at+1), nil
		})
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, label.NewPayloads(list, tracker.PlaceOf(r, a)))
}

// tooManyLabels is the 422 for more labels than an issue can have (decision 19).
func tooManyLabels() error {
	return errs.Validation(errs.Field{Resource: Resource, Field: "labels", Code: errs.Custom,
		Message: "labels are too many (maximum is 100)"})
}

// labelsFor finds the labels of an issue by their names, in the order given,
// and makes those that are not there (decision 32), for an account. Errors: 422.
func labelsFor(tx *db.Tx, repoID repo.ID, names []string, by account.ID) ([]*label.Label, error) {
	if len(names) > MaxLabels {
		return nil, tooManyLabels()
	}
	return label.Ensure(tx, repoID, names, by)
}

// relabel gives an issue the labels that choose makes of those that it has, and
// returns them. Errors: those of choose, 404, 422 for too many.
func (s *Service) relabel(
	ctx context.Context, a *repo.Access, number int64,
	choose func(tx *db.Tx, has []*label.Label) ([]*label.Label, error),
) ([]*label.Label, error) {
	var labels []*label.Label
	_, err := s.Change(ctx, a, number, func(c *Change) error {
		has, err := label.InOrder(c.Tx, a.ID, c.Issue.Labels)
		if err != nil {
			return err
		}
		if labels, err = choose(c.Tx, has); err != nil {
			return err
		}
		if len(labels) > MaxLabels {
			return tooManyLabels()
		}
		return c.SetLabels(labels)
	})
	return labels, err
}
