package talk

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue/revision"
	"arbor/internal/page"
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

// edited finds the text that values name: of the issue, or one of its comments, reviews or review comments. Error: 404.
func (p *Pages) edited(r *http.Request, a *repo.Access, get func(name string) string) (*EditedText, error) {
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
		t := &EditedText{Text: revision.Text{Kind: revision.Kind(kind), ID: id}}
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
	return &EditedText{Text: revision.Text{Kind: revision.OfIssue, ID: int64(i.ID)}, Body: page.TextOf(i.Body),
		Author: i.AuthorID, CreatedAt: i.CreatedAt, Anchor: "issue-" + strconv.FormatInt(int64(i.ID), 10)}, nil
}

// editsView is what edits.html shows.
type editsView struct {
	target
	History *TextHistory
}

// GET /{owner}/{repo}/issues/{number}/edits
//
// Edits shows who edited the text of the issue or pull request, or of ?comment=, ?review= or ?line= (a review
// comment), and what ?edit= changed. Error: 404.
func (p *Pages) Edits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	of, err := p.edited(r, a, web.QueryOf(r).Get)
	if err != nil {
		return err
	}
	v := &editsView{}
	if v.target, err = p.target(r, a, "Edit history"); err != nil {
		return err
	}
	fields := map[string]string{"return_to": v.Return}
	if name := subjects[of.Kind]; name != "" {
		fields[name] = strconv.FormatInt(of.ID, 10)
	}
	v.History, err = ReadHistory(r, a, p.Revisions, of, v.Act+"/edits", fields)
	return p.t.Show(w, r, "edits.html", v, err)
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
