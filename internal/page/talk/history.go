package talk

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue/revision"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// EditedText is a text whose edits are shown.
type EditedText struct {
	revision.Text
	Body      string
	Author    account.ID
	CreatedAt db.Time
	Anchor    string
}

// TextHistory is what the part "edit-history" shows: the edits of a text, and one of them.
type TextHistory struct {
	Path    string     // where the form that deletes a former text is sent
	Edits   []editLine // the newest first
	Began   bool       // the first edit is among them
	Written time.Time  // when the text was first written

	Shown   *editLine    // the edit that is shown; nil: none
	Files   []*diff.File // what it changed
	Hidden  string       // why that is not shown
	Deleter *page.User   // who deleted the text before it
	Fields  map[string]string
	May     bool // the viewer may delete the text before it
}

// editLine is an edit in the list.
type editLine struct {
	By      *page.User // nil: gone
	When    time.Time
	To      string // the address of its page
	On      bool   // it is shown
	Deleted bool   // the text before it was deleted
}

// ReadHistory reads the edits of a text for the page at path, and what the query's ?edit= changed. fields name the text
// in addresses and forms of that page. Error: 404.
func ReadHistory(
	r *http.Request, a *repo.Access, revisions *revision.Service, of *EditedText, path string, fields map[string]string,
) (*TextHistory, error) {
	found, err := revisions.List(r.Context(), map[revision.Text]*repo.Access{of.Text: a}, false)
	if err != nil {
		return nil, err
	}
	asked := web.QueryOf(r).Get("edit")
	v := &TextHistory{Path: path, Written: page.Moment(of.CreatedAt), Fields: map[string]string{"edit": asked}}
	maps.Copy(v.Fields, fields)
	for _, e := range found[of.Text] {
		to := url.Values{"edit": {strconv.FormatInt(e.ID, 10)}}
		for name, value := range fields {
			to.Set(name, value)
		}
		v.Began = e.N == 1
		v.Edits = append(v.Edits, editLine{By: page.NewUser(e.Editor), When: page.Moment(e.At),
			To: path + "?" + to.Encode(), On: asked == to.Get("edit"), Deleted: e.DeletedBy != 0})
	}
	at := slices.IndexFunc(v.Edits, func(l editLine) bool { return l.On })
	if at < 0 {
		return v, nil
	}
	v.Shown = &v.Edits[at]
	return v, v.show(r, a, revisions, of, asked)
}

// show shows what an edit changed.
func (v *TextHistory) show(
	r *http.Request, a *repo.Access, revisions *revision.Service, of *EditedText, asked string,
) error {
	id, ok := web.ParseNumber(asked)
	if !ok {
		return errs.Absent()
	}
	e, after, err := revisions.Get(r.Context(), a, of.Text, id, of.Body)
	if err != nil {
		return err
	}
	v.Deleter = page.NewUser(e.Deleter)
	v.May = e.Was != nil && a.Caller != nil && !a.Archived && (a.Role >= account.Push || a.Caller.ID == of.Author)
	switch {
	case e.DeletedBy != 0:
		v.Hidden = "The text before this edit was deleted."
	case e.Was == nil && e.ShownTo(a):
		v.Hidden = "The text before this edit was not kept: its editor had no room for more texts."
	case e.Was == nil:
		v.Hidden = "The text before this edit was written while the repository was private. " +
			"Only people with push access see it."
	case after == nil:
		v.Hidden = "The text after this edit was deleted, or is not shown to you."
	default:
		f := page.ChangedFile{Filename: "text", Status: "modified"}
		diff.Between(&f, *e.Was, *after)
		v.Files = diff.New(r, []page.ChangedFile{f}, diff.Options{}).Files
	}
	return nil
}
