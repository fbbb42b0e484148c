package code

import (
	"context"
	"net/http"
	"path"
	"strconv"

	"arbor/internal/git/history"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Entries of a directory.
const (
	maxListed = 1000 // that the API lists
	perTree   = 300  // of a page
)

// listing is a directory.
type listing struct {
	at
	Entries []listed // of this page
	Cut     bool     // this page is the last, and there are more entries
	Latest  *page.Commit
	Mark    *mark  // of the latest commit
	Later   string // where the list is asked for later, with all last commits; empty: they are here
	Readme  *readmeView
}

// listed is an entry with its last commit.
type listed struct {
	entry
	Icon string
	Href string // empty: of a submodule
	Last *lastCommit
}

// lastCommit is the commit that changed an entry last.
type lastCommit struct{ history.LastCommit }

// Brief is the beginning of the first line of its message.
func (c *lastCommit) Brief() string {
	s := page.Clip(c.Subject, 100)
	if s.Cut {
		s.Text += "…"
	}
	return s.Text
}

type treeView struct {
	listing
	Home  bool
	Files *folder // beside the directory
}

// GET /{owner}/{repo}/tree/{path...}
//
// Tree answers the page of a directory, 300 of its first thousand entries. A file leads to its own page.
// Error: 404.
func (p *Pages) Tree(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	place, err := p.place(r, a, "tree")
	if err != nil {
		return err
	}
	if place.At.Type != "tree" {
		return page.SeeOther(w, r, place.Link("blob", place.At.Path))
	}
	v := &treeView{listing: listing{at: place}}
	if err := p.fill(r, a, &v.listing); err != nil {
		return err
	}
	v.Files, err = p.beside(r, a, &v.at)
	return p.t.Show(w, r, "tree.html", v, err)
}

// fill reads the directory, its last commits and its readme.
func (p *Pages) fill(r *http.Request, a *repo.Access, v *listing) error {
	list, err := p.list(r, a, &v.At)
	if err != nil {
		return err
	}
	changes, err := p.with.Git.LastChanges(r.Context(), a, v.At.SHA, v.At.Path, false)
	if err != nil {
		return err
	}
	if !changes.Whole {
		number := strconv.FormatInt(web.ReadPage(r).Number, 10)
		v.Later = v.Link("last-changes", v.At.Path) + "?" + page.Query("page", number).Encode()
	}
	v.show(r, list, changes)
	var names []string
	for _, e := range list {
		if e.Kind == "file" {
			names = append(names, e.Name)
		}
	}
	if err := p.latest(r, a, v, changes); err != nil {
		return err
	}
	if name := gitdata.ReadmeOf(names); name != "" {
		at := path.Join(v.At.Path, name)
		html, err := p.rendered(r, &v.at, at)
		if err != nil {
			return err
		}
		if html != "" {
			v.Readme = &readmeView{Name: name, Path: at, HTML: html}
		}
	}
	return nil
}

// latestOf is the commit that changed a path last, and its mark; nil: it was not found in time.
func (p *Pages) latestOf(
	ctx context.Context, a *repo.Access, changes *gitdata.LastChanges,
) (*page.Commit, *mark, error) {
	c := changes.Latest
	if c == nil {
		return nil, nil, nil
	}
	marks, err := p.marks(ctx, a, c.SHA)
	return new(page.NewCommit(c)), marks[c.SHA], err
}

// latest takes the commit that changed the directory last, and its mark.
func (p *Pages) latest(r *http.Request, a *repo.Access, v *listing, changes *gitdata.LastChanges) error {
	var err error
	v.Latest, v.Mark, err = p.latestOf(r.Context(), a, changes)
	return err
}

// show takes the entries of the request's page, and their last commits.
func (v *listing) show(r *http.Request, list []entry, changes *gitdata.LastChanges) {
	from := int(min(web.ReadPage(r).Number-1, maxListed)) * perTree
	rest := list[min(from, len(list)):]
	shown := rest[:min(perTree, len(rest))]
	for _, e := range shown {
		v.Entries = append(v.Entries, v.listed(e, changes))
	}
	more := len(shown) < len(rest)
	v.Pages, v.Cut = page.PagesOf(r, more), !more && len(list) == maxListed
}

// listed is the entry as the page shows it.
func (v *listing) listed(e entry, changes *gitdata.LastChanges) listed {
	l := listed{entry: e, Icon: "file"}
	switch e.Kind {
	case "dir":
		l.Icon, l.Href = "dir", v.Link("tree", e.Path)
	case "submodule":
		l.Icon = "submodule"
	default:
		l.Href = v.Link("blob", e.Path)
	}
	if c, ok := changes.Entries[e.Name]; ok {
		l.Last = &lastCommit{c}
	}
	return l
}
