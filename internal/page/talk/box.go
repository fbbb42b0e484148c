package talk

import (
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/page"
)

// Box is a text in a conversation, with its author and the actions on it.
type Box struct {
	page.Comment
	Thread  *Thread
	Anchor  string // its id in the page, as html_url has it
	Number  int64  // its id among comments; 0: the text of the issue itself
	Edit    string // the address of the form that edits it; empty: the viewer may not
	Delete  string // the address that deletes it; empty: the viewer may not
	Hide    string // the address of the form that hides it or shows it again; empty: the viewer may not
	Edited  bool
	History *History      // nil: nobody knows of edits
	Own     []string      // how the viewer reacted, as the API names it
	Guard   string        // names the text as it is, for changes of it; empty: no tasks to tick
	Shown   template.HTML // its body, with tasks that can be ticked
}

// Badges returns the author's roles: Author, Owner, Member, Collaborator, Contributor.
func (b *Box) Badges() (list []string) {
	if by := b.Thread.Issue.User; by != nil && b.User != nil && by.ID == b.User.ID && b.Number != 0 {
		list = append(list, "Author")
	}
	switch b.Association {
	case "OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR":
		list = append(list, b.Association[:1]+strings.ToLower(b.Association[1:]))
	}
	return list
}

// Count is how many reacted in one way.
type Count struct {
	Content string // as the API names it
	Emoji   string
	Name    string
	N       int64
	Mine    bool // the viewer is one of them
}

// Contents are the ways to react, in GitHub's order.
func Contents(r page.Reactions) []Count {
	return []Count{
		{Content: "+1", Emoji: "👍", Name: "thumbs up", N: r.PlusOne},
		{Content: "-1", Emoji: "👎", Name: "thumbs down", N: r.MinusOne},
		{Content: "laugh", Emoji: "😄", Name: "laugh", N: r.Laugh},
		{Content: "hooray", Emoji: "🎉", Name: "hooray", N: r.Hooray},
		{Content: "confused", Emoji: "😕", Name: "confused", N: r.Confused},
		{Content: "heart", Emoji: "❤️", Name: "heart", N: r.Heart},
		{Content: "rocket", Emoji: "🚀", Name: "rocket", N: r.Rocket},
		{Content: "eyes", Emoji: "👀", Name: "eyes", N: r.Eyes},
	}
}

// Counts are the reactions that there are.
func (b *Box) Counts() (list []Count) {
	for _, c := range Contents(b.Reactions) {
		if c.N > 0 {
			c.Mine = slices.Contains(b.Own, c.Content)
			list = append(list, c)
		}
	}
	return list
}

// box returns the box of a text. comment is the comment's id, or 0 for the text of the issue.
func (t *Thread) box(c page.Comment, anchor string, comment int64) *Box {
	b := &Box{Comment: c, Thread: t, Anchor: anchor, Number: comment, Shown: c.Body}
	mine := t.Viewer != nil && c.User != nil && c.User.ID == t.Viewer.ID
	may, back := t.MayWrite || mine && t.MayComment, "return_to="+url.QueryEscape(t.Here)
	if comment == 0 {
		may = t.MayEdit
		b.Edit = t.Act + "/edit?only=body&" + back
	} else {
		path := t.Act + "/comments/" + strconv.FormatInt(comment, 10)
		b.Edit, b.Delete = path+"?"+back, path+"/delete"
		b.Edited = c.UpdatedAt.After(c.CreatedAt)
		if t.MaySort || mine && t.MayComment && c.Hidden == "" {
			b.Hide = path + "/hide?" + back
		}
	}
	if !may {
		b.Edit, b.Delete = "", ""
		return b
	}
	if shown, ok := withTasks(c.Text, c.Body, b.Form()); ok {
		b.Shown, b.Guard = shown, guardOf(c.Text)
	}
	return b
}

// Form is the id of the form that ticks the box's tasks.
func (b *Box) Form() string { return "tasks-" + b.Anchor }

// prepare sets what pages show of an entry.
func (t *Thread) prepare(e *Entry) {
	id := strconv.FormatInt(e.ID, 10)
	switch e.Event {
	case "commented":
		e.Box = t.box(e.Comment, "issuecomment-"+id, e.ID)
	case "reviewed":
		e.Box = t.box(e.Comment, "pullrequestreview-"+id, e.ID)
		// a review has forms of its own
		e.Box.Edit, e.Box.Delete, e.Box.Hide, e.Box.Guard, e.Box.Shown = "", "", "", "", e.Body
	}
}
