package code

import (
	"net/http"
	"net/url"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

const (
	comparedCommits = 100 // of a page of a comparison
	offeredBranches = 100 // that the form offers
)

// compareView is a comparison, below the form that asks for one.
type compareView struct {
	page.Frame
	Base, Head string
	Dots       string
	Branches   []string
	Asked      bool
	Why        string // why there is nothing to show
	Found      *gitdata.Compared
	Days       []page.CommitDay
	Diff       *diff.View
	NewPull    string // the address that makes a pull request of it; empty: there is nothing to merge
}

// GET /{owner}/{repo}/compare
//
// CompareForm answers the form that asks for a comparison, and leads to the one that ?base= and ?head= name.
// Error:
// 404.
func (p *Pages) CompareForm(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	q := web.QueryOf(r)
	if head := strings.TrimSpace(q.Get("head")); head != "" {
		base := strings.TrimSpace(q.Get("base"))
		if base == "" {
			base = a.DefaultBranch
		}
		return page.SeeOther(w, r, web.Path(a.Owner.Login, a.Name, "compare")+segments(base+"..."+head))
	}
	v := &compareView{Base: a.DefaultBranch}
	return p.showComparison(w, r, a, v)
}

// GET /{owner}/{repo}/compare/{basehead...}
//
// Compare answers what HEAD has that BASE lacks (BASE...HEAD; a single name is compared with the default
// branch): a hundred commits a page, and on the first page up to 300 files. Either may be of a fork,
// OWNER:BRANCH. BASE...HEAD.diff and .patch are the text alone (decision 30). Error: 404.
func (p *Pages) Compare(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	spec := web.Param(r, "basehead")
	if strings.HasSuffix(spec, ".diff") || strings.HasSuffix(spec, ".patch") {
		return page.Absent(p.with.Texts.CompareText(w, r, a))
	}
	v := &compareView{Asked: true, Dots: "..."}
	var ok bool
	if v.Base, v.Head, ok = strings.Cut(spec, "..."); !ok {
		if v.Base, v.Head, ok = strings.Cut(spec, ".."); ok {
			v.Dots = ".."
		} else {
			v.Base, v.Head = a.DefaultBranch, spec
		}
	}
	if v.Base == "" || v.Head == "" {
		return errs.Absent()
	}
	found, err := p.with.Git.Compared(r.Context(), a, v.Base+v.Dots+v.Head,
		web.Page{Number: web.ReadPage(r).Number, Size: comparedCommits}, gitdata.PagePatches)
	switch {
	case errs.Is(err, errs.NotFound) && strings.Contains(err.Error(), "common ancestor"):
		v.Why = "The two have entirely different histories, without a common ancestor."
		return p.showComparison(w, r, a, v)
	case err != nil:
		return page.Absent(err)
	}
	v.Found = found
	v.Pages = page.PagesOf(r, found.More)
	if found.Ahead > 0 && v.Dots == "..." {
		v.NewPull = web.Path(a.Owner.Login, a.Name, "pulls", "new") + "?" +
			url.Values{"base": {v.Base}, "head": {v.Head}}.Encode()
		q := r.URL.Query()
		if q.Get("expand") == "1" || q.Get("quick_pull") == "1" { // as GitHub calls the form of a new pull request
			q.Del("expand")
			q.Set("base", v.Base)
			q.Set("head", v.Head)
			return page.SeeOther(w, r, web.Path(a.Owner.Login, a.Name, "pulls", "new")+"?"+q.Encode())
		}
	}
	return p.showComparison(w, r, a, v)
}

func (p *Pages) showComparison(w http.ResponseWriter, r *http.Request, a *repo.Access, v *compareView) error {
	title, pages := "Compare", v.Pages
	if v.Asked {
		title += " " + v.Base + v.Dots + v.Head
	}
	frame, err := p.kit.RepoFrame(r, a, "code", title)
	if err != nil {
		return err
	}
	v.Frame, v.Wide, v.Pages = frame, true, pages
	branches, err := p.with.Git.Branches(r.Context(), a, web.Page{Number: 1, Size: offeredBranches})
	if err != nil {
		return err
	}
	for _, b := range branches.Rows {
		v.Branches = append(v.Branches, strings.TrimPrefix(b.Name, "refs/heads/"))
	}
	if v.Found == nil {
		return p.t.Page(w, r, "compare.html", v)
	}
	if v.Days, err = p.days(r, v.Found.Changes.In, v.Found.Commits); err != nil {
		return err
	}
	if web.ReadPage(r).Number == 1 {
		v.Diff = diff.New(r, page.NewChangedFiles(v.Found.Changes), diff.Options{Texts: p.kit.Texts,
			Whole: v.Found.Changes.Changes, Text: v.Repo.Path + "/compare" + segments(v.Base+v.Dots+v.Head) + ".diff"})
	}
	return p.t.Page(w, r, "compare.html", v)
}
