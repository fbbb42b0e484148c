package pull

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

type filesView struct {
	*scene
	Diff   *diff.View
	More   bool // review comments that are not shown
	Noted  bool // there are annotations that are not shown
	Viewed int  // files of all pages

	Since    bool // the changes are those since the viewer's last review
	Replaced bool // they cannot be, as its commit is no longer part of the pull request

	Commits []page.Commit // the oldest first
	One     *chosen       // the changes are those of this commit; nil: of all
	Fixed   bool          // comments cannot name the lines of its changes
	Kept    string        // the query that says how files are shown
}

// under is what stands below a line.
type under struct {
	Notes   []*page.Annotation
	Threads []*thread
	Form    *lineForm
}

// lineForm is the form for a comment on a line.
type lineForm struct {
	*scene
	Place diff.Position
	Start int64 // the first of several lines; 0: one
	Text  string
}

// around is what stands at the head of a file.
type around struct {
	*scene
	Path    string
	Blob    string
	Viewed  bool
	Talk    string // the address that opens the form for a comment on the file
	Open    bool   // it is open
	Offered bool   // files take comments
	Owners  string // who owns the file, and where that is said; empty: nobody
}

// GET /{owner}/{repo}/pull/{number}/files
//
// Files shows what the pull request changes, with the comments in their places. ?comment=PATH:SIDE:LINE opens
// the form for a comment on that line, SIDE:FIRST-LAST for one on several; ?talk=ID that for one on a file.
// ?since=review shows only what changed since the viewer's last review.
// Error: 404.
func (p *Pages) Files(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return p.showFiles(w, r, a, "")
}

// showFiles shows the changes of all commits, or of one.
func (p *Pages) showFiles(w http.ResponseWriter, r *http.Request, a *repo.Access, commit string) error {
	s, err := p.scene(r, a, "files")
	if err != nil {
		return err
	}
	s.Wide = true
	v := &filesView{scene: s, Kept: keptQuery(r)}
	if err := p.commits(r, a, v); err != nil {
		return err
	}
	if commit != "" && !v.choose(commit) {
		if _, err := p.of.Git.GitCommit(r.Context(), a, git.SHA(commit)); err != nil {
			return err
		}
		return page.SeeOther(w, r, s.Repo.Path+"/commit/"+commit)
	}
	at := web.Page{Number: web.ReadPage(r).Number, Size: diff.PerPage}
	changes, err := p.changes(r, a, v, at)
	if err != nil {
		return err
	}
	list := page.NewChangedFiles(changes)
	v.Pages = page.PagesOf(r, changes.More(at))
	threads, rest, err := p.threads(r.Context(), a, s)
	if err != nil {
		return err
	}
	v.More = rest
	o := diff.Options{Under: map[diff.Position]any{}, OfFile: map[string]any{}, Extra: v, Text: s.Act + ".diff",
		Texts: p.kit.Texts, Whole: changes.Changes, Paged: true}
	if v.One != nil {
		o.Text = s.Repo.Path + "/commit/" + v.One.SHA + ".diff"
	}
	if v.Takes() {
		o.Talk = "new-line-comment"
	}
	var notes []page.Annotation
	if notes, v.Noted, err = p.annotations(r.Context(), a, s.ShownCommit); err != nil {
		return err
	}
	for n := range notes {
		at := diff.Position{Path: notes[n].Path, Side: diff.Right, Line: notes[n].End}
		slot(o.Under, at).Notes = append(slot(o.Under, at).Notes, &notes[n])
	}
	for _, t := range threads {
		if at, shown := v.place(t); shown {
			slot(o.Under, at).Threads = append(slot(o.Under, at).Threads, t)
		}
	}
	if form := s.lineForm(web.QueryOf(r).Get("comment")); form != nil && v.Takes() {
		slot(o.Under, form.Place).Form = form
	}
	for _, f := range changes.List {
		if s.Progress.Viewed[page.Valid(f.Path)] == string(f.SHA) {
			v.Viewed++
		}
	}
	v.around(r, list, o.OfFile)
	if err := p.owners(r.Context(), a, s.of.BaseTip, list, o.OfFile); err != nil {
		return err
	}
	o.Collapse = func(f *page.ChangedFile) bool {
		return v.One == nil && s.Progress.Viewed[f.Filename] == f.SHA && f.SHA != ""
	}
	v.Diff = diff.New(r, list, o)
	return p.t.Page(w, r, "files.html", v)
}

// changes reads the changed files that the request asks for.
func (p *Pages) changes(
	r *http.Request, a *repo.Access, v *filesView, at web.Page,
) (*gitdata.Changes, error) {
	if v.One != nil {
		return p.changesOfOne(r, a, v, at)
	}
	all, last := v.of.Range(), v.Progress.Reviewed
	if web.QueryOf(r).Get("since") != "review" || last == "" {
		return p.of.Git.ChangesOfRange(r.Context(), a, all, at)
	}
	changes, err := p.of.Git.ChangesOfRange(r.Context(), a, gitdata.Range{Base: last, Head: all.Head}, at)
	switch {
	case err == nil && changes.From == last:
		v.Since = true
		return changes, nil
	case err == nil, errs.Is(err, errs.NotFound):
		v.Replaced = true
		return p.of.Git.ChangesOfRange(r.Context(), a, all, at)
	}
	return nil, err
}

// Takes reports whether lines take comments.
func (v *filesView) Takes() bool { return v.MayComment && !v.Since && !v.Fixed }

// SinceReview reports that there are changes since the viewer's last review.
func (s *scene) SinceReview() bool {
	return s.Progress.Reviewed != "" && string(s.Progress.Reviewed) != s.Pull.Head.SHA
}

// around notes what stands at the heads of files. One form for a comment is open at a time.
func (v *filesView) around(r *http.Request, list []page.ChangedFile, all map[string]any) {
	offered := v.Takes()
	q := r.URL.Query()
	open := q.Get("talk")
	if !offered || q.Has("comment") {
		open = ""
	}
	q.Del("comment")
	for n := range list {
		f, id := &list[n], diff.ID(list[n].Filename)
		x := &around{scene: v.scene, Path: f.Filename, Open: open == id[:diff.ShortID], Offered: offered,
			Talk: diff.With(q, "talk", id[:diff.ShortID]) + "#diff-" + id}
		if v.One == nil { // the head's files are marked as viewed
			x.Blob, x.Viewed = f.SHA, f.SHA != "" && v.Progress.Viewed[f.Filename] == f.SHA
		}
		all[f.Filename] = x
	}
}

// maxNotes is how many annotations the page shows, one less than it asks for.
const maxNotes = 99

// annotations reads what checks of a commit say of its lines; rest reports that there is more.
func (p *Pages) annotations(
	ctx context.Context, a *repo.Access, sha string,
) (list []page.Annotation, rest bool, err error) {
	notes, err := p.of.Checks.NotesOfCommit(ctx, a, git.SHA(sha), maxNotes+1)
	if rest = len(notes) > maxNotes; rest {
		notes = notes[:maxNotes]
	}
	for n := range notes {
		list = append(list, page.NewAnnotation(&notes[n], a))
	}
	return list, rest, err
}

// slot returns the slot below a line, for adding to it.
func slot(all map[diff.Position]any, at diff.Position) *under {
	u, _ := all[at].(*under)
	if u == nil {
		u = &under{}
		all[at] = u
	}
	return u
}

// lineForm reads ?comment=PATH:SIDE:LINE; nil: nobody may comment, or it names no line.
func (s *scene) lineForm(where string) *lineForm {
	if where == "" || !s.MayComment {
		return nil
	}
	rest, lines, _ := cutLast(where)
	path, side, ok := cutLast(rest)
	if !ok || side != diff.Left && side != diff.Right {
		return nil
	}
	f := &lineForm{scene: s, Place: diff.Position{Path: path, Side: side}}
	first, last, several := strings.Cut(lines, "-")
	var err error
	if f.Place.Line, err = strconv.ParseInt(first, 10, 64); err != nil || f.Place.Line < 1 {
		return nil
	}
	if several {
		f.Start = f.Place.Line
		if f.Place.Line, err = strconv.ParseInt(last, 10, 64); err != nil || f.Place.Line < f.Start {
			return nil
		}
	}
	return f
}

// cutLast cuts at the last colon.
func cutLast(s string) (before, after string, found bool) {
	if at := strings.LastIndexByte(s, ':'); at >= 0 {
		return s[:at], s[at+1:], true
	}
	return s, "", false
}

// Form is the form for a comment on the file.
func (f *around) Form() *lineForm {
	return &lineForm{scene: f.scene, Place: diff.Position{Path: f.Path, Side: diff.Right}}
}

// Blank is the form that the script puts below a line.
func (v *filesView) Blank() *lineForm {
	return &lineForm{scene: v.scene, Place: diff.Position{Side: diff.Right}}
}

// Back is the page without the form.
func (f *lineForm) Back() string {
	u, err := url.Parse(f.Here)
	if err != nil {
		return f.Act + "/files"
	}
	q := u.Query()
	q.Del("comment")
	q.Del("talk")
	u.RawQuery = q.Encode()
	return u.String()
}
