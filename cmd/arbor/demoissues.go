package main

import (
	"context"
	"time"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/milestone"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// demoIssue is an issue of the demo with what became of it.
type demoIssue struct {
	by, title, body string
	labels          []string
	assignees       []string
	milestone       int64
	comments        []demoComment
	state           string // closed, not_planned, or empty for open
	lock            string // the reason; empty: it is not locked
}

type demoComment struct{ by, body string }

// demoIssues are what people have to say about a greenhouse.
var demoIssues = []demoIssue{
	{by: "bob", title: "The vents open too late in the morning", labels: []string{"bug"},
		assignees: []string{"alice"}, milestone: 1,
		body: "At **31 °C** they are still shut:\n\n| time | inside | vents |\n|---|---|---|\n| 08:00 | 24 °C | shut |\n| 09:30 | 31 °C | shut |\n| 09:50 | 33 °C | open |\n\n@alice, is the threshold read only once?",
		comments: []demoComment{{"alice", "It is, at start. I shall read it with each measurement."},
			{"bob", "Thank you! The tomatoes thank you, too."}}},
	{by: "alice", title: "Water in the evening when it is hot", labels: []string{"enhancement"},
		assignees: []string{"bob"}, milestone: 1,
		body: "- [x] read the forecast\n- [ ] choose the hour\n- [ ] tell people why\n\nSee #1 for the temperatures."},
	{by: "root-gardener", title: "How do I add a second sensor?",
		labels:   []string{"question", "documentation"},
		body:     "I have one for *humidity*. The README does not say where it goes.",
		comments: []demoComment{{"bob", "Beside the first, in `sensors.txt`. I shall write it down."}}},
	{by: "bob", title: "Frost alarm rings in July", labels: []string{"bug", "good first issue"},
		assignees: []string{"bob"},
		body:      "```\nALARM frost: 25\n```\n\nIt compares °F with °C.",
		comments:  []demoComment{{"alice", "Fixed by converting first."}}, state: "closed"},
	{by: "alice", title: "Play music to the plants", labels: []string{"enhancement", "wontfix"},
		body:     "Somebody read that it helps.",
		comments: []demoComment{{"bob", "Somebody else read that it does not."}}, state: "not_planned",
		lock: "resolved"},
	{by: "root-gardener", title: "Keep a record of each year", labels: []string{"enhancement", "help wanted"},
		milestone: 2,
		body:      "So that we know next year what #4 taught us."},
	{by: "bob", title: "The diagram of the pipes is missing", labels: []string{"documentation"}},
}

// fillIssues creates the issues of alice/greenhouse.
func (d *demo) fillIssues(ctx context.Context) error {
	services := d.store.forge(d.log)
	access := map[string]*repo.Access{}
	for login, caller := range d.callers {
		found, err := services.Repos.Find(ctx, caller, "alice", "greenhouse")
		if err != nil {
			return err
		}
		access[login] = &found.Access
	}
	if err := fillMilestones(ctx, milestone.New(d.store.db), access["alice"]); err != nil {
		return err
	}
	comments := comment.New(d.store.db, services.Issues)
	for _, i := range demoIssues {
		if err := fillIssue(ctx, services.Issues, comments, access, &i); err != nil {
			return err
		}
	}
	return nil
}

func fillMilestones(ctx context.Context, s *milestone.Service, a *repo.Access) error {
	due := db.FromTime(time.Now().AddDate(0, 2, 0).Truncate(24 * time.Hour))
	for _, m := range []milestone.Edit{
		{Title: given("Before the summer"), Description: given("What the plants cannot wait for"),
			DueOn: web.Opt[db.Time]{Set: true, Value: due}},
		{Title: given("Some day")},
	} {
		if _, err := s.Create(ctx, a, m); err != nil {
			return err
		}
	}
	return nil
}

func given(s string) web.Opt[string] { return web.Opt[string]{Set: true, Value: s} }

// fillIssue files an issue and lets people talk about it. Alice may do what bob,
// who filed it, may not.
func fillIssue(
	ctx context.Context, s *issue.Service, comments *comment.Service, access map[string]*repo.Access,
	i *demoIssue,
) error {
	made, err := s.Create(ctx, access[i.by], issue.NewIssue{Title: i.title, Text: issue.NewText(i.body),
		Labels: i.labels, Assignees: i.assignees, Field: "assignees", Milestone: i.milestone})
	if err != nil {
		return err
	}
	for _, c := range i.comments {
		if _, err := comments.Create(ctx, access[c.by], made.Number, issue.NewText(c.body)); err != nil {
			return err
		}
	}
	_, err = s.Change(ctx, access["alice"], made.Number, func(c *issue.Change) error {
		switch i.state {
		case "closed":
			c.SetState(issue.Closed, issue.Completed)
		case "not_planned":
			c.SetState(issue.Closed, issue.NotPlanned)
		}
		if i.lock != "" {
			c.SetLock(true, &i.lock)
		}
		return nil
	})
	return err
}
