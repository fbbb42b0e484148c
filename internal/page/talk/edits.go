package talk

import (
	"context"
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

// History says that a text was edited, and leads to its edits.
type History struct {
	By *page.User // who edited it last; nil: its author, or somebody who is gone
	To string
}

// Histories returns the histories of the texts that were edited, with one query for all. texts has their authors; act
// is the address below which the forms of their issue are, and here the page to come back to.
func (p *Pages) Histories(
	ctx context.Context, act, here string, texts map[revision.Text]*page.User,
) (map[revision.Text]*History, error) {
	found, err := p.Revisions.Last(ctx, slices.Collect(maps.Keys(texts)))
	list := map[revision.Text]*History{}
	for name, e := range found {
		h := &History{To: act + "/edits?" + subjectQuery(name) + "return_to=" + url.QueryEscape(here)}
		if by := texts[name]; e.Editor != nil && (by == nil || int64(e.Editor.ID) != by.ID) {
			h.By = page.NewUser(e.Editor)
		}
		list[name] = h
	}
	return list, err
}

// histories finds which of the boxes of a page were edited.
func (p *Pages) histories(r *http.Request, t *Thread) error {
	boxes, texts := map[revision.Text]*Box{}, map[revision.Text]*page.User{}
	add := func(kind revision.Kind, id int64, b *Box) {
		name := revision.Text{Kind: kind, ID: id}
		boxes[name], texts[name] = b, b.User
	}
	add(revision.OfIssue, t.Issue.ID, t.First)
	for _, e := range slices.Concat(t.Entries, t.Tail) {
		switch e.Event {
		case "commented":
			add(revision.OfComment, e.ID, e.Box)
		case "reviewed":
			add(revision.OfReview, e.ID, e.Box)
		}
	}
	found, err := p.Histories(r.Context(), t.Act, t.Here, texts)
	for name, h := range found {
		boxes[name].History = h
	}
	return err
}

// subjects are the parameters that name a text of a conversation, by its kind.
var subjects = [...]string{revision.OfComment: "comment", revision.OfReview: "review", revision.OfLine: "line"}

func subjectQuery(t revision.Text) string {
	if t.Kind == revision.OfIssue {
		return ""
	}
	return subjects[t.Kind] + "=" + strconv.FormatInt(t.ID, 10) + "&"
}

// edited is a text whose edits are shown.
type edited struct {
	revision.Text
	Body      string
	Author    account.ID
	CreatedAt db.Time
	Anchor    string
}

// edited finds the text that values name: of the issue, or one of its comments, reviews or review comments. Error: 404.
func (p *Pages) edited(r *http.Request, a *repo.Access, get func(name string) string) (*edited, error) {
	i, err := p.issue(r, a)
	if err != nil {
		return nil, err
	}
	for kind, name := range subjects {
		if name == "" || get(name) == "" {
			continue
		}
		id, ok := web.ParseNumber(get(name))
		if !ok {
			return nil, errs.Absent()
		}
		t := &edited{Text: revision.Text{Kind: revision.Kind(kind), ID: id}}
		number := int64(0)
		switch t.Kind {
		case revision.OfComment:
			c, err := p.Comments.ByID(r.Context(), a, id)
			if err != nil {
				return nil, err
			}
			number, t.Body, t.Author, t.CreatedAt, t.Anchor = c.Number, c.Body, c.AuthorID, c.CreatedAt, "issuecomment-"
		case revision.OfReview:
			v, err := p.Reviews.FindReview(r.Context(), a, i, id)
			if err != nil {
				return nil, err
			}
			number, t.Body, t.Author, t.CreatedAt, t.Anchor = i.Number, v.Body, v.AuthorID, v.SubmittedAt, "pullrequestreview-"
		default:
			c, err := p.Reviews.FindComment(r.Context(), a, id)
			if err != nil {
				return nil, err
			}
			number, t.Body, t.Author, t.CreatedAt, t.Anchor = c.Number, c.Body, c.AuthorID, c.CreatedAt, "discussion_r"
		}
		if number != i.Number {
			return nil, errs.Absent()
		}
		t.Anchor += get(name)
		return t, nil
	}
	return &edited{Text: revision.Text{Kind: revision.OfIssue, ID: int64(i.ID)}, Body: page.TextOf(i.Body),
		Author: i.AuthorID, CreatedAt: i.CreatedAt, Anchor: "issue-" + strconv.FormatInt(int64(i.ID), 10)}, nil
}

// editsView is the edits of a text, and one of them.
type editsView struct {
	target
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

// GET /{owner}/{repo}/issues/{number}/edits
//
// Edits shows who edited the text of the issue or pull request, or of ?comment=, ?review= or ?line= (a review
// comment), and what ?edit= changed. Error: 404.
func (p *Pages) Edits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	q := web.QueryOf(r)
	of, err := p.edited(r, a, q.Get)
	if err != nil {
		return err
	}
	v := &editsView{Written: page.Moment(of.CreatedAt)}
	if v.target, err = p.target(r, a, "Edit history"); err != nil {
		return err
	}
	found, err := p.Revisions.List(r.Context(), map[revision.Text]*repo.Access{of.Text: a}, false)
	if err != nil {
		return err
	}
	for _, e := range found[of.Text] {
		to := url.Values{"edit": {strconv.FormatInt(e.ID, 10)}, "return_to": {v.Return}}
		if name := subjects[of.Kind]; name != "" {
			to.Set(name, strconv.FormatInt(of.ID, 10))
		}
		v.Began = e.N == 1
		v.Edits = append(v.Edits, editLine{By: page.NewUser(e.Editor), When: page.Moment(e.At),
			To: v.Act + "/edits?" + to.Encode(), On: q.Get("edit") == to.Get("edit"), Deleted: e.DeletedBy != 0})
	}
	if at := slices.IndexFunc(v.Edits, func(l editLine) bool { return l.On }); at >= 0 {
		v.Shown = &v.Edits[at]
		if err := p.showEdit(r, a, v, of, q.Get("edit")); err != nil {
			return err
		}
	}
	return p.t.Page(w, r, "edits.html", v)
}

// showEdit shows what an edit changed.
func (p *Pages) showEdit(r *http.Request, a *repo.Access, v *editsView, of *edited, asked string) error {
	id, ok := web.ParseNumber(asked)
	if !ok {
		return errs.Absent()
	}
	e, after, err := p.Revisions.Get(r.Context(), a, of.Text, id, of.Body)
	if err != nil {
		return err
	}
	v.Deleter = page.NewUser(e.Deleter)
	v.May = e.Was != nil && v.Repo.CanWrite() && (v.Repo.CanTriage() || a.Caller.ID == of.Author)
	v.Fields = map[string]string{"edit": asked, "return_to": v.Return}
	if name := subjects[of.Kind]; name != "" {
		v.Fields[name] = strconv.FormatInt(of.ID, 10)
	}
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

// POST /{owner}/{repo}/issues/{number}/edits
//
// DeleteEdit deletes the text before an edit from the history. Errors: 403, 404.
func (p *Pages) DeleteEdit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	ctx, err := p.kit.Delete(r, a, account.Pull)
	if err != nil {
		return err
	}
	of, err := p.edited(r, a, f.Get)
	if err != nil {
		return err
	}
	id, ok := web.ParseNumber(f.Get("edit"))
	if !ok {
		return errs.Absent()
	}
	if err := p.Revisions.Delete(ctx, a, of.Text, id, a.Caller.ID == of.Author); err != nil {
		return err
	}
	return back(w, r, a, f, of.Anchor)
}
