package pull

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"arbor/internal/issue/revision"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/page/talk"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// thread is comments on the same lines, one after the other.
type thread struct {
	*scene
	ID       int64 // of its first comment, also if that was deleted
	Path     string
	Lines    string // "line 3", "lines 3 to 5"
	Place    diff.Position
	Outdated bool
	Pending  bool // nobody else sees it yet
	By       string
	Resolved bool
	Rows     []diff.Row // the lines that it is about
	Comments []*said
}

// said is one comment of a thread.
type said struct {
	*lineComment
	Thread  *thread
	Parts   []part
	History *talk.History // nil: nobody knows of edits
}

// Last is the newest comment.
func (t *thread) Last() *said { return t.Comments[len(t.Comments)-1] }

// Href is the address of the thread among the changed files, or empty where it does not stand there.
func (t *thread) Href() string {
	if t.Outdated {
		return ""
	}
	return t.Act + "/files#discussion_r" + strconv.FormatInt(t.Comments[0].ID, 10)
}

// Mine reports that the viewer may change the comment.
func (c *said) Mine() bool {
	s := c.Thread.scene
	return s.MayComment && (s.MayMerge || c.User != nil && s.Viewer != nil && c.User.ID == s.Viewer.ID)
}

// Edited reports that the text was changed.
func (c *said) Edited() bool { return !c.Lone() && c.UpdatedAt.After(c.CreatedAt) }

// Lone reports a comment of a pending review.
func (c *said) Lone() bool { return c.lineComment.Pending }

// Talk is what the part "talk-reactions" needs.
func (c *said) Talk() *talk.Thread {
	s := c.Thread.scene
	return &talk.Thread{Act: s.Issue(), Here: s.Here, MayComment: s.MayComment && !c.lineComment.Pending}
}

// Counts are the reactions that there are.
func (c *said) Counts() []talk.Count { return (&talk.Box{Comment: c.Comment}).Counts() }

// maxContext is how many lines of a hunk a thread shows above its own.
const maxContext = 4

// threads reads the review comments of a pull request, with those of the viewer's pending review, as threads
// in the order of their beginnings. more says that there are more than a page shows.
func (p *Pages) threads(
	ctx context.Context, a *repo.Access, s *scene,
) (list []*thread, more bool, err error) {
	var all []*review.CommentView
	if s.Pull.ReviewComments > 0 {
		if all, more, err = p.talk.Reviews.Comments(ctx, a, s.of.Issue.Issue); err != nil {
			return nil, false, err
		}
	}
	if s.Progress.PendingComments > 0 {
		mine, rest, err := p.talk.Reviews.CommentsOf(ctx, a, s.of.Issue.Issue, s.Progress.Pending)
		if err = orEmpty(err); err != nil {
			return nil, false, err
		}
		all, more = append(all, mine...), more || rest
	}
	list = s.gather(newLineComments(all))
	return list, more, p.histories(ctx, s, list)
}

// histories finds which comments were edited.
func (p *Pages) histories(ctx context.Context, s *scene, list []*thread) error {
	texts := map[revision.Text]*page.User{}
	for _, t := range list {
		for _, c := range t.Comments {
			texts[revision.Text{Kind: revision.OfLine, ID: c.ID}] = c.User
		}
	}
	if len(texts) == 0 {
		return nil
	}
	found, err := p.talk.Histories(ctx, s.Issue(), s.Here, texts)
	for _, t := range list {
		for _, c := range t.Comments {
			c.History = found[revision.Text{Kind: revision.OfLine, ID: c.ID}]
		}
	}
	return err
}

// gather returns the threads of comments.
func (s *scene) gather(all []*lineComment) (list []*thread) {
	slices.SortStableFunc(all, func(a, b *lineComment) int { return cmp.Compare(a.ID, b.ID) })
	by := map[int64]*thread{}
	for _, c := range all {
		id := cmp.Or(c.ReplyTo, c.ID)
		t := by[id]
		if t == nil {
			t = s.thread(id, c)
			by[id] = t
			list = append(list, t)
		}
		of := &said{lineComment: c, Thread: t}
		of.Parts = t.split(c)
		t.Comments = append(t.Comments, of)
		t.Pending = t.Pending && c.Pending
	}
	return list
}

func (s *scene) thread(id int64, c *lineComment) *thread {
	t := &thread{scene: s, ID: id, Path: c.Path, Outdated: c.Outdated, Pending: true}
	t.By, t.Resolved = s.Progress.Resolved[id], s.Progress.Resolved[id] != ""
	line, start := c.Line, c.Start
	if t.Outdated || line == 0 {
		line, start = c.OriginalLine, c.OriginalStart
	}
	switch {
	case c.Whole || line == 0:
		t.Place = diff.Position{Path: c.Path, Side: diff.Right}
	default:
		t.Place = diff.Position{Path: c.Path, Side: c.Side, Line: line}
		t.Lines = "line " + strconv.FormatInt(line, 10)
		if start > 0 && start != line {
			t.Lines = "lines " + strconv.FormatInt(start, 10) + " to " + strconv.FormatInt(line, 10)
		}
		t.Rows = hunk(c)
	}
	return t
}

// hunk is the lines that a comment is about, and some above them: unified, regardless of how the page shows
// files.
func hunk(c *lineComment) []diff.Row {
	if c.Hunk == "" {
		return nil
	}
	rows := diff.New(&http.Request{URL: &url.URL{}},
		[]page.ChangedFile{{Filename: "hunk", Status: "modified", Patch: &c.Hunk}},
		diff.Options{}).Files[0].Rows
	want := maxContext
	if c.OriginalStart > 0 {
		want = max(want, int(min(c.OriginalLine-c.OriginalStart+1, 20)))
	}
	return rows[max(0, len(rows)-want):]
}
