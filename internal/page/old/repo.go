package old

import (
	"html/template"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// maxRefs is how many branches, and how many tags, a repository's page shows.
const maxRefs = 20

// repoView is what repo.html shows. Empty texts are left out.
type repoView struct {
	FullName, Owner, OwnerPath, Name string
	Path, Files                      string // Files: of the default branch; empty when there is none
	HasIssues                        bool
	Description, Homepage            string
	Private, Empty                   bool
	CloneURL, DefaultBranch          string
	Pushed, PushedDay                string
	Branches, Tags                   *refList // nil: there are none
	Archive                          string   // address of the default branch's archive, without its end; empty when there is none
	Readme                           template.HTML
}

type refList struct {
	Total int
	Shown []refItem
}

// Hidden is how many are there beside those shown.
func (l *refList) Hidden() int { return l.Total - len(l.Shown) }

type refItem struct {
	Name, SHA    string // the first digits
	Tree, Commit string // addresses of their pages
	full         string // SHA
}

// GET /{owner}/{repo}
//
// Repo answers the page of a repository: what it is, how to clone it, its
// default branch and others by name, its tags from the newest version on. The
// address for git, with .git at its end, leads here as well. Error: 404.
func (p *Pages) Repo(w http.ResponseWriter, r *http.Request) error {
	info := web.From(r.Context())
	info.Form = p.render.errors
	if name, ok := strings.CutSuffix(web.Param(r, "repo"), ".git"); ok && name != "" {
		// Whether there is such a repository or not: no name ends in .git.
		http.Redirect(w, r, info.Page(web.Path(web.Param(r, "owner"), name)), http.StatusFound)
		return nil
	}
	return p.repos.With(account.Pull, p.repo)(w, r)
}

func (p *Pages) repo(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	refs, err := p.repos.Refs(r.Context(), a)
	if err != nil {
		return err
	}
	path := web.Path(a.Owner.Login, a.Name)
	v := &repoView{
		FullName: a.FullName(), Owner: a.Owner.Login, OwnerPath: web.Path(a.Owner.Login), Name: a.Name,
		Path: path, HasIssues: a.HasIssues,
		Description: or(a.Description, ""), Homepage: webAddress(a.Homepage), Private: a.Private,
		CloneURL: web.From(r.Context()).Page(path + ".git"), DefaultBranch: a.DefaultBranch,
		Pushed: stamp(a.PushedAt), PushedDay: day(a.PushedAt),
	}
	v.Branches = branches(refs, a.DefaultBranch)
	v.Tags = tags(refs)
	v.Empty = v.Branches == nil && v.Tags == nil
	if v.Branches != nil && v.Branches.Shown[0].Name == a.DefaultBranch {
		v.Files = treePath(a, a.DefaultBranch)
		v.Archive = path + "/archive/refs/heads" + web.Path(strings.Split(a.DefaultBranch, "/")...)
		if v.Readme, err = p.readme(r, a); err != nil {
			return err
		}
	}
	v.Branches.lead(a)
	v.Tags.lead(a)
	return p.render.page(w, r, "repo.html", v)
}

// branches lists the default branch and then the first others by name.
func branches(refs git.Refs, first string) *refList {
	l := &refList{}
	for _, ref := range refs.List {
		name, ok := strings.CutPrefix(ref.Name, "refs/heads/")
		if !ok {
			continue
		}
		l.Total++
		item := newRefItem(name, ref.SHA)
		if name == first {
			l.Shown = slices.Insert(l.Shown, 0, item)
		} else if len(l.Shown) < maxRefs {
			l.Shown = append(l.Shown, item)
		}
	}
	l.Shown = l.Shown[:min(len(l.Shown), maxRefs)] // the default branch may have come late
	return l.orNil()
}

// tags lists the newest versions first, as their names tell.
func tags(refs git.Refs) *refList {
	l := &refList{}
	for _, ref := range refs.List {
		name, ok := strings.CutPrefix(ref.Name, "refs/tags/")
		if !ok {
			continue
		}
		l.Total++
		sha := ref.SHA
		if ref.Peeled != "" {
			sha = ref.Peeled
		}
		item := newRefItem(name, sha)
		at, _ := slices.BinarySearchFunc(l.Shown, item, func(a, b refItem) int {
			return -release.CompareVersions(a.Name, b.Name)
		})
		if at < maxRefs {
			l.Shown = slices.Insert(l.Shown, at, item)
			l.Shown = l.Shown[:min(len(l.Shown), maxRefs)]
		}
	}
	return l.orNil()
}

// lead gives each ref the addresses of its pages.
func (l *refList) lead(a *repo.Access) {
	if l == nil {
		return
	}
	for n := range l.Shown {
		item := &l.Shown[n]
		item.Tree, item.Commit = treePath(a, item.Name), commitPath(a, item.full)
	}
}

func (l *refList) orNil() *refList {
	if l.Total == 0 {
		return nil
	}
	return l
}

func newRefItem(name string, sha git.SHA) refItem {
	return refItem{Name: name, SHA: short(sha), full: string(sha)}
}

func short(sha git.SHA) string { return string(sha[:min(len(sha), 10)]) }
