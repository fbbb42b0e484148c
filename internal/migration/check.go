package migration

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/reaction"
	"arbor/internal/release"
	"arbor/internal/repo"
)

// checker validates records, and corrects values whose meaning is clear. It reports what it changes.
type checker struct {
	now    time.Time // later times are wrong
	report func(format string, args ...any)
}

// oldest is the earliest time of a record.
var oldest = time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)

func (r *Repository) check() error {
	owner, name, ok := strings.Cut(r.Name, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") || !utf8.ValidString(r.Name) {
		return fmt.Errorf("%s: the name %q is not OWNER/NAME", repositoryFile, r.Name)
	}
	if r.Merging == nil {
		r.Merging = repo.Merging(0).Payload()
	}
	return nil
}

// check returns why a record cannot be brought.
func (c *checker) check(r Record) error {
	if r.Key() == "" || len(r.Key()) > 500 {
		return errors.New("its id is missing or too long")
	}
	switch r := r.(type) {
	case *Label:
		return c.label(r)
	case *Milestone:
		c.times(r, &r.CreatedAt, &r.UpdatedAt, &r.ClosedAt)
		c.text(r, &r.Title, issue.MaxTitle)
		c.optional(r, &r.Description, issue.MaxBody)
		return errors.Join(positive(r.Number), oneOf("state", r.State, "open", "closed"), filled("title", r.Title))
	case *Issue:
		return c.issue(r)
	case *Comment:
		c.times(r, &r.CreatedAt, &r.UpdatedAt, &r.PinnedAt)
		c.text(r, &r.Body, issue.MaxBody)
		return errors.Join(positive(r.Issue), hidden(r.Hidden))
	case *Review:
		c.times(r, &r.SubmittedAt)
		c.text(r, &r.Body, issue.MaxBody)
		return errors.Join(positive(r.Pull), sha("commit", r.Commit), hidden(r.Hidden),
			oneOf("state", r.State, "commented", "approved", "changes_requested", "dismissed"))
	case *ReviewComment:
		return c.reviewComment(r)
	case *CommitComment:
		c.times(r, &r.CreatedAt, &r.UpdatedAt)
		c.text(r, &r.Body, issue.MaxBody)
		return errors.Join(sha("commit", r.Commit), hidden(r.Hidden))
	case *Thread:
		c.times(r, &r.ResolvedAt)
	case *Reaction:
		c.times(r, &r.CreatedAt)
		kind := reaction.Kind(max(0, slices.Index(subjects[:], r.Kind)))
		return oneOf("content", r.Content, kind.Contents()...)
	case *Event:
		return c.event(r)
	case *Release:
		c.times(r, &r.CreatedAt, &r.PublishedAt, &r.UpdatedAt)
		c.optional(r, &r.Name, issue.MaxTitle)
		c.optional(r, &r.Body, 2*issue.MaxBody)
		return filled("tag", r.Tag)
	case *Asset:
		return c.asset(r)
	case *LFSObject:
		return errors.Join(sum(r.OID), r.File.check())
	case *Attachment:
		c.times(r, &r.CreatedAt)
		c.text(r, &r.Name, 255)
		return errors.Join(filled("name", r.Name), r.File.check())
	}
	return nil
}

// maxEventText bounds texts of events that have no bound of their own.
const maxEventText = 255

// event truncates the texts of an event. It does not change a label or rename that cannot be decoded: the importer
// reports those.
func (c *checker) event(e *Event) error {
	c.times(e, &e.CreatedAt)
	for _, text := range []*string{&e.Event, &e.Actor, &e.Person, &e.Team, &e.Commit, &e.SourceComment, &e.LockReason,
		&e.StateReason, &e.Reason, &e.Review, &e.ReviewState} {
		c.text(e, text, maxEventText)
	}
	c.text(e, &e.Milestone, issue.MaxTitle)
	c.text(e, &e.Message, issue.MaxBody) // as of one that is dismissed here
	var l *issue.EventLabel
	var n *issue.Rename
	if decode(e.Label, &l) == nil && l != nil {
		was := *l
		c.text(e, &l.Name, label.MaxName)
		c.text(e, &l.Color, label.MaxName)
		e.Label = reencode(e.Label, *l, was)
	}
	if decode(e.Rename, &n) == nil && n != nil {
		was := *n
		c.text(e, &n.From, issue.MaxTitle)
		c.text(e, &n.To, issue.MaxTitle)
		e.Rename = reencode(e.Rename, *n, was)
	}
	return positive(e.Issue)
}

// reencode returns value as JSON, or text unchanged if value equals was.
func reencode[T comparable](text json.RawMessage, value, was T) json.RawMessage {
	if value != was {
		text, _ = json.Marshal(value) // texts are always JSON
	}
	return text
}

// asset cleans the name of a release file as an upload does, and replaces a path with a single name.
func (c *checker) asset(a *Asset) error {
	c.times(a, &a.CreatedAt, &a.UpdatedAt)
	c.optional(a, &a.Label, release.MaxLabel)
	name, ok := release.CleanName(strings.NewReplacer("/", ".", `\`, ".").Replace(a.Name))
	if !ok {
		return fmt.Errorf("the name %.300q is not that of a file", a.Name)
	}
	a.Name = name
	return a.File.check()
}

func (c *checker) label(l *Label) error {
	c.text(l, &l.Name, label.MaxName)
	c.optional(l, &l.Description, 100)
	l.Color = strings.ToLower(strings.TrimPrefix(l.Color, "#"))
	if b, err := hex.DecodeString(l.Color); err != nil || len(b) != 3 {
		c.report("label %q: the color %q is invalid: replaced with ededed", l.Name, l.Color)
		l.Color = "ededed"
	}
	return filled("name", l.Name)
}

func (c *checker) issue(i *Issue) error {
	c.times(i, &i.CreatedAt, &i.UpdatedAt, &i.ClosedAt, &i.PinnedAt)
	c.text(i, &i.Title, issue.MaxTitle)
	c.optional(i, &i.Body, issue.MaxBody)
	c.optional(i, &i.LockReason, 100)
	if i.Title == "" {
		i.Title = "(no title)"
	}
	if i.State == "open" {
		i.ClosedAt, i.ClosedBy = time.Time{}, ""
	} else if i.ClosedAt.IsZero() {
		i.ClosedAt = i.UpdatedAt
	}
	i.Labels = i.Labels[:min(len(i.Labels), issue.MaxLabels)]
	i.Assignees = i.Assignees[:min(len(i.Assignees), issue.MaxAssignees)]
	err := errors.Join(positive(i.Number), oneOf("state", i.State, "open", "closed"),
		oneOf("state_reason", i.StateReason, "", "completed", "not_planned", "reopened", "duplicate"))
	if p := i.Pull; p != nil && err == nil {
		c.times(i, &i.CreatedAt, &p.MergedAt)
		if !p.MergedAt.IsZero() && i.State == "open" {
			err = errors.New("it is both merged and open")
		}
	}
	return err
}

// pull returns why a pull request cannot be one.
func (p *Pull) check(name string) error {
	err := errors.Join(sha("head_sha", p.HeadSHA), sha("base_sha", p.BaseSHA), filled("base", p.Base), filled("head", p.Head))
	if err == nil && p.Base == p.Head && strings.EqualFold(p.HeadRepo, name) {
		err = errors.New("its head is its base")
	}
	return err
}

func (c *checker) reviewComment(r *ReviewComment) error {
	c.times(r, &r.CreatedAt, &r.UpdatedAt)
	c.text(r, &r.Body, issue.MaxBody)
	if r.Current == (Place{}) {
		r.Current = r.Original
	}
	if r.Side == "" {
		r.Side = "RIGHT"
	}
	return errors.Join(positive(r.Pull), filled("path", r.Path), hidden(r.Hidden),
		sha("commit", r.Original.Commit), sha("commit", r.Current.Commit),
		oneOf("side", r.Side, "LEFT", "RIGHT"), oneOf("start_side", r.StartSide, "", "LEFT", "RIGHT"))
}

// times corrects impossible times: a time in the future becomes now, and one before oldest becomes oldest.
func (c *checker) times(r Record, list ...*time.Time) {
	for n, t := range list {
		switch {
		case t.IsZero() && n == 0:
			c.report("%s: it has no time", describe(r))
			*t = oldest
		case t.IsZero():
		case t.After(c.now):
			c.report("%s: the time %s is in the future", describe(r), t.Format(time.RFC3339))
			*t = c.now
		case t.Before(oldest):
			*t = oldest
		}
	}
}

// text truncates a text that is too long, and replaces NUL characters and invalid UTF-8.
func (c *checker) text(r Record, text *string, most int) {
	if !utf8.ValidString(*text) || strings.ContainsRune(*text, 0) {
		c.report("%s: invalid characters (NUL, or not UTF-8) were replaced", describe(r))
		*text = strings.ReplaceAll(strings.ToValidUTF8(*text, "\uFFFD"), "\x00", "\uFFFD")
	}
	if len(*text) > most && utf8.RuneCountInString(*text) > most {
		c.report("%s: a text was cut after %d characters", describe(r), most)
		*text = string([]rune(*text)[:most])
	}
}

func (c *checker) optional(r Record, text **string, most int) {
	if *text == nil {
		return
	}
	if **text == "" {
		*text = nil
		return
	}
	t := **text
	c.text(r, &t, most)
	*text = &t
}

// describe names a record in a report.
func describe(r Record) string {
	word := map[bool]string{false: "issue", true: "pull request"}
	switch r := r.(type) {
	case *Issue:
		return fmt.Sprintf("%s %d", word[r.Pull != nil], r.Number)
	case *Comment:
		return fmt.Sprintf("comment %s on %d", r.ID, r.Issue)
	case *Review:
		return fmt.Sprintf("review %s of %d", r.ID, r.Pull)
	case *ReviewComment:
		return fmt.Sprintf("review comment %s on %d", r.ID, r.Pull)
	case *Event:
		return fmt.Sprintf("event %s (%s) of %d", r.ID, r.Event, r.Issue)
	case *Release:
		return fmt.Sprintf("release %q", r.Tag)
	case *Asset:
		return fmt.Sprintf("asset %q", r.Name)
	case *Attachment:
		return fmt.Sprintf("attachment %q", r.Name)
	case *Ruleset:
		return fmt.Sprintf("ruleset %q", r.Name)
	case *Hook:
		return fmt.Sprintf("webhook %s", r.URL)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", r), "*migration."), "[")
	return fmt.Sprintf("%s %q", strings.ToLower(name), r.Key())
}

func positive(n int64) error {
	if n < 1 || n > 1<<40 {
		return fmt.Errorf("invalid number %d: want 1 to 2^40", n)
	}
	return nil
}

func oneOf(field, value string, values ...string) error {
	if !slices.Contains(values, value) {
		return fmt.Errorf("%s is %q", field, value)
	}
	return nil
}

func filled(field, value string) error {
	if strings.TrimSpace(value) == "" || !utf8.ValidString(value) || strings.ContainsRune(value, 0) || len(value) > 4096 {
		return fmt.Errorf("%s is %q", field, value)
	}
	return nil
}

func hidden(word string) error {
	if _, ok := issuekit.ParseHidden(word); word != "" && !ok {
		return fmt.Errorf("hidden is %q", word)
	}
	return nil
}

func sha(field, value string) error {
	if b, err := hex.DecodeString(value); err != nil || len(b) != 20 || strings.ToLower(value) != value {
		return fmt.Errorf("%s is %q, not the name of a commit", field, value)
	}
	return nil
}

func sum(value string) error {
	if b, err := hex.DecodeString(value); err != nil || len(b) != 32 || strings.ToLower(value) != value {
		return fmt.Errorf("%q is not a SHA-256", value)
	}
	return nil
}

func (f *File) check() error {
	if f.Size < 0 || f.Path == "" {
		return errors.New("its file has no path, or no size")
	}
	if f.SHA256 != "" {
		return sum(f.SHA256)
	}
	return nil
}
