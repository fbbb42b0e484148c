package issue

import (
	"net/http"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// maxLabelDescription is in code points, as at GitHub.
const maxLabelDescription = 100

// labels renders a list of labels.
func renderLabels(p *tracker.Place, list []*Label) []*labelJSON {
	out := make([]*labelJSON, len(list))
	for n, l := range list {
		out[n] = renderLabel(p, l)
	}
	return out
}

// GET /repos/{owner}/{repo}/labels
//
// ListLabels answers the labels of the repository by name.
func (api *API) ListLabels(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.answers.JSON(w, r, a, func(tx *db.Tx) (any, error) {
		page := web.ReadPage(r)
		list, total, err := listLabels(tx, a.ID, page)
		if err != nil {
			return nil, err
		}
		web.Link(w, r, page, total)
		return renderLabels(tracker.PlaceOf(r, a), list), nil
	})
}

// POST /repos/{owner}/{repo}/labels
//
// CreateLabel makes a label; one without a colour gets that of labels which an
// issue names and nobody made. Errors: 422.
func (api *API) CreateLabel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, "Label")
	if err != nil {
		return err
	}
	body.Require("name")
	name, color := readLabelName(body, "name"), readColor(body)
	description := body.String("description", maxLabelDescription)
	if err := body.Err(); err != nil {
		return err
	}
	l := &Label{RepoID: a.ID, Name: name.Value, Color: color.Or(newLabelColor), Description: orNone(description.Value)}
	if err := api.s.CreateLabel(r.Context(), l); err != nil {
		return err
	}
	made := renderLabel(tracker.PlaceOf(r, a), l)
	return web.Created(w, r, made.URL, made)
}

// readLabelName reads the name of a label: not blank.
func readLabelName(body *web.Object, field string) web.Opt[string] {
	name := body.String(field, MaxLabelName)
	if name.Value != "" && strings.TrimSpace(name.Value) == "" {
		body.Wrong(field, errs.MissingField, "name can't be blank")
	}
	return name
}

// readColor reads a colour as six hexadecimal digits, perhaps behind a number
// sign, and makes them lower-case.
func readColor(body *web.Object) web.Opt[string] {
	color := body.String("color", 0)
	if color.Value == "" && string(body.Raw("color")) != `""` {
		return color // absent, null or no text
	}
	color.Value = strings.ToLower(strings.TrimPrefix(color.Value, "#"))
	if len(color.Value) != 6 || strings.Trim(color.Value, "0123456789abcdef") != "" {
		body.Wrong("color", errs.InvalidField, "color must be six hexadecimal digits")
	}
	return color
}

// GET /repos/{owner}/{repo}/labels/{name}
//
// GetLabel answers a label, whose name matches without regard to case. Errors:
// 404.
func (api *API) GetLabel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.answers.JSON(w, r, a, func(tx *db.Tx) (any, error) {
		l, err := labelNamed(tx, a.ID, web.Param(r, "name"))
		if err != nil {
			return nil, err
		}
		return renderLabel(tracker.PlaceOf(r, a), l), nil
	})
}

// PATCH /repos/{owner}/{repo}/labels/{name}
//
// EditLabel changes what the body names: new_name (or name), color and
// description. Errors: 404, 422.
func (api *API) EditLabel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, "Label")
	if err != nil {
		return err
	}
	field := "name"
	if body.Has("new_name") {
		field = "new_name"
	}
	e := LabelEdit{Name: readLabelName(body, field), Color: readColor(body), Description: body.String("description", maxLabelDescription)}
	if string(body.Raw(field)) == `""` {
		body.Wrong(field, errs.MissingField, "name can't be blank")
	}
	if err := body.Err(); err != nil {
		return err
	}
	l, err := api.s.EditLabel(r.Context(), a, web.Param(r, "name"), e)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, renderLabel(tracker.PlaceOf(r, a), l))
}

// DELETE /repos/{owner}/{repo}/labels/{name}
//
// DeleteLabel removes a label from the repository and its issues. Errors: 404.
func (api *API) DeleteLabel(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.DeleteLabel(r.Context(), a, web.Param(r, "name")); err != nil {
		return err
	}
	return web.NoContent(w)
}
