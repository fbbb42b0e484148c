package issuetest

import (
	"cmp"
	"container/heap"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/label"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// drawn is an issue as it will be, with what no row of issues holds.
type drawn struct {
	issue.Issue
	has []posting.Property // all its postings, in the order of their key
}

// batch is how many issues are added in one transaction.
const batch = 4000

// issues adds the issues of all repositories, mixed, in the order of creation,
// and with them what happened to them until the next one.
func (f *filler) issues(ctx context.Context) error {
	total := 0
	left := make([]int, len(f.made.Repos))
	for n, r := range f.made.Repos {
		left[n] = r.Issues
		total += r.Issues
	}
	f.open = map[repo.ID]int64{}
	numbers := make([]int64, len(left))
	step := end.Sub(begin) / time.Duration(max(1, total))
	for done := 0; done < total; {
		list := make([]*drawn, 0, batch)
		for ; done < total && len(list) < batch; done++ {
			at := weighted(f.random, left, total-done)
			left[at]--
			numbers[at]++
			when := begin.Add(time.Duration(done)*step + time.Duration(f.random.Int64N(int64(step))))
			list = append(list, f.draw(f.made.Repos[at], numbers[at], when))
		}
		if err := f.add(ctx, list); err != nil {
			return err
		}
	}
	return f.addHappened(ctx, f.later.until(db.FromTime(end)))
}

// weighted draws one of the repositories by what is left of it.
func weighted(r *rand.Rand, left []int, total int) int {
	n := r.IntN(total)
	for at, l := range left {
		if n -= l; n < 0 {
			return at
		}
	}
	return len(left) - 1
}

// rank draws one of n, the first twice as often as the second, three times as
// often as the third, and so on.
func rank(r *rand.Rand, n int) int {
	sum := 0.0
	for k := range n {
		sum += 1 / float64(k+1)
	}
	x := r.Float64() * sum
	for k := range n {
		if x -= 1 / float64(k+1); x < 0 {
			return k
		}
	}
	return n - 1
}

// ranks draws up to n different ones.
func ranks(r *rand.Rand, n, of int) []int {
	var list []int
	for range n {
		if k := rank(r, of); !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}

// share draws a number: each entry says how many of 100 get its index.
func share(r *rand.Rand, percent ...int) int {
	n := r.IntN(100)
	for k, p := range percent {
		if n -= p; n < 0 {
			return k
		}
	}
	return len(percent)
}

// draw creates an issue that was filed at a time.
func (f *filler) draw(r *Repo, number int64, when time.Time) *drawn {
	x := f.random
	people := f.made.People
	d := &drawn{}
	d.RepoID, d.Number, d.Title, d.State = r.ID, number, title(x), issue.Open
	author := people[rank(x, len(people))]
	d.AuthorID = author.ID
	d.CreatedAt = db.FromTime(when)
	until := end.Sub(when)
	d.UpdatedAt = db.FromTime(when.Add(min(until, time.Duration(x.ExpFloat64()*float64(30*24*time.Hour)))))
	var logins []string
	involved := []*account.Account{author}
	for _, k := range ranks(x, share(x, 40, 40, 20), len(people)) {
		if x.IntN(3) > 0 {
			k %= team
		}
		if p := people[min(k, len(people)-1)]; !slices.Contains(logins, p.Login) {
			logins, involved = append(logins, p.Login), append(involved, p)
			d.has = append(d.has, posting.ByMention.OfUser(p.ID))
		}
	}
	text := body(x, logins)
	d.Body = &text
	for _, k := range ranks(x, share(x, 20, 45, 25, 10), len(r.Labels)) {
		d.Labels = append(d.Labels, r.Labels[k].ID)
	}
	for _, k := range ranks(x, share(x, 45, 43, 12), min(team, len(people))) {
		d.Assignees = append(d.Assignees, people[k].ID)
		involved = append(involved, people[k])
	}
	if x.IntN(100) < 65 && len(r.Milestones) > 0 {
		d.MilestoneID = r.Milestones[rank(x, len(r.Milestones))].ID
	}
	if x.IntN(2) == 0 {
		d.Comments = min(100, 1+int64(x.ExpFloat64()*3))
	}
	if x.IntN(5) > 0 {
		f.closeIssue(d)
	}
	if f.o.History {
		involved = f.history(d, r, involved)
	}
	f.index(d, involved)
	return d
}

// closeIssue closes an issue at its last change.
func (f *filler) closeIssue(d *drawn) {
	d.State, d.StateReason = issue.Closed, issue.Completed
	if f.random.IntN(6) == 0 {
		d.StateReason = issue.NotPlanned
	}
	d.ClosedAt, d.ClosedBy = d.UpdatedAt, f.made.People[f.random.IntN(min(team, len(f.made.People)))].ID
}

// index creates the postings of an issue and counts them.
func (f *filler) index(d *drawn, involved []*account.Account) {
	for _, p := range involved {
		if by := posting.BySubscriber.OfUser(p.ID); !slices.Contains(d.has, by) {
			d.has = append(d.has, by)
		}
	}
	d.has = append(d.has, d.Properties()...)
	slices.SortFunc(d.has, func(a, b posting.Property) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value))
	})
	for _, p := range d.has {
		f.counts[counter{d.RepoID, p, d.State}]++
	}
	if d.State == issue.Open {
		f.open[d.RepoID]++
	}
}

// happened is a comment (it has a body) or an event of an issue.
type happened struct {
	issue *issue.Issue // has its id once its row is there
	body  string
	event issue.Event
	at    db.Time
}

// history creates the comments and events of an issue, and returns its participants
// and commenters.
func (f *filler) history(d *drawn, r *Repo, involved []*account.Account) []*account.Account {
	note := func(k issue.EventKind, at db.Time, e issue.Event) {
		e.Kind, e.ActorID = k, cmp.Or(e.ActorID, d.AuthorID)
		heap.Push(&f.later, &happened{issue: &d.Issue, event: e, at: at})
	}
	for _, id := range d.Labels {
		l := r.Labels[slices.IndexFunc(r.Labels, func(l *label.Label) bool { return l.ID == id })]
		note(issue.EventLabeled, d.CreatedAt,
			issue.Event{Detail: issue.Detail{Label: &issue.EventLabel{Name: l.Name, Color: l.Color}}})
	}
	for _, id := range d.Assignees {
		note(issue.EventAssigned, d.CreatedAt, issue.Event{UserID: id})
	}
	for _, m := range r.Milestones {
		if m.ID == d.MilestoneID {
			note(issue.EventMilestoned, d.CreatedAt, issue.Event{Detail: issue.Detail{Milestone: m.Title}})
		}
	}
	for _, p := range d.has {
		if p.Kind == posting.ByMention {
			user := account.ID(p.Value)
			note(issue.EventMentioned, d.CreatedAt, issue.Event{ActorID: user, UserID: user})
			note(issue.EventSubscribed, d.CreatedAt, issue.Event{UserID: user})
		}
	}
	if d.State == issue.Closed {
		note(issue.EventClosed, d.ClosedAt, issue.Event{ActorID: d.ClosedBy,
			Detail: issue.Detail{StateReason: d.StateReason.String()}})
	}
	for range d.Comments {
		by := f.made.People[rank(f.random, len(f.made.People))]
		at := d.CreatedAt + db.Time(f.random.Int64N(int64(d.UpdatedAt-d.CreatedAt)+1))
		heap.Push(&f.later, &happened{issue: &d.Issue, body: sentence(f.random),
			event: issue.Event{ActorID: by.ID}, at: at})
		involved = append(involved, by)
	}
	if d.Comments > 0 {
		f.counts[counter{d.RepoID, posting.Property{Kind: ofComments}, 0}] += d.Comments
	}
	return involved
}

// pending is what will have happened, the earliest first: ids of comments and
// events grow with time, as those of issues do.
type pending []*happened

func (p pending) Len() int           { return len(p) }
func (p pending) Less(i, j int) bool { return p[i].at < p[j].at }
func (p pending) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *pending) Push(x any)        { *p = append(*p, x.(*happened)) }
func (p *pending) Pop() any {
	old := *p
	last := old[len(old)-1]
	*p = old[:len(old)-1]
	return last
}

// until takes what happened up to a time.
func (p *pending) until(t db.Time) []*happened {
	var list []*happened
	for len(*p) > 0 && (*p)[0].at <= t {
		list = append(list, heap.Pop(p).(*happened))
	}
	return list
}
