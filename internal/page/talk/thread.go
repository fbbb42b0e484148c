package talk

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// partSize is how many entries a part of a timeline has, as in package timeline; a page shows the first part
// and the last.
const partSize = 50

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

	People     []page.User // who has a part in what is shown
	Subscribed bool
	Pinned     bool
	Draft      string // what the form for a comment begins with

	MayEdit    bool // the title and the text
	MaySort    bool // labels, assignees, milestone, lock, pin
	MayComment bool
	MayDelete  bool
}

// Gap is entries that are left out.
type Gap struct {
	Next, Last int64 // the parts that are left out, from Next to before Last
	Count      int64 // of entries, about
}

// Noun is what the conversation is about, in words.
func (t *Thread) Noun() string {
	if t.Issue.IsPull() {
		return "pull request"
	}
	return "issue"
}

// Read makes the conversation of an issue or pull request of what Ask has given. The frame is the page's.
// Errors: those of the API.
func Read(kit *page.Kit, r *http.Request, f *page.Frame, i *page.Issue, said *Said) (*Thread, error) {
	a := f.Repo.Access
	t := &Thread{Issue: i, Repo: f.Repo, Viewer: f.Viewer, Here: f.Here,
		Act: web.Path(a.Owner.Login, a.Name, "issues", strconv.FormatInt(i.Number, 10))}
	mine := f.Viewer != nil && i.User != nil && i.User.ID == f.Viewer.ID
	open := f.Repo.CanWrite()
	t.MaySort = f.Repo.CanTriage()
	t.MayEdit = open && mine || t.MaySort
	t.MayComment = t.MaySort || open && !i.Locked
	t.MayDelete = f.Repo.CanAdmin() && !i.IsPull()
	t.First = t.box(firstOf(i), "issue-"+strconv.FormatInt(i.ID, 10), 0)
	t.take(r, said)
	t.gather()
	if f.Viewer == nil {
		return t, nil
	}
	if err := t.mark(kit, r); err != nil {
		return nil, err
	}
	return t, t.own(kit, r)
}

// mark finds the viewer's own among the reactions that are shown.
func (t *Thread) mark(kit *page.Kit, r *http.Request) error {
	boxes := map[string]*Box{}
	var ids []string
	add := func(b *Box) {
		if b != nil && len(b.Counts()) > 0 {
			ids = append(ids, strconv.FormatInt(b.Number, 10))
			boxes[ids[len(ids)-1]] = b
		}
	}
	add(t.First)
	for _, e := range slices.Concat(t.Entries, t.Tail) {
		if e.Event == "commented" {
			add(e.Box)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	own := map[string][]string{}
	q := inside.Request{Path: t.api(), Query: page.Query("comments", strings.Join(ids, ",")),
		Handler: kit.OwnReactions}
	if _, err := kit.Read(r, q, &own); err != nil {
		return err
	}
	for id, contents := range own {
		if b := boxes[id]; b != nil {
			b.Own = contents
		}
	}
	return nil
}

// firstOf is an issue's own text in the form of a comment.
func firstOf(i *page.Issue) page.Comment {
	return page.Comment{ID: i.ID, NodeID: i.NodeID, User: i.User, Text: i.Text, Body: i.Body,
		Association: i.Association,
		HTMLURL:     i.HTMLURL, Reactions: i.Reactions, CreatedAt: i.CreatedAt, UpdatedAt: i.CreatedAt}
}

// api is the address of the issue in the API.
func (t *Thread) api(more ...string) string { return "/repos" + t.Act + web.Path(more...) }

// Said is the timeline of a conversation, or a part of it, as the API gives it.
type Said struct {
	part        int64 // that was asked for; 0: the beginning and the end
	first, last []*Entry
	next, until int64 // the parts that are left out; 0: none
	more        bool  // there are later parts
}

// Ask asks for the timeline of the issue or pull request of a number, or for the part of it that the request
// names. A page asks for this first: its people are read with it, at once. Where it fails the page says first
// what is wrong with the issue, which may have moved. Errors: 404, 410.
func Ask(kit *page.Kit, r *http.Request, a *repo.Access, number string) (*Said, error) {
	q := inside.Request{Path: web.Path("repos", a.Owner.Login, a.Name, "issues", number, "timeline")}
	if web.QueryOf(r).Get("page") == "" {
		var ends struct {
			First, Last []*Entry
			Next, Until int64
		}
		q.Handler = kit.TimelineEnds
		_, err := kit.Read(r, q, &ends)
		return &Said{first: ends.First, last: ends.Last, next: ends.Next, until: ends.Until}, err
	}
	s := &Said{part: web.ReadPage(r).Number}
	q.Query = page.Query("page", strconv.FormatInt(s.part, 10), "per_page", strconv.Itoa(partSize))
	more, err := kit.Read(r, q, &s.first)
	s.more = more
	return s, err
}

// take puts what was said into the thread.
func (t *Thread) take(r *http.Request, s *Said) {
	for _, e := range slices.Concat(s.first, s.last) {
		t.prepare(e)
	}
	if t.Part = s.part; t.Part > 0 {
		t.Pages = page.PagesOf(r, s.more)
	}
	if s.next == 0 {
		t.Entries = gathered(slices.Concat(s.first, s.last))
		return
	}
	t.Entries, t.Tail = gathered(s.first), gathered(s.last)
	t.Gap = &Gap{Next: s.next, Last: s.until, Count: (s.until - s.next) * partSize}
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

// gather finds who has a part in the conversation.
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
func (t *Thread) own(kit *page.Kit, r *http.Request) error {
	var s struct{ Subscribed, Ignored bool }
	_, err := kit.Get(r, t.api("subscription"), nil, &s)
	if err != nil && !errs.Is(err, errs.NotFound) && !errs.Is(err, errs.Forbidden) {
		return err
	}
	t.Subscribed = s.Subscribed && !s.Ignored
	id := web.QueryOf(r).Get("quote")
	if id == "" {
		return nil
	}
	said := t.Issue.Text
	if id != "0" {
		var c page.Comment
		_, err := kit.Get(r, "/repos"+t.Repo.Path+"/issues/comments"+web.Path(id), nil, &c)
		if errs.Is(err, errs.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		said = c.Text
	}
	t.Draft = quoted(said)
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

// issueOf reads an issue of the page's repository.
func issueOf(kit *page.Kit, r *http.Request, a *repo.Access, number string) (*page.Issue, error) {
	i := &page.Issue{}
	_, err := kit.Get(r, web.Path("repos", a.Owner.Login, a.Name, "issues", number), nil, i)
	return i, err
}
