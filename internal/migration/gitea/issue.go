package gitea

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// readLabels reads the labels of the repository, and those of an organization that owns it, which its repositories share.
func (s *Source) readLabels(ctx context.Context) error {
	if err := each(ctx, s.Client, s.path+"/labels", s.AddLabel); err != nil {
		return err
	}
	err := each(ctx, s.Client, "orgs/"+url.PathEscape(s.about.Owner.Login)+"/labels", s.AddLabel)
	if remote.Absent(err) { // the owner is a user
		err = nil
	}
	return err
}

type milestoneAnswer struct {
	ID          int64     `json:"id"`
	Title       string    `json:"title"`
	Description *string   `json:"description"`
	State       string    `json:"state"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	ClosedAt    time.Time `json:"closed_at"`
	DueOn       time.Time `json:"due_on"`
}

// milestones reads milestones. The number of one is its id, as in its address there.
func (s *Source) milestones(ctx context.Context) error {
	var list []*migration.Milestone
	err := each(ctx, s.Client, s.path+"/milestones?state=all", func(m *milestoneAnswer) error {
		out := &migration.Milestone{Number: m.ID, Title: m.Title, Description: m.Description, State: m.State,
			CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, ClosedAt: m.ClosedAt, DueOn: m.DueOn}
		out.CreatedAt = cmp.Or(out.CreatedAt, m.ClosedAt) // an old version tells this one only
		out.UpdatedAt = cmp.Or(out.UpdatedAt, m.ClosedAt, out.CreatedAt)
		list = append(list, out)
		return nil
	})
	if err != nil {
		return s.LeaveAbsent("milestones", err)
	}
	return s.AddMilestones(list)
}

// issueAnswer is Gitea's issue.
type issueAnswer struct {
	Number    int64          `json:"number"`
	Title     string         `json:"title"`
	Body      string         `json:"body"`
	User      *remote.User   `json:"user"`
	State     string         `json:"state"`
	Locked    bool           `json:"is_locked"`
	Labels    []remote.Label `json:"labels"`
	Assignees []*remote.User `json:"assignees"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
	ClosedAt  time.Time      `json:"closed_at"`
	PinOrder  int64          `json:"pin_order"`
	Files     []fileAnswer   `json:"assets"`
	Milestone struct {
		ID int64 `json:"id"`
	} `json:"milestone"`
	Pull *struct{} `json:"pull_request"`
}

// issues reads issues and pull requests, with what has an address below each of them.
func (s *Source) issues(ctx context.Context) error {
	list, err := s.NewTurned()
	if err != nil {
		return err
	}
	defer list.Close()
	err = each(ctx, s.Client, s.path+"/issues?state=all", func(text *json.RawMessage) error {
		var of struct {
			Number int64 `json:"number"`
		}
		if err := json.Unmarshal(*text, &of); err != nil {
			return fmt.Errorf("unexpected answer for a Gitea server: %w", err)
		}
		return list.Add(of.Number, *text)
	})
	if err != nil {
		return err
	}
	numbers := list.Numbers()
	for done, number := range numbers {
		s.Progress("read issues", int64(done+1), int64(len(numbers)))
		var i issueAnswer
		err := list.Item(number, &i)
		if err == nil {
			err = s.issue(ctx, &i)
		}
		if err != nil {
			return fmt.Errorf("%d: %w", number, err)
		}
	}
	return nil
}

func (s *Source) issue(ctx context.Context, i *issueAnswer) error {
	out := &migration.Issue{Number: i.Number, Title: i.Title, Author: s.People.Login(i.User), State: i.State,
		Locked: i.Locked, Milestone: i.Milestone.ID, Assignees: s.People.Logins(i.Assignees),
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, ClosedAt: i.ClosedAt}
	slices.Sort(out.Assignees) // they come in any order
	for _, l := range i.Labels {
		if err := s.AddLabel(&l); err != nil {
			return err
		}
		out.Labels = append(out.Labels, l.Name)
	}
	text, err := s.withFiles(i.Body, i.Files, out.Author)
	if err != nil {
		return err
	}
	out.Body = &text
	at := s.path + "/issues/" + strconv.FormatInt(i.Number, 10)
	history := timeline{s: s, number: i.Number}
	if i.Pull != nil {
		if history.reviews, history.hidden, err = s.pull(ctx, out); err != nil {
			return err
		}
	}
	if err := history.read(ctx, at); err != nil {
		return err
	}
	if i.State == "closed" {
		out.ClosedBy = history.closer
	}
	if reason := history.lockReason; i.Locked && reason != "" {
		out.LockReason = &reason
	}
	if i.PinOrder > 0 {
		out.PinnedAt, out.PinnedBy = cmp.Or(history.pinnedAt, i.UpdatedAt), history.pinner
	}
	if err := s.reactions(ctx, each, at, migration.Issues, out.Key()); err != nil {
		return err
	}
	return s.Out.Add(migration.Issues, out)
}

type commentAnswer struct {
	ID        int64        `json:"id"`
	User      *remote.User `json:"user"`
	Body      string       `json:"body"`
	Issue     string       `json:"issue_url"`
	Pull      string       `json:"pull_request_url"`
	CreatedAt time.Time    `json:"created_at"`
	UpdatedAt time.Time    `json:"updated_at"`
	Files     []fileAnswer `json:"assets"`
}

// comments reads the comments of all issues and pull requests.
func (s *Source) comments(ctx context.Context) error {
	return each(ctx, s.Client, s.path+"/issues/comments", func(c *commentAnswer) error {
		of := cmp.Or(c.Issue, c.Pull)
		number, err := strconv.ParseInt(of[strings.LastIndexByte(of, '/')+1:], 10, 64)
		if err != nil {
			return fmt.Errorf("comment %d: the address of its issue, %.200q, does not end in a number", c.ID, of)
		}
		id, author := strconv.FormatInt(c.ID, 10), s.People.Login(c.User)
		text, err := s.withFiles(c.Body, c.Files, author)
		if err != nil {
			return err
		}
		err = s.Out.Add(migration.Comments, &migration.Comment{ID: id, Issue: number, Author: author, Body: text,
			CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt})
		if err != nil {
			return err
		}
		return s.reactions(ctx, all, s.path+"/issues/comments/"+id, migration.Comments, id)
	})
}

// reactions reads the reactions to something with a list function, since those to comments have no pages.
func (s *Source) reactions(ctx context.Context,
	list func(context.Context, *remote.Client, string, func(*remote.Reaction) error) error,
	at string, of migration.Kind, to string,
) error {
	err := list(ctx, s.Client, at+"/reactions", s.AddReactions(of, to))
	if remote.Absent(err) { // deleted since the list was read
		err = nil
	}
	return err
}
