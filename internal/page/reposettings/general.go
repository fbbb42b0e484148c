package reposettings

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/repo/settings"
	"arbor/internal/web"
)

func path(a *repo.Access) string { return web.Path(a.Owner.Login, a.Name) }

// details are the first part of the form, by the names of the API.
type details struct {
	Name          string `json:"name"`
	Description   string `json:"description"`
	Homepage      string `json:"homepage"`
	DefaultBranch string `json:"default_branch"`
	HasIssues     bool   `json:"has_issues"`
}

// merging is how pull requests are merged, by the names of the API.
type merging struct {
	Merge  bool `json:"allow_merge_commit"`
	Squash bool `json:"allow_squash_merge"`
	Rebase bool `json:"allow_rebase_merge"`
	Delete bool `json:"delete_branch_on_merge"`
	Auto   bool `json:"allow_auto_merge"`

	MergeTitle    string `json:"merge_commit_title"`
	MergeMessage  string `json:"merge_commit_message"`
	SquashTitle   string `json:"squash_merge_commit_title"`
	SquashMessage string `json:"squash_merge_commit_message"`
}

// flags and words are the settings by their names.
func (m *merging) flags() map[string]bool {
	return map[string]bool{"allow_merge_commit": m.Merge, "allow_squash_merge": m.Squash,
		"allow_rebase_merge": m.Rebase, "delete_branch_on_merge": m.Delete,
		"allow_auto_merge": m.Auto}
}

func (m *merging) words() map[string]string {
	return map[string]string{"merge_commit_title": m.MergeTitle, "merge_commit_message": m.MergeMessage,
		"squash_merge_commit_title": m.SquashTitle, "squash_merge_commit_message": m.SquashMessage}
}

// texts are what the texts of merges may be made of.
func (m *merging) texts() []page.Choice {
	return []page.Choice{
		{Name: "merge_commit_title", Label: "Title of merge commits", Chosen: m.MergeTitle,
			Options: [][2]string{
				{"MERGE_MESSAGE", "“Merge pull request #1 from …”"},
				{"PR_TITLE", "Title of the pull request"}}},
		{Name: "merge_commit_message", Label: "Message of merge commits", Chosen: m.MergeMessage,
			Options: [][2]string{
				{"PR_TITLE", "Title of the pull request"}, {"PR_BODY", "Description of the pull request"},
				{"BLANK", "Nothing"}}},
		{Name: "squash_merge_commit_title", Label: "Title of squashed commits", Chosen: m.SquashTitle,
			Options: [][2]string{
				{"COMMIT_OR_PR_TITLE", "The commit’s if there is one alone, else the pull request’s"},
				{"PR_TITLE", "Title of the pull request"}}},
		{Name: "squash_merge_commit_message", Label: "Message of squashed commits", Chosen: m.SquashMessage,
			Options: [][2]string{
				{"COMMIT_MESSAGES", "Messages of the commits"},
				{"PR_BODY", "Description of the pull request"},
				{"BLANK", "Nothing"}}},
	}
}

// generalView is the first page of the settings.
type generalView struct {
	view
	details
	merging
	Topics   string
	Texts    []page.Choice
	Branches []string // some, for the browser to complete
}

// GET /{owner}/{repo}/settings
//
// General shows the settings of the repository itself. Errors: 401, 403.
func (p *Pages) General(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.general(r, a)
	return p.t.Show(w, r, "general.html", v, err)
}

func (p *Pages) general(r *http.Request, a *repo.Access) (*generalView, error) {
	v := &generalView{}
	var err error
	if v.view, err = p.frameFor(r, a, account.Maintain, "general", "Settings"); err != nil {
		return nil, err
	}
	refs, err := p.kit.Repos.Refs(r.Context(), a)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs.List {
		if name, is := strings.CutPrefix(ref.Name, git.Heads); is && len(v.Branches) < maxBranches {
			v.Branches = append(v.Branches, name)
		}
	}
	now := nowOf(a)
	v.details, v.merging, v.Topics = now.details, now.merging, strings.Join(now.Topics, " ")
	v.Texts = v.texts()
	v.Shown = page.Shown(now.sorted())
	return v, nil
}

const maxBranches = 100

// generalNow is what the page's form shows.
type generalNow struct {
	details
	merging
	Topics []string `json:"topics"`
}

func nowOf(a *repo.Access) generalNow {
	m, view := a.Merging, page.NewRepository(a)
	return generalNow{
		details{a.Name, view.Description, view.Homepage, a.DefaultBranch, a.HasIssues},
		merging{Merge: !m.Has(repo.NoMergeCommits), Squash: !m.Has(repo.NoSquashes),
			Rebase: !m.Has(repo.NoRebases), Delete: m.Has(repo.DeletesHead),
			Auto:       m.Has(repo.AllowsAutoMerge),
			MergeTitle: m.Word("merge_commit_title"), MergeMessage: m.Word("merge_commit_message"),
			SquashTitle: m.Word("squash_merge_commit_title"), SquashMessage: m.Word("squash_merge_commit_message")},
		a.Topics.Names()}
}

// sorted returns the topics in alphabetical order: they are a set.
func (g generalNow) sorted() generalNow {
	g.Topics = append([]string{}, g.Topics...)
	slices.Sort(g.Topics)
	return g
}

// POST /{owner}/{repo}/settings
//
// SaveGeneral takes the page's form, in one transaction. Errors: 401, 403, 404.
func (p *Pages) SaveGeneral(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := may(a, account.Maintain); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	fullName, err := p.saveGeneral(r, a, f)
	if err == nil {
		return page.Done(w, r, "/"+escaped(fullName)+"/settings", "The settings were saved.")
	}
	return page.RefuseWith(p.t, w, r, "general.html", err,
		func(r *http.Request) (*generalView, error) { return p.general(r, a) },
		func(v *generalView) {
			v.Shown = f.Get("shown")
			sent := formGeneral(f, a)
			v.details, v.merging, v.Topics = sent.details, sent.merging, strings.Join(sent.Topics, " ")
			v.Texts = v.texts()
		})
}

// saveGeneral changes what the form says, and returns the repository's OWNER/NAME from then on.
func (p *Pages) saveGeneral(r *http.Request, a *repo.Access, f page.Form) (fullName string, err error) {
	sent := formGeneral(f, a)
	changed, err := f.Edit(sent, nowOf(a).sorted())
	if err != nil {
		return "", err
	}
	return p.edit(r, a, editOf(changed, &sent))
}

// edit changes the repository, and returns its OWNER/NAME from then on.
func (p *Pages) edit(r *http.Request, a *repo.Access, e settings.Edit) (fullName string, err error) {
	// The operation asks for more, and looks whether it is archived.
	ctx, err := p.kit.WriteArchived(r, a, account.Maintain)
	if err != nil {
		return "", err
	}
	edited, err := p.of.Settings.Edit(ctx, a, e)
	if err != nil {
		return "", err
	}
	return edited.FullName(), nil
}

// editOf is the edit of the fields that a form changes.
func editOf(changed map[string]json.RawMessage, g *generalNow) settings.Edit {
	text := func(name, value string) web.Opt[string] {
		return web.Opt[string]{Set: changed[name] != nil, Value: value}
	}
	e := settings.Edit{Name: text("name", g.Name), Description: text("description", g.Description),
		Homepage: text("homepage", g.Homepage), DefaultBranch: text("default_branch", g.DefaultBranch),
		Topics:    web.Opt[[]string]{Set: changed["topics"] != nil, Value: g.Topics},
		HasIssues: web.Opt[bool]{Set: changed["has_issues"] != nil, Value: g.HasIssues},
		Merging:   repo.MergingEdit{Flags: g.flags(), Words: g.words()}}
	unchanged := func(name string) bool { return changed[name] == nil }
	maps.DeleteFunc(e.Merging.Flags, func(name string, _ bool) bool { return unchanged(name) })
	maps.DeleteFunc(e.Merging.Words, func(name, _ string) bool { return unchanged(name) })
	return e
}

// formGeneral reads the form. Of a part that it lacks, as a page of an earlier version does, everything stays.
func formGeneral(f page.Form, a *repo.Access) generalNow {
	g := nowOf(a).sorted()
	if f.Values.Has("description") || f.Values.Has("name") {
		g.details = formDetails(f, a)
	}
	if f.Values.Has("topics") {
		g.Topics = formTopics(f)
	}
	if f.Values.Has("merge_commit_title") {
		g.merging = formMerging(f)
	}
	return g
}

// formTopics are the topics of the form, in the order of their letters.
func formTopics(f page.Form) []string {
	names := strings.FieldsFunc(f.Get("topics"), func(c rune) bool {
		return c == ' ' || c == ',' || c == '\n'
	})
	slices.Sort(names)
	return append([]string{}, names...)
}

// escaped is OWNER/NAME as a path has it.
func escaped(fullName string) string {
	owner, name, _ := strings.Cut(fullName, "/")
	return url.PathEscape(owner) + "/" + url.PathEscape(name)
}

// formDetails reads the form, in which maintainers do not find what administrators alone change.
func formDetails(f page.Form, a *repo.Access) details {
	d := details{Name: f.Text("name"), Description: f.Text("description"), Homepage: f.Text("homepage"),
		DefaultBranch: f.Text("default_branch"), HasIssues: f.Checked("has_issues")}
	if a.Role < account.Admin {
		d.Name, d.DefaultBranch, d.HasIssues = a.Name, a.DefaultBranch, a.HasIssues
	}
	return d
}

func formMerging(f page.Form) merging {
	return merging{Merge: f.Checked("allow_merge_commit"), Squash: f.Checked("allow_squash_merge"),
		Rebase: f.Checked("allow_rebase_merge"), Delete: f.Checked("delete_branch_on_merge"),
		Auto:       f.Checked("allow_auto_merge"),
		MergeTitle: f.Get("merge_commit_title"), MergeMessage: f.Get("merge_commit_message"),
		SquashTitle: f.Get("squash_merge_commit_title"), SquashMessage: f.Get("squash_merge_commit_message")}
}
