package issue

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of issues.
type API struct{ s *Service }

// NewAPI returns the handlers of s.
func NewAPI(s *Service) *API { return &API{s} }

// Requested reads the issue with the number {number}. Errors: those of ByNumber.
func (s *Service) Requested(r *http.Request, a *repo.Access) (*Issue, error) {
	n, err := web.Number(r, "number")
	if err != nil {
		return nil, err
	}
	return s.ByNumber(r.Context(), a, n)
}

// GET /repos/{owner}/{repo}/issues/{number}
//
// Get returns the full form of an issue or of a pull request's issue. Errors: 404, 410.
func (api *API) Get(out *web.Output, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	p, err := api.s.readFull(r.Context(), a, func(tx *db.Tx) (*Issue, error) { return EnabledByNumber(tx, a, n) })
	if err != nil {
		return err
	}
	web.LastModified(out, p.issues[0].UpdatedAt.Time())
	return api.render(out, p)
}

// POST /repos/{owner}/{repo}/issues
//
// Create creates an issue. Callers below the role Triage can set only its title and body. Errors: 410, 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := Enabled(a.Repo, nil); err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	body.Require("title")
	n := NewIssue{Title: readTitle(body).Value}
	rejectUnsupported(body)
	text := body.String("body", MaxBody)
	if a.Role >= account.Triage {
		f := readFields(body, web.From(r.Context()).Media.Preview(web.Assignees))
		n.Assignees, n.Field, n.Milestone, n.Labels = f.assignees.Value, f.assigneesField, f.milestone.Value,
			f.labels.Value
	}
	if err := body.Err(); err != nil {
		return err
	}
	n.Text = NewText(text.Value)
	made, err := api.s.Create(r.Context(), a, n)
	if err != nil {
		return err
	}
	w.Header().Set("Location", issuekit.AddressesOf(r, a).API+"/issues/"+strconv.FormatInt(made.Number, 10))
	return api.answer(w, r, a, http.StatusCreated, made)
}

// rejectUnsupported rejects fields that issues do not support: types, custom fields and duplicates
// (decision 65).
func rejectUnsupported(body *web.Object) {
	body.Fixed("type", "")
	body.Fixed("issue_field_values", []any{})
}

// readTitle reads a title, which must not be blank.
func readTitle(body *web.Object) web.Opt[string] {
	title := body.String("title", MaxTitle)
	if title.Given() && title.Value != "" && strings.TrimSpace(title.Value) == "" {
		body.Wrong("title", errs.MissingField, "title can't be blank")
	}
	return title
}

// fields are the fields that only users with push access may set.
type fields struct {
	assignees      web.Opt[[]string]
	assigneesField string // the name used in the request: assignee or assignees
	milestone      web.Opt[int64]
	labels         web.Opt[[]string]
}

// readFields reads the fields; several allows more than one assignee, which is a preview. An empty string
// clears a field, like null (decision 32).
func readFields(body *web.Object, several bool) fields {
	f := fields{assigneesField: "assignee"}
	one := body.String("assignee", 0)
	f.assignees.Set = one.Set
	if one.Value != "" {
		f.assignees.Value = []string{one.Value}
	}
	if several && body.Has("assignees") {
		list := body.Strings("assignees", MaxAssignees, 0)
		if list.Given() && one.Set {
			body.Wrong("assignees", errs.Custom, "assignee and assignees cannot be set together")
		}
		if list.Given() {
			f.assignees, f.assigneesField = list, "assignees"
		}
	}
	switch raw := string(body.Raw("milestone")); raw {
	case `""`:
		f.milestone = web.Opt[int64]{Set: true, Null: true}
	case "0", "-0": // strconv accepts these, but milestone numbers start at 1
		body.WrongValue("milestone", 0)
	default:
		f.milestone = body.Int("milestone")
	}
	f.labels = readLabels(body)
	return f
}

// readLabels reads label names, given as strings or as objects with a name.
func readLabels(body *web.Object) web.Opt[[]string] {
	var objects []map[string]json.RawMessage // not a struct: keys must match exactly (decision 51)
	if raw := body.Raw("labels"); len(raw) == 0 || json.Unmarshal(raw, &objects) != nil || len(objects) == 0 {
		return body.Strings("labels", MaxLabels, label.MaxName)
	}
	names := web.Opt[[]string]{Set: true}
	for _, o := range objects {
		var name *string
		if json.Unmarshal(o["name"], &name) != nil || name == nil {
			body.Wrong("labels", errs.InvalidField, `"labels" must be an array of strings`)
			return names
		}
		names.Value = append(names.Value, *name)
	}
	return names
}

// PATCH /repos/{owner}/{repo}/issues/{number}
//
// Edit changes the fields in the body, of title and text only for the author and users with push access, else also
// for users with the role triage; for an author below that role, assignees, milestone and labels are ignored.
// Errors: 403, 404, 410, 422.
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.s.Requested(r, a)
	if err != nil {
		return err
	}
	if err := MayEdit(a, i, account.Triage); err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	e := readEdit(body, a, web.From(r.Context()))
	if err := body.Err(); err != nil {
		return err
	}
	changed, err := api.s.Update(r.Context(), a, i, e)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, http.StatusOK, changed)
}

// readEdit reads the body of a PATCH.
func readEdit(body *web.Object, a *repo.Access, info *web.Info) Edit {
	e := Edit{Title: readTitle(body), Body: body.String("body", MaxBody),
		State:  body.Enum("state", "open", "closed"),
		Reason: body.Enum("state_reason", reasons[1:]...)}
	if raw := string(body.Raw("title")); raw == `""` || raw == "null" {
		body.Wrong("title", errs.MissingField, "title can't be blank")
	}
	rejectUnsupported(body)
	body.Fixed("duplicate_issue_id", nil)
	if a.Role >= account.Triage {
		f := readFields(body, info.Media.Preview(web.Assignees))
		e.Assignees, e.AssigneesField, e.Milestone, e.Labels = f.assignees, f.assigneesField, f.milestone, f.labels
	}
	return e
}
