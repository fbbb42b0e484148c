package releases

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/page"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// editView is what edit.html shows: the form of a release, with what was typed.
type editView struct {
	page.Frame
	Old      *view // nil: a new one
	Tag      string
	Target   string
	Name     string
	Text     string
	Pre      bool
	Latest   string // true, false or legacy; empty: as it is
	Branches []string
	Tags     []string
	Drop     []int64 // files that are to be removed
	Kept     bool    // a draft was made for the files, and the form is about it now
	Lost     bool    // files were chosen, and have to be chosen again unless the release has them
}

// Drops reports that a file is chosen to be removed.
func (v *editView) Drops(id int64) bool { return slices.Contains(v.Drop, id) }

// Action is where the form is sent to.
func (v *editView) Action() string {
	if v.Old != nil {
		return v.Old.EditPath()
	}
	return v.Repo.Path + "/releases/new"
}

// fill reads the form's surroundings and choices. Error: 403 for callers without push access.
func (p *Pages) fill(r *http.Request, a *repo.Access, v *editView) (err error) {
	title := "New release"
	if v.Old != nil {
		title = "Edit " + v.Old.Title()
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "releases", title); err != nil {
		return err
	}
	if v.Viewer == nil {
		return errs.New(errs.Unauthenticated, "Requires authentication")
	}
	if err := a.Require(account.Push); err != nil {
		return err
	}
	first := web.Page{Number: 1, Size: web.MaxPageSize}
	branches, err := p.with.Git.Branches(r.Context(), a, first)
	if err != nil {
		return err
	}
	tags, err := p.with.Git.TagsByVersion(r.Context(), a, first)
	v.Branches, v.Tags = namesOf(branches.Rows, "refs/heads/"), namesOf(tags.Rows, "refs/tags/")
	return err
}

func namesOf(list []git.Ref, prefix string) []string {
	names := make([]string, len(list))
	for n, ref := range list {
		names[n] = strings.TrimPrefix(ref.Name, prefix)
	}
	return names
}

// GET /{owner}/{repo}/releases/new
//
// New answers the form for a new release; the query's tag and target fill it in. Error: 403.
func (p *Pages) New(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	q := web.QueryOf(r)
	v := &editView{Tag: q.Get("tag"), Target: q.Get("target"), Latest: "legacy"}
	if v.Target == "" {
		v.Target = a.DefaultBranch
	}
	return p.t.Show(w, r, "edit.html", v, p.fill(r, a, v))
}

// POST /{owner}/{repo}/releases/new
//
// Create creates a release, a draft or a published one, as the form's action says; with generate it shows the
// form again with notes in it. What is wrong with the form is shown on it.
func (p *Pages) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.save(w, r, a, nil)
}

// GET /{owner}/{repo}/releases/edit/{tag...}
//
// Edit answers the form of a release. Errors: 403, 404.
func (p *Pages) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	old, err := p.find(r, a)
	if err != nil {
		return err
	}
	v := viewOf(old)
	if err := p.fill(r, a, v); err != nil {
		return err
	}
	v.Shown = page.Shown(v.body())
	return p.t.Page(w, r, "edit.html", v)
}

// POST /{owner}/{repo}/releases/edit/{tag...}
//
// Save changes a release, as Create makes one. Error: 404.
func (p *Pages) Save(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	old, err := p.find(r, a)
	if err != nil {
		return err
	}
	return p.save(w, r, a, old)
}

// save does with the form of a release, nil for a new one, what its action says. Files come to a draft or a release that
// is there: a new release with files is a draft until all of them are stored, and then published if that was asked for.
// If a file is refused, the form says that the draft is there; if the files break off, the draft goes. Files that are
// removed go with the change of the release, or with the one that comes in their place.
func (p *Pages) save(w http.ResponseWriter, r *http.Request, a *repo.Access, old *view) error {
	form, err := readSent(w, r)
	if err != nil {
		return err
	}
	v := &editView{Old: old}
	v.read(form.Form)
	to, err := p.saveSent(r, a, form, v)
	if err == nil && to != "" {
		return page.SeeOther(w, r, to)
	}
	var problem *page.Problem
	if err != nil {
		if problem, err = page.ProblemOf(err); err != nil {
			return err
		}
	}
	if err := p.fill(r, a, v); err != nil {
		return err
	}
	if v.Problem, v.Shown = problem, form.Get("shown"); v.Old != nil && old == nil {
		v.Kept, v.Shown = true, page.Shown(viewOf(v.Old).body())
	}
	v.Lost = v.Lost && problem != nil
	if problem == nil {
		return p.t.Page(w, r, "edit.html", v)
	}
	return p.t.Again(w, r, "edit.html", problem, v)
}

// read takes what was typed.
func (v *editView) read(form page.Form) {
	v.Tag, v.Target, v.Name = form.Text("tag"), form.Text("target"), form.Text("name")
	v.Text, v.Pre, v.Latest = form.Get("body"), form.Checked("prerelease"), form.Get("latest")
	v.Drop = numbersOf(form.List("drop"))
}

// saveSent does what the form says, and returns where that leads; empty: to the form again.
func (p *Pages) saveSent(r *http.Request, a *repo.Access, form *sent, v *editView) (to string, err error) {
	generate := form.Get("action") == "generate" // this button is before the files, the others are behind them
	fresh := v.Old == nil && form.file != nil
	if v.Lost = form.file != nil; fresh {
		if err := p.draft(r, a, form, v); err != nil {
			return "", err
		}
	}
	if form.file != nil {
		var replaces []int64
		if !generate {
			replaces = v.Drop
		}
		err := p.uploadSent(r, a, v.Old.ID, form, replaces)
		if err != nil && fresh && brokeOff(r, err) {
			return "", errors.Join(err, p.discard(r, a, v))
		}
		if again := p.reread(r, a, v); err == nil {
			err = again
		}
		if err != nil {
			return "", err
		}
	}
	switch action := form.Get("action"); {
	case generate:
		return "", p.generate(r, a, v)
	case fresh && action == "draft":
		return v.Old.Path, nil
	case fresh:
		form.Set("shown", page.Shown(viewOf(v.Old).body()))
		fallthrough
	default:
		return p.send(r, a, form.Form, v, action)
	}
}

// draft makes a draft of what was typed, and has the form show it from then on.
func (p *Pages) draft(r *http.Request, a *repo.Access, form *sent, v *editView) error {
	e, err := v.edit(form.Form, "draft")
	if err != nil {
		return err
	}
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return err
	}
	made, err := p.with.Releases.Create(ctx, a, e)
	if err != nil {
		return err
	}
	v.Old = &view{View: &release.View{Release: made, In: a}}
	return p.reread(r, a, v)
}

// reread reads the release of the form again.
func (p *Pages) reread(r *http.Request, a *repo.Access, v *editView) error {
	of, err := p.with.Releases.Get(r.Context(), a, v.Old.ID)
	if err == nil {
		v.Old = newView(of)
	}
	return err
}

// viewOf is the form that shows a release.
func viewOf(old *view) *editView {
	return &editView{Old: old, Tag: old.Tag, Target: old.Target, Name: page.TextOf(old.Name), Text: page.TextOf(old.Release.Body),
		Pre: old.Prerelease}
}

// body is what the form says of a release's texts.
func (v *editView) body() map[string]any {
	return map[string]any{"tag_name": v.Tag, "target_commitish": v.Target, "name": v.Name, "body": v.Text,
		"prerelease": v.Pre}
}

// edit returns the edit in a form.
func (v *editView) edit(form page.Form, action string) (e release.Edit, err error) {
	fields := form.Changed(v.body())
	if v.Old != nil {
		if fields, err = form.Edit(v.body(), viewOf(v.Old).body()); err != nil {
			return e, err
		}
	}
	if fields["tag_name"] != nil {
		e.Tag = web.Some(v.Tag)
	}
	if fields["target_commitish"] != nil && v.Target != "" {
		e.Target = web.Some(v.Target)
	}
	if fields["name"] != nil {
		e.Name = web.Some(v.Name)
	}
	if fields["body"] != nil {
		e.Body = web.Some(v.Text)
	}
	if fields["prerelease"] != nil {
		e.Prerelease = web.Some(v.Pre)
	}
	if v.Latest != "" {
		if e.Choice, err = release.ReadChoice(v.Latest); err != nil {
			return e, err
		}
	}
	e.Drop = v.Drop
	switch action {
	case "publish":
		e.Draft = web.Some(false)
	case "draft":
		e.Draft = web.Some(true)
	case "save":
	default:
		return e, errs.New(errs.Invalid, "the form does not say what to do")
	}
	return e, nil
}

// send creates or changes the release, and returns the address of its page.
func (p *Pages) send(r *http.Request, a *repo.Access, form page.Form, v *editView, action string) (string, error) {
	e, err := v.edit(form, action)
	if err != nil {
		return "", err
	}
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return "", err
	}
	var made *release.Release
	if v.Old == nil {
		made, err = p.with.Releases.Create(ctx, a, e)
	} else {
		made, err = p.with.Releases.Edit(ctx, a, v.Old.ID, e)
	}
	if err != nil {
		return "", err
	}
	return (&release.View{Release: made, In: a}).PagePath(), nil
}

// generate puts notes of what changed behind what was typed.
func (p *Pages) generate(r *http.Request, a *repo.Access, v *editView) error {
	ctx, err := p.kit.Write(r, a, account.Push)
	if err != nil {
		return err
	}
	notes, err := p.with.Releases.GenerateNotes(ctx, a, release.NotesRequest{Tag: v.Tag, Target: v.Target})
	if err != nil {
		return err
	}
	if v.Name == "" {
		v.Name = v.Tag
	}
	if v.Text != "" {
		v.Text += "\n\n"
	}
	v.Text += notes
	return nil
}

// POST /{owner}/{repo}/releases/{release_id}/delete
//
// Delete removes a release with its files, and leads to the list. The tag stays. Errors: 403, 404.
func (p *Pages) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "release_id")
	if err != nil {
		return err
	}
	ctx, err := p.kit.Delete(r, a, account.Push)
	if err != nil {
		return err
	}
	if err := p.with.Releases.Delete(ctx, a, id); err != nil {
		return err
	}
	return page.Done(w, r, web.Path(a.Owner.Login, a.Name, "releases"), "The release was deleted. Its tag stays.")
}
