// Package diff shows changed files: unified or side by side, with a slot below each line and around each file for what
// another room adds, such as review threads.
//
//   - diff.go: the view, its files and their order
//   - lines.go: patches read as hunks and lines; words that changed within lines
//   - generated.go: files that programs wrote, which are collapsed
//
// # How a room shows a diff
//
// Ask the API for files with patches, as []page.ChangedFile, and make a view:
//
//	v.Diff = diff.New(r, files, diff.Options{...})
//	v.Wide = true // of the Frame
//
// The template shows it by {{template "diff" .Diff}} (templates/diff.html of package page, part of each room's set).
// It reads ?diff=split of the request, and ?show=ID of a collapsed file that is wanted; its links keep the rest of
// the query. A file is at #diff-ID, where ID is the SHA-256 of its path; its lines are at #diff-IDL7 (old) and
// #diff-IDR7 (new), as at GitHub.
//
// What the room adds is given as values in Options and rendered by templates that the room defines again in its own
// files. Their names, and what "." is in them:
//
//	{{define "diff-under"}}     below a line: a Slot, Value is Options.Under[Place]
//	{{define "diff-file-acts"}} at the right of a file's header: a Slot, Value is Options.OfFile[path]; Place.Line is 0
//	{{define "diff-file-end"}}  below the lines of a file: the same Slot
//	{{define "diff-top"}}       in the bar above all files: the *View
//
// Slot.Extra is Options.Extra, for what the slots need beside their value (the viewer, addresses of forms). Nothing is
// asked for a line or a file of which the maps have no entry; a room whose form stands in each file gives each file an
// entry. A value whose line is not shown (its file is collapsed, or it is outside the hunks) is in File.Below, and
// shown by "diff-under" below the lines of its file.
//
// For scripts: a file is .difffile with data-path and data-id; in its table a cell td[data-n] holds a line's number,
// and its id ends in L or R and the number. A row has the class a (added) or d (deleted); side by side, cells have it.
package diff

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"

	"arbor/internal/page"
)

// Bounds of what is shown at first. The API leaves out patches of more than 3,000 lines or 1 MiB, and those past 2 MiB
// of a page.
const (
	maxFileLines = 1000 // of one file's patch; a longer one is collapsed
	maxAllLines  = 5000 // of a page; files after these are collapsed
	maxShown     = 20   // collapsed files that one address opens
	maxLine      = 5000 // bytes of a line
)

// Sides of a line, in the API's words: of the old file and of the new one.
const (
	Left  = "LEFT"
	Right = "RIGHT"
)

// Place is a line of a changed file. Path is the new one.
type Place struct {
	Path string
	Side string // Left or Right
	Line int64  // from 1; 0: the file as a whole
}

// Options are what a room adds. All of it may be missing.
type Options struct {
	Under  map[Place]any  // what stands below lines
	OfFile map[string]any // what stands around files, by path
	Extra  any            // for the room's templates
	Text   string         // the address of the whole diff as text; empty: none

	// Collapse reports files that are collapsed at first, such as those marked as viewed.
	Collapse func(f *page.ChangedFile) bool
}

// Slot is the place in a diff that a room's template fills.
type Slot struct {
	Place
	File  *File
	Value any
	Extra any
}

// View is changed files, as the template "diff" shows them.
type View struct {
	Files                []*File
	Split                bool
	Additions, Deletions int64
	Text                 string // see Options
	Unified, SideBySide  string // addresses of this page in both forms
	Extra                any
}

// File is one changed file.
type File struct {
	page.ChangedFile
	ID    string // SHA-256 of its path
	Why   string // why no lines are shown: large, generated, binary, collapsed, same (no line changed), or empty
	Href  string // shows a collapsed file; empty: the page cannot
	Rows  []Row  // unified
	Pairs []Pair // side by side
	Acts  *Slot  // around the file; nil: nothing
	Below []Slot // of lines that are not shown

	Split bool // as the view
}

// Row is a line of a unified diff, or the head of a hunk.
type Row struct {
	Kind     string // a: added, d: deleted, h: the head of a hunk, n: a note of git; empty: as before
	Old, New int64  // numbers; 0: none
	Text     Marked
	Under    []Slot
}

// Pair is a row of two lines side by side; Old or New has no number where there is none. A hunk's head is in Old.
type Pair struct{ Old, New Row }

// Marked is the text of a line, of which the middle changed.
type Marked struct{ Before, Middle, After string }

// Mode says how the file's mode changed: "100644 → 100755"; empty: it did not.
func (f *File) Mode() string {
	if f.Brief == nil || f.Status != "modified" && f.Status != "renamed" && f.Status != "changed" ||
		f.Brief.OldMode == f.Brief.Mode {
		return ""
	}
	return f.Brief.OldMode + " → " + f.Brief.Mode
}

// New makes the view of a request's changed files.
func New(r *http.Request, files []page.ChangedFile, o Options) *View {
	q := r.URL.Query()
	v := &View{Split: q.Get("diff") == "split", Text: o.Text, Extra: o.Extra,
		Unified: with(q, "diff", "unified"), SideBySide: with(q, "diff", "split")}
	wanted := q["show"]
	wanted = wanted[:min(len(wanted), maxShown)]
	left := maxAllLines
	for n := range files {
		sum := sha256.Sum256([]byte(files[n].Filename))
		f := &File{ChangedFile: files[n], ID: hex.EncodeToString(sum[:]), Split: v.Split}
		v.Additions, v.Deletions = v.Additions+f.Additions, v.Deletions+f.Deletions
		asked := slices.Contains(wanted, f.ID)
		f.Why = f.hidden(o, left)
		if f.Why != "" && f.Patch != nil {
			if asked {
				f.Why = ""
			} else {
				more := slices.Concat(wanted, []string{f.ID})
				f.Href = with(q, "show", more[max(0, len(more)-maxShown):]...) + "#diff-" + f.ID
			}
		}
		if f.Why == "" {
			left -= lines(*f.Patch)
			f.read()
		}
		f.place(o)
		v.Files = append(v.Files, f)
	}
	return v
}

// with is the address of the page with another value in its query.
func with(q url.Values, name string, values ...string) string {
	n := url.Values{}
	for key, list := range q {
		n[key] = list
	}
	n[name] = values
	return "?" + n.Encode()
}

// hidden says why a file's lines are not shown; left is how many lines the page may still show.
func (f *File) hidden(o Options, left int) string {
	switch {
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
	if n := lines(*f.Patch); n > maxFileLines || n > left {
		return "large"
	}
	return ""
}

// place puts what the room gave into the file and below its lines.
func (f *File) place(o Options) {
	if value, ok := o.OfFile[f.Filename]; ok {
		f.Acts = &Slot{Place: Place{Path: f.Filename}, File: f, Value: value, Extra: o.Extra}
	}
	if len(o.Under) == 0 {
		return
	}
	used := map[Place]bool{}
	take := func(row *Row, side string, line int64) {
		at := Place{f.Filename, side, line}
		if value, ok := o.Under[at]; ok && line > 0 && !used[at] {
			used[at] = true
			row.Under = append(row.Under, Slot{Place: at, File: f, Value: value, Extra: o.Extra})
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
		if at.Path == f.Filename && !used[at] {
			f.Below = append(f.Below, Slot{Place: at, File: f, Value: value, Extra: o.Extra})
		}
	}
	slices.SortFunc(f.Below, func(a, b Slot) int { return int(a.Line - b.Line) })
}
