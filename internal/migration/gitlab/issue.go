package gitlab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/label"
	"arbor/internal/migration"
	"arbor/internal/migration/remote"
)

// readLabels reads the labels of the project and of the groups above it.
func (s *Source) readLabels(ctx context.Context) error {
	return s.LeaveAbsent("labels", each(ctx, s.Client, s.path+"/labels?include_ancestor_groups=true", s.label))
}

// labelName is what a label is called here, where names are shorter.
func labelName(name string) string {
	if runes := []rune(name); len(runes) > label.MaxName {
		return strings.TrimSpace(string(runes[:label.MaxName]))
	}
	return name
}

// label writes a label, once.
func (s *Source) label(l *remote.Label) error {
	l.Name, l.Color = labelName(l.Name), strings.TrimPrefix(l.Color, "#")
	return s.AddLabel(l)
}

type milestoneAnswer struct {
	ID          int64     `json:"id"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	State       string    `json:"state"`    // active or closed
	Due         string    `json:"due_date"` // 2006-01-02; empty: none
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// readMilestones reads the milestones of the project and of the groups above it. Both have numbers from 1,
// so the number here is the id.
func (s *Source) readMilestones(ctx context.Context) error {
	var list []*migration.Milestone
	add := func(m *milestoneAnswer) error {
		out, err := s.milestone(ctx, m)
		if out != nil {
			list = append(list, out)
		}
		return err
	}
	const query = "?state=all&include_ancestors=true&include_parent_milestones=true" // by its new and its old name
	err := each(ctx, s.Client, s.path+"/milestones"+query, add)
	if err != nil {
		return s.LeaveAbsent("milestones", err)
	}
	return s.AddMilestones(list)
}

// milestone returns the record of a milestone; nil after the first time.
func (s *Source) milestone(ctx context.Context, m *milestoneAnswer) (*migration.Milestone, error) {
	if s.milestones[m.ID] {
		return nil, nil
	}
	s.milestones[m.ID] = true
	out := &migration.Milestone{Number: m.ID, Title: m.Title, State: "open", CreatedAt: m.CreatedAt,
		UpdatedAt: m.UpdatedAt}
	if m.State == "closed" {
		out.State, out.ClosedAt = "closed", m.UpdatedAt
	}
	if due, err := time.Parse(time.DateOnly, m.Due); err == nil {
		out.DueOn = due
	}
	text, err := s.text(ctx, m.Description, "")
	out.Description = &text
	return out, err
}

// issueAnswer is what GitLab's issues and merge requests have in common.
type issueAnswer struct {
	IID          int64            `json:"iid"`
	Title        string           `json:"title"`
	Description  string           `json:"description"`
	State        string           `json:"state"` // opened, closed, locked (while it is merged) or merged
	Author       *person          `json:"author"`
	Assignees    []*person        `json:"assignees"`
	Labels       []string         `json:"labels"`
	Milestone    *milestoneAnswer `json:"milestone"`
	Locked       bool             `json:"discussion_locked"`
	Confidential bool             `json:"confidential"`
	CreatedAt    time.Time        `json:"created_at"`
	UpdatedAt    time.Time        `json:"updated_at"`
	ClosedAt     time.Time        `json:"closed_at"`
	ClosedBy     *person          `json:"closed_by"`
	Due          string           `json:"due_date"`
}

// readIssues reads issues and merge requests, with what has an address below each of them.
func (s *Source) readIssues(ctx context.Context) error {
	keys := s.inOrder()
	for done, key := range keys {
		s.Progress("read issues", int64(done+1), int64(len(keys)))
		read := s.readIssue
		if key[0] == '!' {
			read = s.readMerge
		}
		iid, err := strconv.ParseInt(strings.TrimPrefix(key, "!"), 10, 64)
		if err == nil {
			err = read(ctx, iid)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func (s *Source) readIssue(ctx context.Context, iid int64) error {
	var i issueAnswer
	if err := s.issues.Item(iid, &i); err != nil {
		return err
	}
	out, err := s.issueOf(ctx, &i, issueKey(iid))
	if err != nil {
		return err
	}
	return s.finish(ctx, &conversation{s: s, of: out, at: s.path + "/issues/" + issueKey(iid)})
}

// issueOf returns the record of an issue or a merge request. Its text says what it was called, if that is
// not what it is called here.
func (s *Source) issueOf(ctx context.Context, i *issueAnswer, key string) (*migration.Issue, error) {
	out := &migration.Issue{Number: s.numbers[key], Title: i.Title, Author: s.login(i.Author), State: "open",
		Locked: i.Locked, Assignees: s.logins(i.Assignees), Private: i.Confidential, CreatedAt: i.CreatedAt,
		UpdatedAt: i.UpdatedAt}
	if i.State == "closed" || i.State == "merged" {
		out.State, out.ClosedAt, out.ClosedBy = "closed", cmp.Or(i.ClosedAt, i.UpdatedAt), s.login(i.ClosedBy)
	}
	for _, name := range i.Labels {
		if err := s.label(&remote.Label{Name: name, Color: "ededed"}); err != nil {
			return nil, err
		}
		if name = labelName(name); !slices.Contains(out.Labels, name) {
			out.Labels = append(out.Labels, name)
		}
	}
	if m := i.Milestone; m != nil && m.ID > 0 {
		out.Milestone = m.ID
		record, err := s.milestone(ctx, m)
		if err == nil && record != nil { // the list did not show it
			err = s.Out.Add(migration.Milestones, record)
		}
		if err != nil {
			return nil, err
		}
	}
	text, err := s.text(ctx, i.Description, out.Author)
	if err != nil {
		return nil, err
	}
	if i.Due != "" {
		text = below(text, "Due: "+oneLine(i.Due))
	}
	if key != out.Key() {
		out.Former = key
		if key[0] != '!' {
			key = "#" + key
		}
		text = below(text, "Former number: `"+key+"`")
	}
	out.Body = &text
	return out, nil
}

// below puts a line below a text.
func below(text, line string) string {
	return strings.TrimLeft(strings.TrimRight(text, "\n")+"\n\n*"+line+"*", "\n")
}

// finish reads what belongs to an issue or a merge request, and writes it.
func (s *Source) finish(ctx context.Context, c *conversation) error {
	if err := c.read(ctx); err != nil {
		return err
	}
	if c.of.State == "closed" && c.of.ClosedBy == "" {
		c.of.ClosedBy = c.closer
	}
	if err := s.reactions(ctx, c.at, migration.Issues, c.of.Key()); err != nil {
		return err
	}
	return s.Out.Add(migration.Issues, c.of)
}

// contents are reactions by the names of GitLab's.
var contents = map[string]string{"thumbsup": "+1", "thumbsdown": "-1", "laughing": "laugh", "smile": "laugh",
	"smiley": "laugh", "grinning": "laugh", "joy": "laugh", "tada": "hooray", "confused": "confused", "heart": "heart",
	"rocket": "rocket", "eyes": "eyes"}

// reactions reads the reactions to something. GitLab knows many more than there are here; these are left out.
func (s *Source) reactions(ctx context.Context, at string, of migration.Kind, to string) error {
	type award struct {
		Name      string    `json:"name"`
		User      *person   `json:"user"`
		CreatedAt time.Time `json:"created_at"`
	}
	if s.silent {
		return nil
	}
	seen := map[string]bool{}
	err := each(ctx, s.Client, at+"/award_emoji", func(a *award) error {
		r := &migration.Reaction{Kind: of, To: to, Person: s.login(a.User), Content: contents[a.Name],
			CreatedAt: a.CreatedAt}
		if r.Content == "" || r.Person == "" || seen[r.Key()] {
			return nil
		}
		seen[r.Key()] = true
		return s.Out.Add(migration.Reactions, r)
	})
	if remote.Absent(err) { // deleted since the list was read
		err = nil
	}
	return err
}
