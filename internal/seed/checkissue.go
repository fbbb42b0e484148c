package seed

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/label"
	"arbor/internal/reaction"
)

var sixDigits = regexp.MustCompile(`^[0-9a-fA-F]{6}$`)

// checkTracker checks labels, milestones, issues and pull requests, and gives
// each a time.
func (c *checker) checkTracker(r *Repo) {
	labels := map[string]bool{}
	for i := range r.Labels {
		l := &r.Labels[i]
		if folded := label.Fold(l.Name); labels[folded] {
			c.wrong(&l.position, "name", "%q is declared above", l.Name)
		} else {
			labels[folded] = true
		}
		if l.Color != "" && !sixDigits.MatchString(l.Color) {
			c.wrong(&l.position, "color", "must be six hexadecimal digits, in quotes")
		}
	}
	if r.DefaultLabels == nil || *r.DefaultLabels {
		for _, name := range label.Defaults() {
			labels[label.Fold(name)] = true
		}
	}
	milestones := map[string]bool{}
	for i := range r.Milestones {
		m := &r.Milestones[i]
		c.orOwner(&m.position, "creator", &m.Creator, r)
		if milestones[m.Title] {
			c.wrong(&m.position, "title", "%q is declared above", m.Title)
		}
		milestones[m.Title] = true
	}
	c.checkStatuses(r, r.Statuses, r.CreatedAt, true)
	t := &threads{c: c, r: r, labels: labels, milestones: milestones, last: r.CreatedAt}
	for i := range r.Issues {
		t.issue(&r.Issues[i])
	}
	for i := range r.Pulls {
		t.pull(&r.Pulls[i])
	}
}

// checkStatuses checks the statuses of builds, whose times start at from.
func (c *checker) checkStatuses(r *Repo, list []Status, from time.Time, named bool) {
	for i := range list {
		s := &list[i]
		c.orOwner(&s.position, "creator", &s.Creator, r)
		if !named && s.Ref != "" {
			c.wrong(&s.position, "ref", "this is a status of the head")
		}
		if named && s.Ref == "" {
			s.Ref = r.DefaultBranch
		}
		if named && !r.names.has(s.Ref) {
			c.wrong(&s.position, "ref", "branch or tag %q not found", s.Ref)
		}
		from = c.next(&s.position, "created_at", &s.CreatedAt, from, time.Minute)
	}
}

// next sets a time: step after what came before, unless the seed
// has another one, which cannot be earlier than that.
func (c *checker) next(p *position, key string, at *time.Time, before time.Time, step time.Duration) time.Time {
	if at.IsZero() {
		*at = before.Add(step)
	} else if at.Before(before) {
		c.wrong(p, key, "is before %s, the time of what comes before it", before.Format(time.RFC3339))
	}
	return *at
}

// threads checks the issues and pull requests of a repository, in the order of
// their numbers, which is that of their times.
type threads struct {
	c                  *checker
	r                  *Repo
	labels, milestones map[string]bool
	last               time.Time // of the one before
}

// start checks what all have in common, and returns when the last of it happens.
func (t *threads) start(p *position, h *Thread) time.Time {
	c, r := t.c, t.r
	if r.HasIssues != nil && !*r.HasIssues && strings.Contains(p.key, "issues") {
		c.wrong(p, "", "%s has no issues", r.Name)
	}
	c.orOwner(p, "author", &h.Author, r)
	c.orOwner(p, "closed_by", &h.ClosedBy, r)
	if strings.TrimSpace(h.Title) == "" {
		c.wrong(p, "title", "is blank")
	}
	for _, l := range h.Labels {
		if !t.labels[label.Fold(l)] {
			c.wrong(p, "labels", "%s has no label %q", r.Name, l)
		}
	}
	c.people(p, "assignees", h.Assignees, map[string]bool{})
	if h.Milestone != "" && !t.milestones[h.Milestone] {
		c.wrong(p, "milestone", "%s has no milestone %q", r.Name, h.Milestone)
	}
	t.last = c.next(p, "created_at", &h.CreatedAt, t.last, time.Hour)
	c.reactions(h.Reactions)
	at := h.CreatedAt
	for i := range h.Comments {
		m := &h.Comments[i]
		c.orOwner(&m.position, "author", &m.Author, r)
		at = c.next(&m.position, "created_at", &m.CreatedAt, at, time.Minute)
		c.reactions(m.Reactions)
	}
	return at
}

func (c *checker) reactions(list Reactions) {
	for i := range list {
		re := &list[i]
		if _, ok := reaction.ParseContent(re.Content); !ok {
			c.wrong(&re.position, "", "is not a reaction")
		}
		c.people(&re.position, "", re.Logins, map[string]bool{})
	}
}

func (t *threads) issue(i *Issue) {
	end := t.start(&i.position, &i.Thread)
	closed := i.State == "closed"
	for _, key := range []string{"state_reason", "closed_at", "closed_by"} {
		if i.lines[key] > 0 && !closed {
			t.c.wrong(&i.position, key, "the issue is not closed")
		}
	}
	if closed {
		t.close(&i.position, "closed_at", &i.ClosedAt, i.CreatedAt, end)
	}
}

// close sets the time of an end: after everything, unless the seed has one.
func (t *threads) close(p *position, key string, at *time.Time, created, end time.Time) {
	if at.IsZero() {
		*at = end.Add(time.Minute)
	} else if at.Before(created) {
		t.c.wrong(p, key, "is before created_at")
	}
}

func (t *threads) pull(p *Pull) {
	c, r := t.c, t.r
	end := t.start(&p.position, &p.Thread)
	if p.Base == "" {
		p.Base = r.DefaultBranch
	}
	if !r.names.hasBranch(p.Base) {
		c.wrong(&p.position, "base", "%s has no branch %q", r.Name, p.Base)
	}
	t.head(p)
	c.people(&p.position, "reviewers", p.Reviewers, map[string]bool{})
	at := p.CreatedAt
	for i := range p.Reviews {
		v := &p.Reviews[i]
		c.known(&v.position, "author", v.Author)
		at = c.next(&v.position, "created_at", &v.CreatedAt, at, time.Minute)
		if v.State != "approve" && v.Body == "" && len(v.Comments) == 0 {
			c.wrong(&v.position, "state", "a review that does not approve has a body or comments")
		}
	}
	end = latest(end, at)
	c.checkStatuses(r, p.Statuses, p.CreatedAt, false)
	for _, s := range p.Statuses {
		end = latest(end, s.CreatedAt)
	}
	for state, keys := range map[string][]string{"closed": {"closed_at", "closed_by"},
		"merged": {"merge_method", "merged_at", "merged_by"}} {
		for _, key := range keys {
			if p.lines[key] > 0 && p.State != state {
				c.wrong(&p.position, key, "the pull request is not %s", state)
			}
		}
	}
	c.orOwner(&p.position, "merged_by", &p.MergedBy, r)
	switch p.State {
	case "closed":
		t.close(&p.position, "closed_at", &p.ClosedAt, p.CreatedAt, end)
	case "merged":
		t.close(&p.position, "merged_at", &p.MergedAt, p.CreatedAt, end)
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// head checks that there is the branch to be merged.
func (t *threads) head(p *Pull) {
	owner, branch, other := strings.Cut(p.Head, ":")
	if !other {
		if !t.r.names.hasBranch(p.Head) {
			t.c.wrong(&p.position, "head", "%s has no branch %q", t.r.Name, p.Head)
		}
		return
	}
	for _, r := range t.c.s.Repos {
		if account.Fold(r.owner) == account.Fold(owner) && (r.Name == t.r.Name || t.r.related(&r)) {
			if !r.names.hasBranch(branch) {
				t.c.wrong(&p.position, "head", "%s has no branch %q", r.Name, branch)
			}
			return
		}
	}
	t.c.wrong(&p.position, "head", "%q has no fork of %s", owner, t.r.Name)
}

// related reports whether two repositories are of one network.
func (r *Repo) related(other *Repo) bool {
	return slices.Contains(r.line(), other.line()[0])
}

// line is where a repository comes from, the root first.
func (r *Repo) line() []string {
	var list []string
	for p := r; p != nil; p = p.parent {
		list = append([]string{p.Name}, list...)
	}
	return list
}
