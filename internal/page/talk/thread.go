package talk

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issue/timeline"
	"arbor/internal/page"
	"arbor/internal/star"
	"arbor/internal/web"
)

// Thread is the conversation of an issue or pull request, as its page shows it to the viewer.
type Thread struct {
	Issue  *page.Issue
	Repo   *page.Head
	Viewer *page.Viewer
	Here   string // the page's path and query, which forms come back to
	Act    string // the address below which the forms are

	First   *Box     // what its author wrote
	Entries []*Entry // from the beginning, or of the one part that was asked for
	Gap     *Gap     // entries hidden between Entries and Tail; nil: none
	Tail    []*Entry // to the end
	Part    int64    // the part that was asked for (?page=2); 0: the beginning and the end
	Pages   page.Pager

	Linked     []*page.Issue // issues that a pull request closes, or pull requests that close an issue
	People     []page.User   // participants of the entries
	Subscribed bool
	Pinned     bool
	Draft      string // what the form for a comment begins with
	Mark       string // up to which change the page has the issue, see package live

	MayEdit    bool // the title and the text
	MayClose   bool // or open again
	MaySort    bool // labels, assignees, milestone
	MayWrite   bool // edit what others wrote, lock, pin, move
	MayComment bool
	MayDelete  bool
}

// Gap is entries that are left out.
type Gap struct {
	Next, Last int64 // the parts that are left out, from Next to before Last
	Count      int64 // of entries, about
}

// Noun returns the kind of the conversation as a word.
func (t *Thread) Noun() string {
	if t.Issue.IsPull() {
		return "pull request"
	}
	return "issue"
}

// Read returns the conversation of an issue or pull request: the first and last entries of its timeline, or
// the part in the request. f is the page's frame. Errors: 404, 410, 422.
func (p *Pages) Read(r *http.Request, f *page.Frame, i *page.Issue) (*Thread, error) {
	a := f.Repo.Access
	t := &Thread{Issue: i, Repo: f.Repo, Viewer: f.Viewer, Here: f.Here,
		Act: web.Path(a.Owner.Login, a.Name, "issues", strconv.FormatInt(i.Number, 10))}
	mine := f.Viewer != nil && i.User != nil && i.User.ID == f.Viewer.ID
	open := f.Repo.CanWrite()
	t.MaySort = f.Repo.CanTriage()
	t.MayWrite = f.Repo.CanPush()
	t.MayEdit = open && mine || t.MayWrite
	t.MayClose = open && mine || t.MaySort
	t.MayComment = t.MayWrite || open && !i.Locked
	t.MayDelete = f.Repo.CanAdmin() && !i.IsPull()
	t.First = t.box(firstOf(i), "issue-"+strconv.FormatInt(i.ID, 10), 0)
	if err := p.entries(r, t); err != nil {
		return nil, err
	}
	t.gather()
	if err := p.histories(r, t); err != nil {
		return nil, err
	}
	if f.Viewer == nil {
		return t, nil
	}
	if err := p.mark(r, t); err != nil {
		return nil, err
	}
	return t, p.own(r, t)
}

// Link reads what the issue or pull request closes, or is closed by.
func (p *Pages) Link(r *http.Request, t *Thread, i *issue.Issue) error {
	list, err := p.Pulls.Linked(r.Context(), t.Repo.Access, i)
	for _, v := range list {
		t.Linked = append(t.Linked, page.NewIssue(v))
	}
	return err
}

// entries reads the timeline.
func (p *Pages) entries(r *http.Request, t *Thread) error {
	a := t.Repo.Access
	if web.QueryOf(r).Get("page") != "" {
		t.Part = web.ReadPage(r).Number
		list, more, err := p.Timelines.Part(r.Context(), a, t.Issue.Number,
			web.Page{Number: t.Part, Size: timeline.PartSize})
		t.Entries, t.Pages = gathered(t.show(list)), page.PagesOf(r, more)
		return err
	}
	ends, err := p.Timelines.Ends(r.Context(), a, t.Issue.Number)
	if err != nil {
		return err
	}
	first, last := t.show(ends.First), t.show(ends.Last)
	if ends.Next == 0 {
		t.Entries = gathered(append(first, last...))
		return nil
	}
	t.Entries, t.Tail = gathered(first), gathered(last)
	t.Gap = &Gap{Next: ends.Next, Last: ends.Until, Count: (ends.Until - ends.Next) * timeline.PartSize}
	return nil
}

// show returns what pages show of entries.
func (t *Thread) show(list []*timeline.Entry) []*Entry {
	entries := make([]*Entry, len(list))
	for n, e := range list {
		entries[n] = newEntry(e, t.Repo.Path)
		t.prepare(entries[n])
	}
	return entries
}

// mark finds the viewer's own among the reactions that are shown.
func (p *Pages) mark(r *http.Request, t *Thread) error {
	boxes := map[int64]*Box{}
	var ids []int64
	add := func(b *Box) {
		if b != nil && len(b.Counts()) > 0 {
			boxes[b.Number] = b
			if b.Number != 0 {
				ids = append(ids, b.Number)
			}
		}
	}
	add(t.First)
	for _, e := range slices.Concat(t.Entries, t.Tail) {
		if e.Event == "commented" {
			add(e.Box)
		}
	}
	if len(boxes) == 0 {
		return nil
	}
	own, err := p.Comments.OwnReactions(r.Context(), t.Repo.Access, issue.ID(t.Issue.ID), ids)
	for id, contents := range own {
		for _, c := range contents {
			if b := boxes[id]; b != nil {
				b.Own = append(b.Own, c.String())
			}
		}
	}
	return err
}

// firstOf is an issue's own text in the form of a comment.
func firstOf(i *page.Issue) page.Comment {
	return page.Comment{ID: i.ID, User: i.User, Text: i.Text, Body: i.Body,
		Association: i.Association, Reactions: i.Reactions, CreatedAt: i.CreatedAt, UpdatedAt: i.CreatedAt}
}

// Weave puts entries of the room between the others, in the order of time; those that fall into the gap are
// left out.
func (t *Thread) Weave(more ...*Entry) {
	if t.Part > 0 {
		return
	}
	for _, e := range more {
		switch {
		case t.Gap == nil, len(t.Entries) > 0 && !e.When().After(t.Entries[len(t.Entries)-1].When()):
			t.Entries = append(t.Entries, e)
		case len(t.Tail) > 0 && !e.When().Before(t.Tail[0].When()):
			t.Tail = append(t.Tail, e)
		}
	}
	byTime := func(a, b *Entry) int { return a.When().Compare(b.When()) }
	slices.SortStableFunc(t.Entries, byTime)
	slices.SortStableFunc(t.Tail, byTime)
}

// maxPeople is how many participants a page names.
const maxPeople = 30

// gather collects the participants of the conversation.
func (t *Thread) gather() {
	seen := map[int64]bool{}
	add := func(u *page.User) {
		if u != nil && !seen[u.ID] && len(t.People) < maxPeople {
			seen[u.ID] = true
			t.People = append(t.People, *u)
		}
	}
	add(t.Issue.User)
	for n := range t.Issue.Assignees {
		add(&t.Issue.Assignees[n])
	}
	for _, e := range slices.Concat(t.Entries, t.Tail) {
		if e.Event == "commented" || e.Event == "reviewed" {
			add(e.User)
		}
	}
}

// own reads what is the viewer's: the subscription, and what a new comment begins with.
func (p *Pages) own(r *http.Request, t *Thread) error {
	a := t.Repo.Access
	if a.Caller.Allows(star.WatchScopes, false) == nil {
		s, err := p.Subscriptions.Get(r.Context(), a, t.Issue.Number)
		if err != nil {
			return err
		}
		t.Subscribed = s.Subscribed && !s.Ignored
	}
	quote := web.QueryOf(r).Get("quote")
	if quote == "" {
		return nil
	}
	text := t.Issue.Text
	if quote != "0" {
		id, ok := web.ParseNumber(quote)
		if !ok {
			return nil
		}
		c, err := p.Comments.ByID(r.Context(), a, id)
		if errs.Is(err, errs.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		text = c.Body
	}
	t.Draft = quoted(text)
	return nil
}

const maxQuoted = 16 << 10 // bytes

// quoted is a text as Markdown quotes it.
func quoted(text string) string {
	text = strings.TrimRight(page.Clip(text, maxQuoted).Text, "\n")
	if text == "" {
		return ""
	}
	return "> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n\n"
}
