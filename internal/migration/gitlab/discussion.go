package gitlab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/issue"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// conversation reads what belongs to an issue or a merge request.
type conversation struct {
	s  *Source
	of *migration.Issue
	at string // its path

	closer   string               // who closed it last
	approved map[string]time.Time // when somebody approved last
	onLines  []*migration.ReviewComment
	kept     int64           // bytes of their texts
	reviews  map[string]bool // those written
}

// noteAnswer is GitLab's note: a comment, a comment on a line, or a system note, which says what somebody
// did.
type noteAnswer struct {
	ID           int64     `json:"id"`
	Type         string    `json:"type"` // DiffNote: on a line
	Body         string    `json:"body"`
	Author       *person   `json:"author"`
	System       bool      `json:"system"`
	Internal     bool      `json:"internal"`
	Confidential bool      `json:"confidential"` // what older servers say in place of it
	Resolved     bool      `json:"resolved"`
	ResolvedBy   *person   `json:"resolved_by"`
	ResolvedAt   time.Time `json:"resolved_at"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
	Position     *position `json:"position"`
}

// position is where a note is in the changes of a merge request.
type position struct {
	Type    string `json:"position_type"` // text, image or file
	Head    string `json:"head_sha"`
	OldPath string `json:"old_path"`
	NewPath string `json:"new_path"`
	OldLine line   `json:"old_line"` // 0: the line is not in the file before the change
	NewLine line   `json:"new_line"`
	Range   *struct {
		Start struct {
			OldLine line `json:"old_line"`
			NewLine line `json:"new_line"`
		} `json:"start"`
	} `json:"line_range"`
}

// line is the number of a line: in JSON a number, null, or a text, since GitLab keeps what clients sent.
type line int64

// UnmarshalJSON reads a number. Anything else becomes 0.
func (l *line) UnmarshalJSON(text []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 32)
	if *l = line(n); err != nil || n < 0 {
		*l = 0
	}
	return nil
}

// read reads the notes, the events, and who approved.
func (c *conversation) read(ctx context.Context) error {
	c.approved, c.reviews = map[string]time.Time{}, map[string]bool{}
	type discussion struct {
		Notes []noteAnswer `json:"notes"`
	}
	if c.s.silent {
		return nil
	}
	err := walk(ctx, c.s.Client, c.at+"/discussions", maxOfOne, func(d *discussion) error {
		return c.discussion(ctx, d.Notes)
	})
	no := (*remote.Refusal)(nil)
	if errors.As(err, &no) && no.Status == http.StatusUnauthorized { // it wants a token
		c.s.silent = true
		return c.s.LeaveAbsent("discussions, timelines and reactions", err)
	}
	if err = c.s.LeaveAbsent("discussions of "+c.of.Key(), err); err != nil {
		return err
	}
	if err := c.events(ctx); err != nil {
		return err
	}
	if c.of.Pull == nil {
		return nil
	}
	if err := c.approvals(ctx); err != nil {
		return err
	}
	return c.s.AddOnLines(ctx, c.of, c.onLines, func(r *migration.ReviewComment) error {
		return c.s.reactions(ctx, c.at+"/notes/"+r.ID, migration.ReviewComments, r.ID)
	})
}

// discussion reads the notes of a discussion. One that begins on a line is a conversation there.
func (c *conversation) discussion(ctx context.Context, notes []noteAnswer) error {
	root := ""
	for n := range notes {
		note := &notes[n]
		var err error
		switch onLine := c.of.Pull != nil && note.Type == "DiffNote" && note.Position != nil; {
		case note.System:
			err = c.told(note)
		case note.ID < 1:
			c.s.Leave("a comment on %s without a number", c.of.Key())
		case note.Internal || note.Confidential:
			c.s.internal++
		case onLine && (n == 0 || root != ""):
			err = c.onLine(ctx, note, root)
			if root == "" {
				root = strconv.FormatInt(note.ID, 10)
			}
		default:
			err = c.comment(ctx, note)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *conversation) comment(ctx context.Context, n *noteAnswer) error {
	id, author := strconv.FormatInt(n.ID, 10), c.s.login(n.Author)
	text, err := c.s.text(ctx, n.Body, author)
	if err != nil {
		return err
	}
	err = c.s.Out.Add(migration.Comments, &migration.Comment{ID: id, Issue: c.of.Number, Author: author,
		Body: text, CreatedAt: n.CreatedAt, UpdatedAt: cmp.Or(n.UpdatedAt, n.CreatedAt)})
	if err != nil {
		return err
	}
	return c.s.reactions(ctx, c.at+"/notes/"+id, migration.Comments, id)
}

// onLine takes a comment on a line, which answers root, or begins a conversation. GitLab has no reviews
// around such comments: here each author has one in each conversation.
func (c *conversation) onLine(ctx context.Context, n *noteAnswer, root string) error {
	id, p := strconv.FormatInt(n.ID, 10), n.Position
	if c.kept += int64(len(n.Body) + len(p.NewPath) + len(p.OldPath)); c.kept > remote.MaxKept {
		return fmt.Errorf("the comments on lines of %s are too large", c.of.Key())
	}
	out := &migration.ReviewComment{ID: id, Pull: c.of.Number, ReplyTo: root, Author: c.s.login(n.Author),
		Path: cmp.Or(p.NewPath, p.OldPath), Side: "RIGHT", CreatedAt: n.CreatedAt,
		UpdatedAt: cmp.Or(n.UpdatedAt, n.CreatedAt),
		Original:  migration.Place{Commit: cmp.Or(p.Head, c.of.Pull.HeadSHA), Line: int64(p.NewLine)}}
	start := line(0)
	if p.Range != nil {
		start = p.Range.Start.NewLine
	}
	switch {
	case p.Type == "image" || p.Type == "file":
		out.File, out.Original.Line = true, 0
	case p.NewLine == 0:
		out.Side, out.Original.Line = "LEFT", int64(p.OldLine)
		if p.Range != nil {
			start = p.Range.Start.OldLine
		}
	}
	if start := int64(start); start > 0 && start < out.Original.Line {
		out.Original.Start, out.StartSide = start, out.Side
	}
	first := cmp.Or(root, id)
	out.Review = "discussion-" + first + "-" + out.Author
	err := c.review(&migration.Review{ID: out.Review, Author: out.Author, State: "commented",
		Commit: out.Original.Commit, SubmittedAt: n.CreatedAt})
	if err != nil {
		return err
	}
	if root == "" && n.Resolved {
		err := c.s.Out.Add(migration.Threads, &migration.Thread{Comment: id, Pull: c.of.Number,
			ResolvedBy: c.s.login(n.ResolvedBy), ResolvedAt: cmp.Or(n.ResolvedAt, n.UpdatedAt, n.CreatedAt)})
		if err != nil {
			return err
		}
	}
	if strings.Contains(n.Body, "suggestion:") {
		n.Body = suggestion.ReplaceAllString(n.Body, "$1")
	}
	out.Body, err = c.s.text(ctx, n.Body, out.Author)
	c.onLines = append(c.onLines, out)
	return err
}

// suggestion is the beginning of a suggestion for one line, which GitHub writes without numbers.
var suggestion = regexp.MustCompile("(?m)^(`{3,}suggestion):-0\\+0\\r?$")

// review writes a review, once, and its entry in the timeline.
func (c *conversation) review(r *migration.Review) error {
	if c.reviews[r.ID] {
		return nil
	}
	c.reviews[r.ID], r.Pull = true, c.of.Number
	if err := c.s.Out.Add(migration.Reviews, r); err != nil {
		return err
	}
	return c.s.Out.Add(migration.Events, &migration.Event{ID: fmt.Sprintf("review-%d-%s", r.Pull, r.ID),
		Issue: r.Pull, Event: issue.EventReviewed.String(), Actor: r.Author, CreatedAt: r.SubmittedAt,
		Review: r.ID, ReviewState: r.State})
}

// approvals reads who approved, and writes reviews of the head. Older servers tell the time in system notes
// only.
func (c *conversation) approvals(ctx context.Context) error {
	var said struct {
		By []struct {
			User *person   `json:"user"`
			At   time.Time `json:"approved_at"`
		} `json:"approved_by"`
	}
	if err := c.s.Get(ctx, c.at+"/approvals", &said); err != nil && !remote.Absent(err) {
		return err
	}
	for _, a := range said.By[:min(len(said.By), 1000)] {
		who := c.s.login(a.User)
		if who == "" {
			continue
		}
		// A reviewer stays one there after the review. Here nobody is asked again.
		p := c.of.Pull
		p.Reviewers = slices.DeleteFunc(p.Reviewers, func(login string) bool { return login == who })
		at := cmp.Or(a.At, c.approved[who], c.of.UpdatedAt)
		err := c.review(&migration.Review{ID: fmt.Sprintf("approval-%d-%s", c.of.Number, who), Author: who,
			State: "approved", Commit: c.of.Pull.HeadSHA, SubmittedAt: at})
		if err != nil {
			return err
		}
	}
	return nil
}
