package code

import (
	"net/http"
	"path"

	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/repo"
)

// maxListed is how many entries of a directory the API lists.
const maxListed = 1000

// listing is a directory.
type listing struct {
	at
	Entries []listed
	Cut     bool // there are more entries
	Latest  *page.Commit
	Mark    *mark // of the latest commit
	Whole   bool  // all last commits are there that can be found
	Readme  *readmeView
	Commits bool // last commits are shown
}

// listed is an entry with its last commit.
type listed struct {
	entry
	Icon string
	Href string // empty: of a submodule
	Last *lastChange
}

type treeView struct {
	listing
	Home bool
}

// GET /{owner}/{repo}/tree/{path...}
//
// Tree answers the page of a directory, a thousand entries of it at most. A file leads to its own page. Error: 404.
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
	return p.t.Page(w, r, "tree.html", v)
}

// fill reads the directory, its last commits and its readme.
func (p *Pages) fill(r *http.Request, a *repo.Access, v *listing) error {
	list, err := p.list(r, a, &v.At)
	if err != nil {
		return err
	}
	changes, err := p.changes(r, a, &v.At, false)
	if err != nil {
		return err
	}
	v.Commits, v.Whole, v.Latest = true, changes.Whole, changes.Latest
	v.Cut = len(list) == maxListed
	v.Entries = make([]listed, len(list))
	var names []string
	for n, e := range list {
		v.Entries[n] = v.listed(e, changes)
		if e.Type == "file" {
			names = append(names, e.Name)
		}
	}
	if v.Latest != nil {
		marks, err := p.marks(r, a, []string{v.Latest.SHA})
		if err != nil {
			return err
		}
		v.Mark = marks[v.Latest.SHA]
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

// listed is the entry as the page shows it.
func (v *listing) listed(e entry, changes *lastChanges) listed {
	l := listed{entry: e, Icon: "file"}
	switch e.Type {
	case "dir":
		l.Icon, l.Href = "dir", v.Link("tree", e.Path)
	case "submodule":
		l.Icon = "submodule"
	default:
		l.Href = v.Link("blob", e.Path)
	}
	if c, ok := changes.Entries[e.Name]; ok {
		l.Last = &c
	}
	return l
}
