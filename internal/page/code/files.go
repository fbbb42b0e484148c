package code

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"arbor/internal/git"
	"arbor/internal/page"
	"arbor/internal/repo"
)

// Bounds of the tree of files beside a file.
const (
	perFolder = 100 // entries of a folder that are shown
	maxDepth  = 12  // folders that are open when the page comes: the last of those that lead to its path
)

// folder is a folder of the tree of files.
type folder struct {
	Path    string
	Entries []node
	More    bool // the folder has other entries
	Root    bool // what is above it is not shown
}

// node is a file or folder in the tree of files.
type node struct {
	Name, Href string // no address: of a submodule
	Dir        bool
	Here       bool    // the page is about it
	Open       *folder // its entries; nil: they are asked for when a reader opens it
}

type folderView struct {
	at
	Folder *folder
}

// GET /{owner}/{repo}/files/{path...}
//
// Files answers the entries of one directory, for the tree of files beside a file: the script asks for them when
// a reader opens a folder. A file leads to its own page. Error: 404.
func (p *Pages) Files(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	place, err := p.place(r, a, "tree")
	if err != nil {
		return err
	}
	if place.At.Type != "tree" {
		return page.SeeOther(w, r, place.Link("blob", place.At.Path))
	}
	found, err := p.with.Git.Directory(r.Context(), a, string(place.At.SHA), place.At.Path)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "files.html", &folderView{place, place.folder(place.At.Path, found, "")})
}

// beside reads the folders that lead to what the page shows: the tree of files, with these alone open.
func (p *Pages) beside(r *http.Request, a *repo.Access, v *at) (*folder, error) {
	dirs := v.dirs()
	lists, err := p.with.Git.Directories(r.Context(), a, string(v.At.SHA), dirs)
	if err != nil {
		return nil, err
	}
	var inside *folder
	for n, dir := range slices.Backward(dirs) {
		next := v.At.Path
		if n+1 < len(dirs) {
			next = dirs[n+1]
		}
		f := v.folder(dir, lists[n], next)
		for i := range f.Entries {
			if f.Entries[i].Dir && v.Link("tree", next) == f.Entries[i].Href {
				f.Entries[i].Open = inside
			}
		}
		inside = f
	}
	inside.Root = true
	return inside, nil
}

// dirs are the directories that lead to the path, from the root on: the last maxDepth of them. What a directory has
// stands on its page already.
func (v *at) dirs() []string {
	list := []string{v.Up()}
	for list[0] != "" {
		list = slices.Insert(list, 0, strings.TrimPrefix(path.Dir("/"+list[0]), "/"))
	}
	return list[max(0, len(list)-maxDepth):]
}

// folder is a directory in the tree: its first entries, and the one that leads to the page's path.
func (v *at) folder(dir string, found []git.TreeEntry, next string) *folder {
	f, list := &folder{Path: dir}, entriesOf(found)
	for n, e := range list {
		if n >= perFolder && e.Path != next {
			f.More = true
			continue
		}
		at := node{Name: e.Name, Dir: e.Kind == "dir", Here: next != "" && e.Path == v.At.Path}
		switch e.Kind {
		case "dir":
			at.Href = v.Link("tree", e.Path)
		case "submodule":
		default:
			at.Href = v.Link("blob", e.Path)
		}
		f.Entries = append(f.Entries, at)
	}
	f.More = f.More || len(found) == maxListed
	return f
}
