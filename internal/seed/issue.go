package seed

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// tracker schedules everything that happens to a repository's issues and pull
// requests.
func (a *applier) tracker(r *Repo) {
	for i := range r.Statuses {
		s := &r.Statuses[i]
		a.at(s.CreatedAt, &s.position, func(ctx context.Context) error {
			access, err := a.access(ctx, r)
			if err != nil {
				return err
			}
			sha, err := a.repos.Resolve(ctx, access, s.Ref)
			if err != nil {
				return err
			}
			return a.status(ctx, r, s, string(sha))
		})
	}
	for i := range r.Issues {
		a.issue(r, &r.Issues[i], int64(i+1))
	}
	for i := range r.Pulls {
		a.pull(r, &r.Pulls[i], int64(len(r.Issues)+i+1))
	}
}

func (a *applier) at(when time.Time, p *position, do func(ctx context.Context) error) {
	a.events = append(a.events, event{when, p, do})
}

// numbered is what the answer to a new issue or pull request tells.
type numbered struct {
	Number    int64                    `json:"number"`
	ID        int64                    `json:"id"`
	Labels    []struct{ Name string }  `json:"labels"`
	Assignees []struct{ Login string } `json:"assignees"`
	Milestone *struct{ Number int64 }  `json:"milestone"`
	Head      struct{ SHA string }     `json:"head"`
}

func (a *applier) issue(r *Repo, i *Issue, number int64) {
	path := func(parts ...string) string {
		return r.path(append([]string{"issues", strconv.FormatInt(number, 10)}, parts...)...)
	}
	a.at(i.CreatedAt, &i.position, func(ctx context.Context) error {
		body := a.equipment(r, &i.Thread)
		body["title"] = i.Title
		if i.Body != nil {
			body["body"] = *i.Body
		}
		var made numbered
		if err := a.send(ctx, i.Author, "POST", r.path("issues"), body, &made); err != nil {
			return err
		}
		if made.Number != number {
			return errNo("it got the number %d instead of %d", made.Number, number)
		}
		return a.setRelations(ctx, r, &i.Thread, &made)
	})
	a.thread(r, &i.position, &i.Thread, number)
	if i.State == "closed" {
		a.at(i.ClosedAt, &i.position, func(ctx context.Context) error {
			return a.send(ctx, i.ClosedBy, "PATCH",
				path(), fields{"state": "closed"}.text("state_reason", i.StateReason), nil)
		})
	}
	a.lock(r, &i.position, &i.Thread, number, i.ClosedAt)
}

// equipment are labels, assignees and milestone as a request has them.
func (a *applier) equipment(r *Repo, h *Thread) fields {
	body := fields{}.texts("labels", h.Labels).texts("assignees", h.Assignees)
	if h.Milestone != "" {
		body["milestone"] = slices.IndexFunc(r.Milestones, func(m Milestone) bool {
			return m.Title == h.Milestone
		}) + 1
	}
	return body
}

// setRelations sets, as an administrator of the repository, what the author may not set.
func (a *applier) setRelations(ctx context.Context, r *Repo, h *Thread, made *numbered) error {
	body := a.equipment(r, h)
	if len(made.Labels) > 0 {
		delete(body, "labels")
	}
	if len(made.Assignees) > 0 {
		delete(body, "assignees")
	}
	if made.Milestone != nil {
		delete(body, "milestone")
	}
	if len(body) == 0 {
		return nil
	}
	return a.send(ctx, r.admin, "PATCH", r.path("issues", strconv.FormatInt(made.Number, 10)), body, nil)
}

// thread schedules comments and reactions.
func (a *applier) thread(r *Repo, p *position, h *Thread, number int64) {
	n := strconv.FormatInt(number, 10)
	a.react(h.CreatedAt, h.Reactions, func() string { return r.path("issues", n, "reactions") })
	for i := range h.Comments {
		c := &h.Comments[i]
		var made struct {
			ID int64 `json:"id"`
		}
		a.at(c.CreatedAt, &c.position, func(ctx context.Context) error {
			return a.send(ctx, c.Author, "POST", r.path("issues", n, "comments"),
				fields{"body": c.Body}, &made)
		})
		a.react(c.CreatedAt, c.Reactions, func() string {
			return r.path("issues", "comments", strconv.FormatInt(made.ID, 10), "reactions")
		})
	}
}

// react schedules reactions to what is going to have an address.
func (a *applier) react(when time.Time, list Reactions, path func() string) {
	for i := range list {
		re := &list[i]
		for _, login := range re.Logins {
			a.at(when, &re.position, func(ctx context.Context) error {
				return a.send(ctx, login, "POST", path(), fields{"content": re.Content}, nil)
			})
		}
	}
}

// lock schedules the end of a conversation, after everything else in it.
func (a *applier) lock(r *Repo, p *position, h *Thread, number int64, closed time.Time) {
	if !h.Locked.Locked {
		return
	}
	when := latest(h.CreatedAt, closed)
	for _, c := range h.Comments {
		when = latest(when, c.CreatedAt)
	}
	a.at(when, p, func(ctx context.Context) error {
		return a.send(ctx, r.admin, "PUT", r.path("issues", strconv.FormatInt(number, 10), "lock"),
			fields{}.text("lock_reason", h.Locked.Reason), nil)
	})
}

func (a *applier) status(ctx context.Context, r *Repo, s *Status, sha string) error {
	body := fields{"state": s.State}.text("context", s.Context).text("description",
		s.Description).text("target_url", s.TargetURL)
	return a.send(ctx, s.Creator, "POST", r.path("statuses", sha), body, nil)
}
