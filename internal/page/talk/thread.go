package talk

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// partSize is how many entries of a timeline are read at one time; a page shows the first part and the last ones.
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

// Read reads the conversation of an issue or pull request. The frame is the page's. Errors: those of the API.
func Read(kit *page.Kit, r *http.Request, f *page.Frame, i *page.Issue) (*Thread, error) {
	a := f.Repo.Access
	t := &Thread{Issue: i, Repo: f.Repo, Viewer: f.Viewer, Here: f.Here, Act: web.Path(a.Owner.Login, a.Name, "issues", strconv.FormatInt(i.Number, 10))}
	mine := f.Viewer != nil && i.User != nil && i.User.ID == f.Viewer.ID
	open := f.Repo.CanWrite()
	t.MaySort = f.Repo.CanTriage()
	t.MayEdit = open && mine || t.MaySort
	t.MayComment = t.MaySort || open && !i.Locked
	t.MayDelete = f.Repo.CanAdmin() && !i.IsPull()
	t.First = t.box(firstOf(i), "issue-"+strconv.FormatInt(i.ID, 10), 0)
	if err := t.read(kit, r); err != nil {
		return nil, err
	}
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
	q := inside.Request{Path: t.api(), Query: page.Query("comments", strings.Join(ids, ",")), Handler: kit.OwnReactions}
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
	return page.Comment{ID: i.ID, NodeID: i.NodeID, User: i.User, Text: i.Text, Body: i.Body, Association: i.Association,
		HTMLURL: i.HTMLURL, Reactions: i.Reactions, CreatedAt: i.CreatedAt, UpdatedAt: i.CreatedAt}
}

// api is the address of the issue in the API.
func (t *Thread) api(more ...string) string { return "/repos" + t.Act + web.Path(more...) }

// read reads the part of the timeline that the request asks for, or its beginning and its end.
func (t *Thread) read(kit *page.Kit, r *http.Request) error {
	if web.QueryOf(r).Get("page") != "" {
		t.Part = web.ReadPage(r).Number
		last, err := t.part(kit, r, t.Part, &t.Entries)
		t.Pages = page.PagesOf(r, last > t.Part)
		return err
	}
	last, err := t.part(kit, r, 1, &t.Entries)
	if err != nil || last <= 1 {
		return err
	}
	if _, err := t.part(kit, r, last, &t.Tail); err != nil {
		return err
	}
	if first := last - 1; first > 1 && len(t.Tail) < partSize/2 { // a short end alone would show too little
		var before []*Entry
		if _, err := t.part(kit, r, first, &before); err != nil {
			return err
		}
		t.Tail, last = append(before, t.Tail...), first
	}
	if last > 2 {
		t.Gap = &Gap{Next: 2, Last: last, Count: (last - 2) * partSize}
		return nil
	}
	t.Entries, t.Tail = append(t.Entries, t.Tail...), nil
	return nil
}

// part reads a part of the timeline. last is the number of the last one, at least number.
func (t *Thread) part(kit *page.Kit, r *http.Request, number int64, into *[]*Entry) (last int64, err error) {
	q := page.Query("page", strconv.FormatInt(number, 10), "per_page", strconv.Itoa(partSize))
	answer, err := kit.Send(r, inside.Request{Path: t.api("timeline"), Query: q})
	if err != nil {
		return 0, err
	}
	if err := json.Unmarshal(answer.Body.Bytes(), into); err != nil {
		return 0, err
	}
	for _, e := range *into {
		t.prepare(e)
	}
	*into = gathered(*into)
	return max(number, lastPage(answer.Header().Get("Link"))), nil
}

// lastPage is the number in a Link header's rel="last"; 0: there is none.
func lastPage(link string) int64 {
	for one := range strings.SplitSeq(link, ",") {
		address, rel, _ := strings.Cut(one, ";")
		if !strings.Contains(rel, `rel="last"`) {
			continue
		}
		u, err := url.Parse(strings.Trim(strings.TrimSpace(address), "<>"))
		if err != nil {
			return 0
		}
		n, _ := strconv.ParseInt(u.Query().Get("page"), 10, 64)
		return n
	}
	return 0
}

// Weave puts entries of the room between the others, in the order of time; those that fall into the gap are left out.
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
