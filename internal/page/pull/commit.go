package pull

import (
	"net/http"
	"slices"

	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// chosen is the commit whose changes are shown alone.
type chosen struct {
	page.Commit
	Before, After string // addresses of the commits before and after it; empty: none
}

// GET /{owner}/{repo}/pull/{number}/commits/{sha}
//
// Commit shows what one commit of the pull request changes. One that the pull request does not list leads to the
// commit's own page. Error: 404.
func (p *Pages) Commit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.showFiles(w, r, a, web.Param(r, "sha"))
}

// commits reads the commits that the menu of the changes offers, the oldest first.
func (p *Pages) commits(r *http.Request, a *repo.Access, v *filesView) error {
	list, err := p.of.Git.CommitsOfRange(r.Context(), a, v.of.Range(), web.Page{Number: 1, Size: maxListed})
	if err != nil {
		return err
	}
	v.Commits = page.NewCommits(list.Rows)
	return nil
}

// CommitPath is the address of the changes of one commit. How files are shown stays.
func (v *filesView) CommitPath(sha string) string { return v.Act + "/commits/" + sha + v.Kept }

// choose notes the commit that is shown alone, and reports whether the pull request lists it.
func (v *filesView) choose(sha string) bool {
	at := slices.IndexFunc(v.Commits, func(c page.Commit) bool { return c.SHA == sha })
	if at < 0 {
		return false
	}
	v.One = &chosen{Commit: v.Commits[at]}
	if at > 0 {
		v.One.Before = v.CommitPath(v.Commits[at-1].SHA)
	}
	if at+1 < len(v.Commits) {
		v.One.After = v.CommitPath(v.Commits[at+1].SHA)
	}
	return true
}

// changesOfOne reads what the chosen commit changes. Its lines take comments if all that the pull request changes
// up to it is what it changes itself: these are the lines that comments can name.
func (p *Pages) changesOfOne(
	r *http.Request, a *repo.Access, v *filesView, at web.Page,
) (*gitdata.Changes, error) {
	sha := git.SHA(v.One.SHA)
	c, err := p.of.Git.FullCommit(r.Context(), a, v.One.SHA, at, gitdata.PagePatches)
	if err != nil {
		return nil, err
	}
	all, err := p.of.Git.ChangesOfRange(r.Context(), a, gitdata.Range{Base: v.of.Range().Base, Head: sha},
		web.Page{Number: 1, Size: 1})
	if err != nil {
		return nil, err
	}
	v.Fixed = all.From != c.Changes.From
	v.ShownCommit = v.One.SHA
	return c.Changes, nil
}

// place is where a thread stands in the changes that are shown, if it does: those of an older commit show what was
// said of that commit.
func (v *filesView) place(t *thread) (at diff.Position, shown bool) {
	at, shown = t.Place, !t.Outdated
	if first := t.Comments[0]; v.One != nil && v.One.SHA != v.Pull.Head.SHA {
		if shown = first.Made == v.One.SHA; at.Line > 0 {
			at.Line = first.OriginalLine
		}
	}
	if v.Since || v.Fixed { // old lines are others here
		shown = shown && at.Side == diff.Right
	}
	return at, shown
}

// keptQuery is the part of the query that says how files are shown.
func keptQuery(r *http.Request) string {
	q := r.URL.Query()
	for name := range q {
		if name != "diff" && name != "w" {
			q.Del(name)
		}
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}
