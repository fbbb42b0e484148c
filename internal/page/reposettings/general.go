package reposettings

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

func path(a *repo.Access) string { return web.Path(a.Owner.Login, a.Name) }

// details are the settings as the API answers and takes them.
type details struct {
	Name          string `json:"name"`
	Description   string `json:"description"`
	Homepage      string `json:"homepage"`
	DefaultBranch string `json:"default_branch"`
	HasIssues     bool   `json:"has_issues"`
}

// merging is how pull requests are merged.
type merging struct {
	Merge  bool `json:"allow_merge_commit"`
	Squash bool `json:"allow_squash_merge"`
	Rebase bool `json:"allow_rebase_merge"`
	Delete bool `json:"delete_branch_on_merge"`

	MergeTitle    string `json:"merge_commit_title"`
	MergeMessage  string `json:"merge_commit_message"`
	SquashTitle   string `json:"squash_merge_commit_title"`
	SquashMessage string `json:"squash_merge_commit_message"`
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
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "general.html", v)
}

func (p *Pages) general(r *http.Request, a *repo.Access) (*generalView, error) {
	v := &generalView{}
	var err error
	if v.view, err = p.frame(r, a, "general", "Settings"); err != nil {
		return nil, err
	}
	now, err := p.now(r, a)
	if err != nil {
		return nil, err
	}
	var branches []struct{ Name string }
	if _, err := p.kit.Get(r, api(a)+"/branches", page.Query("per_page", "100"), &branches); err != nil {
		return nil, err
	}
	for _, b := range branches {
		v.Branches = append(v.Branches, b.Name)
	}
	v.details, v.merging, v.Topics = now.details, now.merging, strings.Join(now.Topics, " ")
	v.Texts = v.texts()
	v.Shown = page.Shown(now.sorted())
	return v, nil
}

// generalNow is what the page's forms show, as the API answers it.
type generalNow struct {
	details
	merging
	Topics []string `json:"topics"`
}

func (p *Pages) now(r *http.Request, a *repo.Access) (now generalNow, err error) {
	_, err = p.kit.Get(r, api(a), nil, &now)
	return now, err
}

// sorted returns the topics in alphabetical order: they are a set.
func (g generalNow) sorted() generalNow {
	g.Topics = append([]string{}, g.Topics...)
	slices.Sort(g.Topics)
	return g
}

// POST /{owner}/{repo}/settings
//
// SaveGeneral takes one of the page's forms: do is details, topics or merging. Errors: 401, 403, 404.
func (p *Pages) SaveGeneral(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := mayAdmin(a); err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	to := struct {
		FullName string `json:"full_name"`
	}{a.FullName()}
	now, err := p.now(r, a)
	if err != nil {
		return err
	}
	d, m := formDetails(f), formMerging(f)
	var sent any = d
	switch f.Get("do") {
	case "topics":
		sent = map[string]any{"topics": formTopics(f)}
	case "merging":
		sent = m
	}
	fields, err := f.Edit(sent, now.sorted())
	switch topics, changed := fields["topics"]; {
	case err != nil:
	case changed:
		err = p.kit.Change(r, "PUT", api(a)+"/topics", map[string]any{"names": topics}, nil)
	case f.Get("do") != "topics":
		err = p.kit.Change(r, "PATCH", api(a), fields, &to)
	}
	if err == nil {
		return page.Done(w, r, "/"+escaped(to.FullName)+"/settings", "The settings were saved.")
	}
	problem, err := page.ProblemOf(err)
	if err != nil {
		return err
	}
	v, err := p.general(r, a)
	if err != nil {
		return err
	}
	v.Problem, v.Shown = problem, f.Get("shown")
	switch f.Get("do") {
	case "topics":
		v.Topics = f.Get("topics")
	case "merging":
		v.merging, v.Texts = m, m.texts()
	default:
		v.details = d
	}
	return p.t.Again(w, r, "general.html", problem, v)
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

func formDetails(f page.Form) details {
	return details{Name: f.Text("name"), Description: f.Text("description"), Homepage: f.Text("homepage"),
		DefaultBranch: f.Text("default_branch"), HasIssues: f.Checked("has_issues")}
}

func formMerging(f page.Form) merging {
	return merging{Merge: f.Checked("allow_merge_commit"), Squash: f.Checked("allow_squash_merge"),
		Rebase: f.Checked("allow_rebase_merge"), Delete: f.Checked("delete_branch_on_merge"),
		MergeTitle: f.Get("merge_commit_title"), MergeMessage: f.Get("merge_commit_message"),
		SquashTitle: f.Get("squash_merge_commit_title"), SquashMessage: f.Get("squash_merge_commit_message")}
}
