package pull

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"arbor/internal/inside"
	"arbor/internal/page"
	"arbor/internal/page/diff"
	"arbor/internal/page/talk"
	"arbor/internal/repo"
)

// thread is comments on the same lines, one after the other.
type thread struct {
	*scene
	ID       int64 // of its first comment, also if that was deleted
	Path     string
	Lines    string // "line 3", "lines 3 to 5"
	Place    diff.Place
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
	Thread *thread
	Parts  []part
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

const (
	commentsAtOnce = 100
	maxCommentList = 10 // pages of comments that are read
	maxContext     = 4  // lines of a hunk that a thread shows above its own
)

// threads reads the review comments of a pull request, with those of the viewer's pending review, as threads
// in the order of their beginnings. more says that there are more than a page shows.
func (p *Pages) threads(r *http.Request, a *repo.Access, s *scene) (list []*thread, more bool, err error) {
	var all []*lineComment
	if s.Pull.ReviewComments > 0 {
		if more, err = p.kit.Read(r, inside.Request{Path: api(r, a, "comments"), Handler: p.with.Comments},
			&all); err != nil {
			return nil, false, err
		}
	}
	if s.Progress.PendingComments > 0 {
		mine, rest, err := p.pending(r, api(r, a, "reviews",
			strconv.FormatInt(s.Progress.Pending, 10), "comments"))
		if err = orEmpty(err); err != nil {
			return nil, false, err
		}
		for _, c := range mine {
			c.Pending = true
		}
		all, more = append(all, mine...), more || rest
	}
	return s.gather(all), more, nil
}

// pending reads the comments of the viewer's review that is not submitted.
func (p *Pages) pending(r *http.Request, path string) (all []*lineComment, more bool, err error) {
	for n := 1; n <= maxCommentList; n++ {
		var part []*lineComment
		q := page.Query("page", strconv.Itoa(n), "per_page", strconv.Itoa(commentsAtOnce))
		if more, err = p.kit.Read(r, inside.Request{Path: path, Query: q}, &part); err != nil {
			return nil, false, err
		}
		if all = append(all, part...); !more {
			break
		}
	}
	return all, more, nil
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
	t := &thread{scene: s, ID: id, Path: c.Path, Outdated: c.Outdated(), Pending: true}
	t.By, t.Resolved = s.Progress.Resolved[id], s.Progress.Resolved[id] != ""
	line, start := c.Line, c.Start
	if t.Outdated || line == 0 {
		line, start = c.OriginalLine, c.OriginalStart
	}
	switch {
	case c.Subject == "file" || line == 0:
		t.Place = diff.Place{Path: c.Path, Side: diff.Right}
	default:
		t.Place = diff.Place{Path: c.Path, Side: c.Side, Line: line}
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
