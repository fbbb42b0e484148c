package seed

import (
	"context"
	"strconv"
	"strings"
)

func (a *applier) pull(r *Repo, p *Pull, number int64) {
	n := strconv.FormatInt(number, 10)
	var made numbered
	a.at(p.CreatedAt, &p.position, func(ctx context.Context) error {
		body := fields{"title": p.Title, "head": p.Head, "base": p.Base, "draft": p.Draft}
		if p.Body != nil {
			body["body"] = *p.Body
		}
		if err := a.send(ctx, p.Author, "POST", r.path("pulls"), body, &made); err != nil {
			return err
		}
		if made.Number != number {
			return errNo("it got the number %d instead of %d", made.Number, number)
		}
		if err := a.setRelations(ctx, r, &p.Thread, &numbered{Number: made.Number}); err != nil ||
			len(p.Reviewers) == 0 {
			return err
		}
		return a.send(ctx, r.admin, "POST", r.path("pulls", n, "requested_reviewers"),
			fields{"reviewers": p.Reviewers}, nil)
	})
	a.thread(r, &p.position, &p.Thread, number)
	for i := range p.Statuses {
		s := &p.Statuses[i]
		a.at(s.CreatedAt, &s.position, func(ctx context.Context) error {
			return a.status(ctx, r, s, made.Head.SHA)
		})
	}
	for i := range p.Reviews {
		v := &p.Reviews[i]
		a.at(v.CreatedAt, &v.position, func(ctx context.Context) error {
			return a.send(ctx, v.Author, "POST", r.path("pulls", n, "reviews"), v.fields(), nil)
		})
	}
	end := p.ClosedAt
	switch p.State {
	case "closed":
		a.at(p.ClosedAt, &p.position, func(ctx context.Context) error {
			return a.send(ctx, p.ClosedBy, "PATCH", r.path("pulls", n), fields{"state": "closed"}, nil)
		})
	case "merged":
		end = p.MergedAt
		a.at(p.MergedAt, &p.position, func(ctx context.Context) error {
			if err := a.server.Settle(ctx); err != nil {
				return err
			}
			err := a.send(ctx, p.MergedBy, "PUT", r.path("pulls", n, "merge"),
				fields{}.text("merge_method", p.MergeMethod), nil)
			if err != nil {
				return err
			}
			return a.server.Settle(ctx) // what the merge leads to happens at its time
		})
	}
	a.lock(r, &p.position, &p.Thread, number, end)
}

// fields is the review as a request has it.
func (v *Review) fields() fields {
	body := fields{"event": strings.ToUpper(v.State)}.text("body", v.Body)
	var list []fields
	for _, c := range v.Comments {
		one := fields{"path": c.Path, "line": c.Line, "body": c.Body}.text("side", strings.ToUpper(c.Side))
		if c.StartLine != 0 {
			one["start_line"] = c.StartLine
		}
		list = append(list, one)
	}
	if list != nil {
		body["comments"] = list
	}
	return body
}
