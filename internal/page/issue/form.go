package issue

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/gitdata"
	"arbor/internal/issue/form"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// field is an element of a template's form, with what it holds now.
type field struct {
	form.Element
	Key   string
	HTML  template.HTML   // of markdown, and of descriptions
	Text  string          // of input, textarea and upload
	On    map[string]bool // the options that are chosen
	Fault string
}

// templates reads the repository's templates.
func (p *Pages) templates(r *http.Request, a *repo.Access) (*gitdata.Templates, error) {
	all, err := p.of.Git.Templates(r.Context(), []*repo.Access{a})
	if err != nil {
		return nil, err
	}
	return all[a.ID], nil
}

// With returns the address of the form of a template, with the rest of the request's query.
func (v *newView) With(file string) string {
	q := url.Values{}
	if _, query, ok := strings.Cut(v.Here, "?"); ok {
		q, _ = url.ParseQuery(query) // what cannot be read is left out
	}
	q.Set("template", file)
	return "?" + q.Encode()
}

// begin fills the form from the template of a name, or decides that templates are offered first.
func (p *Pages) begin(r *http.Request, v *newView, all *gitdata.Templates, name string) error {
	v.MayBlank = !all.NoBlank || v.Repo.CanTriage() || len(all.Issues)+len(all.Links) == 0
	for _, t := range all.Issues {
		if t.File == name {
			return p.fill(r, v, t)
		}
	}
	wrong := v.Repo.CanTriage() && len(all.Wrong) > 0
	asked := name != "" || v.Name != "" || v.Text != ""
	if !v.MayBlank || !asked && (len(all.Issues)+len(all.Links) > 0 || wrong) {
		if v.Offer = all; !wrong {
			all.Wrong = nil
		}
		return nil
	}
	if v.Text == "" {
		v.Text = all.Plain
	}
	return nil
}

// ownParameters are the parameters of the page that are not ids of fields.
var ownParameters = []string{"template", "title", "body", "labels", "assignees", "milestone"}

// fill fills the form from a template, and the fields of its form from the request's query.
func (p *Pages) fill(r *http.Request, v *newView, t *form.Template) error {
	v.File = t.File
	if v.Name == "" {
		v.Name = t.Title
	}
	for _, name := range slices.Concat(t.Labels, t.Assignees) {
		v.Choose.On[name] = true
	}
	if t.Fields == nil {
		if v.Text == "" {
			v.Text = t.Body
		}
		return nil
	}
	answers := map[string][]string{}
	for n, e := range t.Fields {
		switch given := web.QueryOf(r).Get(e.ID); {
		case e.ID != "" && given != "" && !slices.Contains(ownParameters, e.ID):
			answers[form.Key(n)] = []string{given}
		case e.Default >= 0:
			answers[form.Key(n)] = []string{e.Options[e.Default].Label}
		case e.Value != "":
			answers[form.Key(n)] = []string{e.Value}
		}
	}
	return p.showFields(r, v, t, answers)
}

// showFields makes the fields of a template's form with answers, which are by form.Key.
func (p *Pages) showFields(r *http.Request, v *newView, t *form.Template, answers map[string][]string) error {
	v.Fields = make([]field, len(t.Fields))
	for n, e := range t.Fields {
		f := &v.Fields[n]
		f.Element, f.Key, f.On = e, form.Key(n), map[string]bool{}
		text := e.Description
		if e.Type == "markdown" {
			text = e.Value
		}
		html, err := p.kit.Markups.HTML(r.Context(), nil, text, "", false)
		if err != nil {
			return err
		}
		f.HTML = template.HTML(html) // sanitized by package markdown
		given := answers[f.Key]
		f.Text = page.Valid(strings.Join(given, "\n"))
		for _, option := range given {
			f.On[option] = true
		}
	}
	return nil
}

// answered reads the template that a form was made from. If the template has a form itself, the answers become v.Text,
// or v.Problem says what is wrong with them. A template that is gone is nil, and what was written stays.
func (p *Pages) answered(
	r *http.Request, a *repo.Access, v *newView, f page.Form,
) (*form.Template, error) {
	if v.File == "" {
		return nil, nil
	}
	all, err := p.templates(r, a)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all.Issues, func(t *form.Template) bool { return t.File == v.File })
	if at < 0 {
		return nil, p.gone(v, f)
	}
	t := all.Issues[at]
	if t.Fields == nil {
		return t, nil
	}
	if err := p.showFields(r, v, t, f.Values); err != nil {
		return nil, err
	}
	text, faults := t.Write(f.Values)
	if v.Text = text; faults == nil {
		return t, nil
	}
	v.Problem = &page.Problem{Status: http.StatusUnprocessableEntity, Message: "Some answers are missing or wrong."}
	for _, fault := range faults {
		v.Problem.Fields = append(v.Problem.Fields, page.Fault{Text: fault.Message})
		v.Fields[fault.Field].Fault = fault.Message
	}
	return t, nil
}

// gone keeps what was written for a form that is there no longer.
func (p *Pages) gone(v *newView, f page.Form) error {
	v.File = ""
	var lines []string
	for n := range page.MaxFields {
		if given := f.List(form.Key(n)); len(given) > 0 {
			lines = append(lines, strings.Join(given, ", "))
		}
	}
	if lines != nil {
		v.Text = strings.Join(lines, "\n\n")
		v.Problem = &page.Problem{Status: http.StatusConflict,
			Message: "The form was removed or changed. What you wrote is below: send it as it is, or start again."}
	}
	return nil
}
