package pull

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// queueView is the merge queue of a branch.
type queueView struct {
	page.Frame
	Queue *pull.Queue
	Rows  []queueRow
}

// queueRow is an entry of a merge queue.
type queueRow struct {
	*pull.QueueEntry
	User *page.User
}

// Words say what an entry waits for.
func (r queueRow) Words() string { return queueWords(r.State) }

func queueWords(s pull.QueueEntryState) string {
	switch s {
	case pull.Checked:
		return "waits for checks of its merge group"
	case pull.Mergeable:
		return "is ready to be merged"
	case pull.Unmerging:
		return "has checks that failed"
	}
	return "waits for its merge group"
}

// GET /{owner}/{repo}/queue/{branch...}
//
// Queue shows the merge queue of a branch. Error: 404 for a branch without one.
func (p *Pages) Queue(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v := &queueView{}
	var err error
	if v.Queue, err = p.of.Pulls.QueueOf(r.Context(), a, strings.TrimSuffix(web.Param(r, "branch"), "/")); err != nil {
		return err
	}
	if v.Queue == nil {
		return errs.Absent()
	}
	if v.Frame, err = p.kit.RepoFrame(r, a, "pulls", "Merge queue of "+v.Queue.Branch); err != nil {
		return err
	}
	for _, e := range v.Queue.Entries {
		v.Rows = append(v.Rows, queueRow{e, page.NewUser(e.By)})
	}
	return p.t.Page(w, r, "queue.html", v)
}

// POST /{owner}/{repo}/pull/{number}/queue
//
// SetQueued puts the pull request into the merge queue of its base, if its head is the one that the form showed, or
// with off=1 takes it out.
func (p *Pages) SetQueued(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	need, do := account.Push, func(ctx context.Context, number int64) error {
		return p.of.Pulls.Enqueue(ctx, a, number, pull.QueueOptions{SHA: f.Get("sha")})
	}
	if f.Checked("off") {
		need, do = account.Pull, func(ctx context.Context, number int64) error {
			return p.of.Pulls.Dequeue(ctx, a, number)
		}
	}
	return p.led(w, r, a, f, "merge", p.change(r, a, need, do))
}

// Queued returns the entry of the pull request in the merge queue, or nil.
func (b *box) Queued() *queueRow {
	e := b.Queue.Find(b.Pull.Number)
	if e == nil {
		return nil
	}
	return &queueRow{e, page.NewUser(e.By)}
}

// QueuePath is the address of the queue.
func (b *box) QueuePath() string {
	return b.Repo.Path + "/queue" + web.Path(strings.Split(b.Queue.Branch, "/")...)
}

// MayQueue reports whether the button puts the pull request into the queue.
func (b *box) MayQueue() bool {
	s := b.State()
	return b.Queue != nil && (s == "clean" || s == "unstable") && b.MayMerge && b.Queued() == nil
}

// MayWait reports whether the viewer may have the pull request join the queue once its rules are met.
func (b *box) MayWait() bool { return b.Queue != nil && b.MayEnable() }

// MayUnqueue reports whether the viewer may take the pull request out of the queue.
func (b *box) MayUnqueue() bool { return b.of.MayDequeue() }
