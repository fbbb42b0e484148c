// Package diff shows changed files: unified or side by side, with a slot below each line and around each file
// for what another room adds, such as review threads.
//
//   - diff.go: the view, its files and their order
//   - row.go: the rows as HTML
//   - lines.go: patches read as hunks and lines; words that changed within lines
//   - space.go: lines in which only white space changed
//   - colour.go: the colours of lines
//   - generated.go: files that programs wrote, which are collapsed
//
// # How a room shows a diff
//
// Ask the API for files with patches, as []page.ChangedFile, and make a view:
//
//	v.Diff = diff.New(r, files, diff.Options{Texts: kit.Texts, Whole: changes.Changes, ...})
//	v.Wide = true // of the Frame
//
// The template shows it by {{template "diff" .Diff}} (templates/diff.html of package page, part of each
// room's set). It reads ?diff=split of the request, ?w=1 which hides white space, and ?show=ID of a collapsed file
// that is wanted; its links keep the rest of the query. A file is at #diff-ID, where ID is the SHA-256 of its
// path; the script finds its lines at #diff-IDL7 (old) and #diff-IDR7 (new), as at GitHub.
//
// What the room adds is given as values in Options and rendered by templates that the room defines again in
// its own files. Their names, and what "." is in them:
//
//	{{define "diff-under"}}     below a line: a Slot, Value is Options.Under[Position]
//	{{define "diff-file-acts"}} at the right of a file's header: a Slot, Value is Options.OfFile[path]; Place.Line is 0
//	{{define "diff-file-top"}}  above the lines of a file: the same Slot
//	{{define "diff-top"}}       in the bar above all files: the *View
//
// Slot.Extra is Options.Extra, for what the slots need besides their value (the viewer, addresses of forms).
// Slots are rendered only for lines and files with an entry in the maps; a package with a form in each
// file adds an entry for each. A value whose line is not shown (its file is collapsed, or it is outside the
// hunks) is in File.Below, and shown by "diff-under" below the lines of its file.
//
// For scripts: a file is .difffile with data-path; in its table the first two cells of a row hold the lines'
// numbers, side by side the first and the third. A row has the class a (added) or d (deleted); side by side,
// the cells of numbers have it.
//
// Without a script, Options.Talk makes links of the numbers where the address has ?lines=1: to the page with
// ?comment=PATH:SIDE:LINE#Options.Talk.
package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	gitdiff "arbor/internal/git/diff"
	"arbor/internal/highlight"
	"arbor/internal/page"
	"arbor/internal/web"
)

// Bounds of what is shown at first. The API leaves out patches of more than 3,000 lines or 1 MiB, and those
// past 2 MiB of a page. What a page adds to the text of its lines stays below 100 KB: files whose rows would
// take more are collapsed.
const (
	PerPage      = 50     // files of a page
	maxFileLines = 1000   // of one file's patch; a longer one is collapsed
	maxMarkup    = 84_000 // bytes of a page without what stands around the files
	fileMarkup   = 650    // bytes of a file without its rows
	actsMarkup   = 350    // bytes of what a room adds to a file
	maxShown     = 20     // collapsed files that one address opens
	maxLine      = 5000   // bytes of a line
	linkedShare  = 4      // as many times fewer bytes of rows where their numbers are links
	ShortID      = 12     // digits of a file's ID that the addresses of opened files have
)

// Sides of a line, in the API's words: of the old file and of the new one.
const (
	Left  = "LEFT"
	Right = "RIGHT"
)

// Position is a line of a changed file. Path is the new one.
type Position struct {
	Path string
	Side string // Left or Right
	Line int64  // from 1; 0: the file as a whole
}

// Options are what a room adds. All of it may be missing.
type Options struct {
	Under  map[Position]any // what stands below lines
	OfFile map[string]any   // what stands around files, by path
	Extra  any              // for the room's templates
	Text   string           // the address of the whole diff as text; empty: none
	Talk   string           // the id of the form for a comment on a line; empty: nobody may comment
	Texts  *highlight.Texts // colours of lines; nil: they are plain

	// Whole is all that changed, for totals; nil: the files.
	Whole *gitdiff.Changes
	Paged bool // the files are one page (?page=) of Whole

	// Collapse reports files that are collapsed at first, such as those marked as viewed.
	Collapse func(f *page.ChangedFile) bool
}

// Slot is the place in a diff that a room's template fills.
type Slot struct {
	Position
	File  *File
	Value any
	Extra any
}

// View is changed files, as the template "diff" shows them.
type View struct {
	Files                []*File // of the page
	All                  int     // files on all pages
	List                 []Listed
	Split                bool
	NoSpace              bool   // changes of white space are hidden
	Additions, Deletions int64  // on all pages
	Text                 string // see Options
	Unified, SideBySide  string // addresses of this page in both forms
	OtherSpace           string // the address of this page with white space hidden or shown
	Lines                string // the address with links at the numbers of lines; empty: there are none
	Later                string // the address that takes the time for all colours; empty: the page has them
	Around               page.Pager
	Extra                any
}

// Listed is a file of any page.
type Listed struct {
	Path, Href           string
	Additions, Deletions int
}

// maxListed is how many files a page lists besides its own.
const maxListed = 1000

// File is one changed file.
type File struct {
	page.ChangedFile
	ID    string       // SHA-256 of its path
	Large *LargeChange // of an object of Git LFS; nil: the file is Git's
	// why no lines are shown: lfs, large, generated, binary, picture, collapsed, same (no line changed), space (only
	// white space did), or empty
	Why   string
	Href  string // shows a collapsed file; empty: the page cannot
	Rows  []Row  // unified
	Pairs []Pair // side by side
	Acts  *Slot  // around the file; nil: nothing
	Above []Slot // of the file as a whole
	Below []Slot // of lines that are not shown

	Split bool // as the view

	rows []Row
}

// Row is a line of a unified diff, or the head of a hunk.
type Row struct {
	Kind     string // a: added, d: deleted, h: the head of a hunk, n: a note of git; empty: as before
	Old, New int64  // numbers; 0: none
	Text     Marked
	Colour   string // the text as coloured HTML, without marks; empty: it is plain
	Under    []Slot

	talk *link // of the numbers; nil: they are plain
}

// link is the address of the form for a comment, around the side and the number of a line.
type link struct{ before, after string }

// Pair is a row of two lines side by side; Old or New has no number where there is none. A hunk's head is in
// Old.
type Pair struct{ Old, New Row }

// Marked is the text of a line, whose middle changed.
type Marked struct{ Before, Middle, After string }

// Mode says how the file's mode changed: "100644 → 100755"; empty: it did not.
func (f *File) Mode() string {
	if f.Brief == nil || f.Status != "modified" && f.Status != "renamed" && f.Status != "changed" ||
		f.Brief.OldMode == f.Brief.Mode {
		return ""
	}
	return f.Brief.OldMode + " → " + f.Brief.Mode
}

// New returns the view of a request's changed files.
func New(r *http.Request, files []page.ChangedFile, o Options) *View {
	q := r.URL.Query()
	v := &View{Split: q.Get("diff") == "split", NoSpace: q.Get("w") == "1", Text: o.Text, Extra: o.Extra,
		Unified: With(q, "diff", "unified"), SideBySide: With(q, "diff", "split"), OtherSpace: With(q, "w", "1")}
	if v.NoSpace {
		v.OtherSpace = With(q, "w")
	}
	wanted := q["show"]
	wanted = wanted[:min(len(wanted), maxShown)]
	all, number := files, int(web.ReadPage(r).Number)
	if !o.Paged {
		files, number = v.cut(q, files)
	}
	v.count(q, all, o, number)
	if o.Talk != "" {
		v.Lines = With(q, "lines", "1") + "#files"
	}
	linked := o.Talk != "" && q.Get("lines") == "1"
	left := maxMarkup - fileMarkup*len(files) - actsMarkup*min(len(files), len(o.OfFile))
	if linked {
		left /= linkedShare
	}
	for n := range files {
		f := &File{ChangedFile: files[n], ID: ID(files[n].Filename), Split: v.Split}
		f.Large = largeChange(f.Patch)
		if asked := slices.Contains(wanted, f.ID[:ShortID]); f.Patch != nil {
			f.show(o, asked, v.NoSpace, &left)
			if f.Why != "" && f.Why != "space" {
				more := slices.Concat(wanted, []string{f.ID[:ShortID]})
				f.Href = With(q, "show", more[max(0, len(more)-maxShown):]...) + "#diff-" + f.ID
			}
		} else {
			f.Why = f.hidden(o)
		}
		v.Files = append(v.Files, f)
	}
	limit := maxColouring
	if q.Get("colours") == "1" {
		limit = maxLater
	}
	if colour(r.Context(), o.Texts, v.Files, left, limit) {
		v.Later = With(q, "colours", "1")
	}
	for _, f := range v.Files {
		if linked {
			f.link(q, o.Talk)
		}
		f.finish(o)
	}
	return v
}

// count takes the totals and the list of all pages; number is that of the page that is shown.
func (v *View) count(q url.Values, files []page.ChangedFile, o Options, number int) {
	list := func(n int, param, path string, additions, deletions int) {
		href := "#diff-" + ID(path)
		if of := n/PerPage + 1; of != number {
			href = With(q, param, strconv.Itoa(of)) + href
		}
		v.List = append(v.List, Listed{path, href, additions, deletions})
	}
	if o.Paged {
		for n, f := range o.Whole.List[:min(len(o.Whole.List), maxListed)] {
			list(n, "page", page.Valid(f.Path), f.Additions, f.Deletions)
		}
	}
	v.All = len(files)
	for n, f := range files {
		v.Additions, v.Deletions = v.Additions+f.Additions, v.Deletions+f.Deletions
		if !o.Paged {
			list(n, "files", f.Filename, int(f.Additions), int(f.Deletions))
		}
	}
	if o.Whole != nil {
		v.All, v.Additions, v.Deletions = o.Whole.Total, int64(o.Whole.Additions), int64(o.Whole.Deletions)
	}
}

// cut takes the files of the page that the query asks for (?files=2), where there are more than one page
// shows, and returns its number, too.
func (v *View) cut(q url.Values, files []page.ChangedFile) ([]page.ChangedFile, int) {
	last := max(1, (len(files)+PerPage-1)/PerPage)
	n, err := strconv.Atoi(q.Get("files"))
	if err != nil {
		n = 1
	}
	n = min(max(n, 1), last)
	if n > 1 {
		v.Around.Newer = With(q, "files", strconv.Itoa(n-1))
	}
	if n < last {
		v.Around.Older = With(q, "files", strconv.Itoa(n+1))
	}
	return files[(n-1)*PerPage : min(n*PerPage, len(files))], n
}

// show reads the file's patch, or says why it is not shown; asked: somebody wants to see it. left is how many
// bytes the page's rows may still add to their text.
func (f *File) show(o Options, asked, noSpace bool, left *int) {
	if f.Why = f.hidden(o); f.Why != "" && !asked {
		return
	}
	f.Why = ""
	if f.read(noSpace); len(f.rows) == 0 && noSpace {
		f.Why = "space"
		return
	}
	if size := f.markup(); asked || size <= *left {
		*left -= size
		return
	}
	f.Why, f.rows = "large", nil
}

// link makes links of the numbers of lines.
func (f *File) link(q url.Values, form string) {
	kept := url.Values{}
	for name, list := range q {
		if name != "comment" && name != "talk" {
			kept[name] = list
		}
	}
	l := &link{"?" + kept.Encode() + "&comment=" + url.QueryEscape(f.Filename+":"), "#" + form}
	for n := range f.rows {
		f.rows[n].talk = l
	}
}

// finish makes the rows what templates show.
func (f *File) finish(o Options) {
	if f.Split {
		f.Pairs = pairs(f.rows)
	} else {
		f.Rows = f.rows
	}
	f.place(o)
}

// With is the address of the page with another value in its query.
func With(q url.Values, name string, values ...string) string {
	n := url.Values{}
	for key, list := range q {
		n[key] = list
	}
	n[name] = values
	return "?" + n.Encode()
}

// ID names a file in addresses: the SHA-256 of its path.
func ID(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}

// Continues reports that lines around the hunks can be read on the file's own page.
func (f *File) Continues() bool {
	return f.Status != "removed" && f.Status != "added" && f.BlobURL != ""
}

// Page is the address of the file's own page; empty: it has none.
func (f *File) Page() string { return page.Local(f.BlobURL) }

// hidden says why a file's lines are not shown at first, regardless of the rest of the page; empty: they are
// shown.
func (f *File) hidden(o Options) string {
	switch {
	case f.Large != nil:
		return "lfs"
	case f.Patch == nil && f.Brief != nil && f.Brief.Binary && page.IsPicture(f.Filename) && f.Old+f.New != "":
		return "picture"
	case f.Patch == nil && f.Brief != nil && f.Brief.Binary:
		return "binary"
	case f.Patch == nil && f.Brief != nil && f.Brief.Unread:
		return "large"
	case f.Patch == nil && f.Changes == 0:
		return "same"
	case f.Patch == nil:
		return "large"
	case o.Collapse != nil && o.Collapse(&f.ChangedFile):
		return "collapsed"
	case generated(f.Filename):
		return "generated"
	}
	if lines(*f.Patch) > maxFileLines {
		return "large"
	}
	return ""
}

// place puts what the room gave into the file and below its lines.
func (f *File) place(o Options) {
	if value, ok := o.OfFile[f.Filename]; ok {
		f.Acts = &Slot{Position: Position{Path: f.Filename}, File: f, Value: value, Extra: o.Extra}
	}
	if len(o.Under) == 0 {
		return
	}
	used := map[Position]bool{}
	take := func(row *Row, side string, line int64) {
		at := Position{f.Filename, side, line}
		if value, ok := o.Under[at]; ok && line > 0 && !used[at] {
			used[at] = true
			row.Under = append(row.Under, Slot{Position: at, File: f, Value: value, Extra: o.Extra})
		}
	}
	for n := range f.Rows {
		take(&f.Rows[n], Left, f.Rows[n].Old)
		take(&f.Rows[n], Right, f.Rows[n].New)
	}
	for n := range f.Pairs {
		take(&f.Pairs[n].Old, Left, f.Pairs[n].Old.Old)
		take(&f.Pairs[n].New, Right, f.Pairs[n].New.New)
	}
	for at, value := range o.Under {
		if at.Path != f.Filename || used[at] {
			continue
		}
		if s := (Slot{Position: at, File: f, Value: value, Extra: o.Extra}); at.Line == 0 {
			f.Above = append(f.Above, s)
		} else {
			f.Below = append(f.Below, s)
		}
	}
	slices.SortFunc(f.Below, func(a, b Slot) int { return int(a.Line - b.Line) })
}
