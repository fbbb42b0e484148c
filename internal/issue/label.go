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
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /repos/{owner}/{repo}/issues/{number}/labels
//
// ListIssueLabels lists the labels of an issue, in the order in which they were added. Errors: 404, 410.
func (api *API) ListIssueLabels(out *web.Output, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	var list []*label.Label
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		i, err := EnabledByNumber(tx, a, n)
		if err == nil {
			list, err = label.InOrder(tx, a.ID, i.Labels)
		}
		return err
	})
	if err != nil {
		return err
	}
	return out.JSON(label.NewPayloads(web.Cut(out, r, list), issuekit.AddressesOf(r, a)))
}

// POST /repos/{owner}/{repo}/issues/{number}/labels
//
// AddIssueLabels adds labels to the issue and creates missing ones (decision 32). Errors: 404, 410, 422.
func (api *API) AddIssueLabels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.relabel(w, r, a, api.s.AddLabels)
}

// AddLabels adds labels to an issue and creates missing ones (decision 32). Errors: 404, 422.
func (s *Service) AddLabels(
	ctx context.Context, a *repo.Access, number int64, names []string,
) ([]*label.Label, error) {
	return s.relabel(ctx, a, number, func(tx *db.Tx, has []*label.Label) ([]*label.Label, error) {
		more, err := labelsFor(tx, a, names)
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
// SetIssueLabels replaces the labels of the issue. An empty array removes all. Errors: 404, 410, 422.
func (api *API) SetIssueLabels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.relabel(w, r, a, api.s.SetLabels)
}

// SetLabels replaces the labels of an issue. Without names it removes all. Errors: 404, 422.
func (s *Service) SetLabels(
	ctx context.Context, a *repo.Access, number int64, names []string,
) ([]*label.Label, error) {
	return s.relabel(ctx, a, number, func(tx *db.Tx, _ []*label.Label) ([]*label.Label, error) {
		return labelsFor(tx, a, names)
	})
}

// relabel calls change with the label names in the body and returns the resulting labels.
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
	return web.JSON(w, r, http.StatusOK, label.NewPayloads(list, issuekit.AddressesOf(r, a)))
}

// readNames reads label names from a body, which may also be just the array, as at GitHub.
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
// ClearIssueLabels removes all labels from the issue. Errors: 404, 410.
func (api *API) ClearIssueLabels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.s.Requested(r, a)
	if err != nil {
		return err
	}
	if _, err := api.s.SetLabels(r.Context(), a, i.Number, nil); err != nil {
		return err
	}
	return web.NoContent(w)
}

// DELETE /repos/{owner}/{repo}/issues/{number}/labels/{name}
//
// RemoveIssueLabel removes a label from the issue and returns the others. Errors: 404 if the issue does not
// have it, 410.
func (api *API) RemoveIssueLabel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.s.Requested(r, a)
	if err != nil {
		return err
	}
	list, err := api.s.RemoveLabel(r.Context(), a, i.Number, web.Param(r, "name"))
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, label.NewPayloads(list, issuekit.AddressesOf(r, a)))
}

// RemoveLabel removes a label from an issue and returns the others. Its name is matched case-insensitively.
// Errors: 404, also if the issue does not have it.
func (s *Service) RemoveLabel(ctx context.Context, a *repo.Access, number int64, name string) ([]*label.Label, error) {
	folded := label.Fold(name)
	return s.relabel(ctx, a, number, func(_ *db.Tx, has []*label.Label) ([]*label.Label, error) {
		at := slices.IndexFunc(has, func(l *label.Label) bool { return label.Fold(l.Name) == folded })
		if at < 0 {
			return nil, errs.New(errs.NotFound, "Label does not exist")
		}
		return slices.Delete(has, at, at+1), nil
	})
}

// tooManyLabels returns the 422 for too many labels (decision 19).
func tooManyLabels() error {
	return errs.Validation(errs.Field{Resource: Resource, Field: "labels", Code: errs.Custom,
		Message: "labels are too many (maximum is 100)"})
}

// labelsFor returns the labels with the given names in their order, and creates missing ones for callers with
// push access (decision 32). Errors: 403 for missing ones, 422.
func labelsFor(tx *db.Tx, a *repo.Access, names []string) ([]*label.Label, error) {
	if len(names) > MaxLabels {
		return nil, tooManyLabels()
	}
	if a.Role < account.Push {
		there, err := label.Named(tx, a.ID, names)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if there[label.Fold(name)] == nil {
				return nil, a.Require(account.Push)
			}
		}
	}
	return label.Ensure(tx, a.ID, names, a.Caller.ID)
}

// relabel sets the labels of an issue to the result of choose, which gets the current ones, and returns
// them. Errors: those of choose, 404, 422 for too many.
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
