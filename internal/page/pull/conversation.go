package pull

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/page/talk"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/web"
)

type conversationView struct {
	*scene
	Talk      *talk.Thread
	Box       *box
	Reviewers []reviewer
	Waiting   []*thread // of the viewer's pending review
	Batch     bool      // there are suggestions that the viewer may apply together
	Dismiss   bool      // the viewer may dismiss reviews
	Restore   bool      // the viewer may create the deleted head branch again
	More      bool      // there are more review comments than the page shows
}

// reviewed is what a review in the conversation shows besides its text.
type reviewed struct {
	State   string // approved, changes_requested, commented, dismissed
	ID      int64
	Mine    bool
	Dismiss bool   // the viewer may dismiss it
	Hidden  string // why its text is hidden; empty: it is shown
	Threads []*thread
	Scene   *scene
}

// GET /{owner}/{repo}/pull/{file}
//
// Conversation shows the pull request that {file} numbers: what was said and done, and what a merge would
// meet. The number of an issue leads to the issue's page; N.diff and N.patch are what it changes (decision
// 30). Error: 404.
func (p *Pages) Conversation(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	number := web.Param(r, "file")
	if strings.Contains(number, ".") {
		return p.of.Text(w, r, a)
	}
	web.From(r.Context()).SetParam("number", number)
	mark, err := p.mark(r, a)
	if err != nil {
		return err
	}
	s, err := p.scene(r, a, "conversation")
	if err != nil {
		return p.orIssue(w, r, a, number, err)
	}
	v := &conversationView{scene: s}
	if err := p.talk.Issues.Render(r.Context(), s.of.Issue); err != nil {
		return err
	}
	if v.Talk, err = p.talk.Read(r, &s.Frame, page.NewIssue(s.of.Issue)); err != nil {
		return err
	}
	v.Talk.Mark = mark
	if s.Pull.Base.Ref == a.DefaultBranch { // elsewhere a merge closes nothing
		if err := p.talk.Link(r, v.Talk, s.of.Issue.Issue); err != nil {
			return err
		}
	}
	if err := p.addCommits(r.Context(), a, v); err != nil {
		return err
	}
	threads, more, err := p.threads(r.Context(), a, s)
	if err != nil {
		return err
	}
	v.More = more
	if v.Box, err = p.box(r, a, s); err != nil {
		return err
	}
	v.Restore = s.MayMerge && mayRestore(a, s.of.Pull, v.Box.HeadGone)
	v.Reviewers = reviewersOf(s)
	if v.Dismiss = s.MayMerge; v.Dismiss {
		if v.Dismiss, err = p.talk.Reviews.MayDismiss(r.Context(), a, s.Pull.Base.Ref); err != nil {
			return err
		}
	}
	v.place(threads)
	return p.t.Page(w, r, "conversation.html", v)
}

// mark is the present mark of the request's pull request, see package live.
func (p *Pages) mark(r *http.Request, a *repo.Access) (string, error) {
	number, err := web.Number(r, "number")
	if err != nil {
		return "", err
	}
	return p.talk.Live.Mark(r.Context(), a, number)
}

// commitLine is a commit among what was said.
type commitLine struct {
	page.Commit
	Path string
}

// addCommits puts the first commits between what was said, by the times at which they were made.
func (p *Pages) addCommits(ctx context.Context, a *repo.Access, v *conversationView) error {
	found, err := p.of.Git.CommitsOfRange(ctx, a, v.of.Range(), web.Page{Number: 1, Size: perPage})
	if err != nil {
		return err
	}
	list := page.NewCommits(found.Rows)
	entries := make([]*talk.Entry, len(list))
	var last time.Time
	for n := range list {
		if when := list[n].Commit.Committer.Date; when.After(last) { // in their order, regardless of their dates
			last = when
		}
		entries[n] = &talk.Entry{Event: "committed",
			Extra: &commitLine{list[n], v.Repo.Path + "/commit/" + list[n].SHA}}
		entries[n].CreatedAt = last.Add(-time.Second) // before what was said of it in the same second
	}
	v.Talk.Weave(entries...)
	return nil
}

// orIssue leads to an issue if the number is that of one.
func (p *Pages) orIssue(
	w http.ResponseWriter, r *http.Request, a *repo.Access, number string, err error,
) error {
	if !errs.Is(err, errs.NotFound) {
		return err
	}
	n, ok := web.ParseNumber(number)
	if !ok {
		return err
	}
	if _, missing := p.talk.Issues.ByNumber(r.Context(), a, n); missing != nil {
		return err
	}
	http.Redirect(w, r, web.Path(a.Owner.Login, a.Name, "issues", number), http.StatusFound)
	return nil
}

// place puts threads below the reviews that began them. Reviews that only answered stand in the threads
// alone. The timeline has what a review said when it was submitted, Progress what it says now.
func (v *conversationView) place(threads []*thread) {
	now, hidden := map[int64]string{}, map[int64]string{}
	for _, one := range v.Progress.Reviews {
		now[one.ID], hidden[one.ID] = one.State.String(), one.Hidden.String()
	}
	of := map[int64][]*thread{}
	for _, t := range threads {
		if t.Pending {
			v.Waiting = append(v.Waiting, t)
			continue
		}
		of[t.Comments[0].Review] = append(of[t.Comments[0].Review], t)
		for _, c := range t.Comments {
			for _, part := range c.Parts {
				v.Batch = v.Batch || part.Suggestion != nil && part.Suggestion.MayApply
			}
		}
	}
	keep := func(list []*talk.Entry) []*talk.Entry {
		return slices.DeleteFunc(list, func(e *talk.Entry) bool {
			if e.Event != "reviewed" {
				return false
			}
			done := &reviewed{State: strings.ToLower(cmp.Or(now[e.ID], e.State)), ID: e.ID, Threads: of[e.ID],
				Hidden: hidden[e.ID], Scene: v.scene}
			done.Mine = v.Viewer != nil && e.User != nil && e.User.ID == v.Viewer.ID
			done.Dismiss = v.Dismiss && (done.State == "approved" || done.State == "changes_requested")
			e.Extra = done
			return done.State == "commented" && len(done.Threads) == 0 && strings.TrimSpace(e.Text) == ""
		})
	}
	v.Talk.Entries, v.Talk.Tail = keep(v.Talk.Entries), keep(v.Talk.Tail)
}

// reviewer is somebody who reviewed, or is asked to.
type reviewer struct {
	page.User
	State  string // approved, changes_requested, commented, dismissed; empty: asked and not answered
	Review int64
	Again  bool // may be asked once more
	Owner  bool // is asked as a code owner
}

// reviewersOf are those who are asked, and the latest word of each who reviewed.
func reviewersOf(s *scene) (list []reviewer) {
	asked := map[int64]bool{}
	for _, u := range s.Pull.Reviewers {
		asked[u.ID] = true
		list = append(list, reviewer{User: u, Owner: s.of.Owners[account.ID(u.ID)]})
	}
	last := latest(s.Progress.Reviews)
	seen := map[account.ID]bool{}
	for _, v := range s.Progress.Reviews {
		u := userOf(v)
		if seen[v.AuthorID] || asked[u.ID] || s.Pull.User != nil && u.ID == s.Pull.User.ID {
			continue
		}
		seen[v.AuthorID] = true
		l := last[v.AuthorID]
		list = append(list, reviewer{User: u, State: strings.ToLower(l.State.String()), Review: l.ID,
			Again: s.MaySort && s.Pull.State == "open"})
	}
	return list
}

// latest is of each author the last review that is more than a comment, or else the last one.
func latest(reviews []review.Verdict) map[account.ID]review.Verdict {
	last := map[account.ID]review.Verdict{}
	for _, v := range reviews {
		now, ok := last[v.AuthorID]
		if ok && v.State == review.Commented && now.State != review.Commented {
			continue
		}
		last[v.AuthorID] = v
	}
	return last
}
