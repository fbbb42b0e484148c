package pull

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/page"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/web"
)

// box is what a merge would meet, and what the viewer may do about it.
type box struct {
	*scene
	*pull.MergeBox
	Queue    *pull.Queue // nil: the base has no merge queue
	Sum      rollup
	Approved []page.User
	Against  []page.User // who ask for changes

	Method  string    // the form shows this one first
	Typed   [2]string // title and message, where the form is shown again
	Refused *page.Problem
}

// State is what the box says, in one word: merged, closed, draft, unknown, dirty, gone, unstable, clean.
func (b *box) State() string {
	switch {
	case b.Pull.Merged:
		return "merged"
	case b.Pull.State == "closed":
		return "closed"
	case b.HeadGone && b.Pull.Head.Repo == "":
		return "gone"
	case b.Pull.Draft:
		return "draft"
	case !b.Known:
		return "unknown"
	case b.Pull.Mergeable != nil && !*b.Pull.Mergeable:
		return "dirty"
	case len(b.Rules) > 0:
		return "blocked"
	case b.Sum.Mark() == "failure" || b.Sum.Mark() == "pending" || len(b.Against) > 0:
		return "unstable"
	}
	return "clean"
}

// Ready reports that the button merges.
func (b *box) Ready() bool {
	return slices.Contains([]string{"clean", "unstable", "blocked"}, b.State()) && b.MayMerge && len(b.Methods) > 0
}

// Shell is the head's or the base's name as a shell takes it: branches may have names that a shell would run.
func (b *box) Shell(name string) string {
	safe := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("._/-", c)
	}
	if strings.TrimFunc(name, safe) == "" {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// AutoBy returns who enabled auto-merge, or nil.
func (b *box) AutoBy() *page.User {
	if b.of.Auto == nil {
		return nil
	}
	return page.NewUser(b.of.Auto.By)
}

// AutoMethod returns the method of the auto-merge.
func (b *box) AutoMethod() string { return b.of.Auto.Name() }

// MayEnable reports whether the viewer may enable auto-merge.
func (b *box) MayEnable() bool {
	return b.State() == "blocked" && b.Ready() && b.AllowsAuto && b.of.Auto == nil
}

// MayDisable reports whether the viewer may disable auto-merge.
func (b *box) MayDisable() bool { return b.of.MayDisableAuto() }

// MayRevert reports that the viewer may undo the merge.
func (b *box) MayRevert() bool { return b.Pull.Merged && b.MayMerge }

// box reads what the merge box shows.
func (p *Pages) box(r *http.Request, a *repo.Access, s *scene) (*box, error) {
	b := &box{scene: s}
	var err error
	if b.MergeBox, err = p.of.Pulls.MergeBox(r.Context(), a, s.of.Pull, s.of.Issue.Issue); err != nil {
		return nil, err
	}
	if b.of.Open && a.Ruled {
		if b.Queue, err = p.of.Pulls.QueueOf(r.Context(), a, b.of.Base.Ref); err != nil {
			return nil, err
		}
	}
	if b.Sum, err = p.rollup(r.Context(), a, s.Pull.Head.SHA); err != nil {
		return nil, err
	}
	last := latest(s.Progress.Reviews)
	for _, v := range s.Progress.Reviews {
		switch {
		case last[v.AuthorID].ID != v.ID:
		case v.State == review.Approved:
			b.Approved = append(b.Approved, userOf(v))
		case v.State == review.ChangesRequested:
			b.Against = append(b.Against, userOf(v))
		}
	}
	if len(b.Methods) > 0 {
		b.Method = b.Methods[0].Method
	}
	return b, nil
}

// Said returns the message typed for a method, or the method's default.
func (b *box) Said(method string) [2]string {
	if b.Refused != nil && method == b.Method {
		return b.Typed
	}
	for _, m := range b.Methods {
		if m.Method == method {
			return [2]string{m.Title, m.Message}
		}
	}
	return [2]string{}
}

// POST /{owner}/{repo}/pull/{number}/merge
//
// Merge merges the pull request by the method that was chosen, if its head is the one that the form showed.
func (p *Pages) Merge(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	return p.merged(w, r, a, f, p.merge(r, a, f, p.mergeNow))
}

// POST /{owner}/{repo}/pull/{number}/automerge
//
// SetAutoMerge enables auto-merge by the method that was chosen, as the form of Merge, or with off=1 disables it.
func (p *Pages) SetAutoMerge(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if f.Checked("off") {
		err := p.change(r, a, account.Pull, func(ctx context.Context, number int64) error {
			return p.of.Pulls.DisableAutoMerge(ctx, a, number)
		})
		return p.led(w, r, a, f, "merge", err)
	}
	return p.merged(w, r, a, f, p.merge(r, a, f, p.of.Pulls.EnableAutoMerge))
}

func (p *Pages) mergeNow(ctx context.Context, a *repo.Access, number int64, o pull.MergeOptions) error {
	_, err := p.of.Pulls.Merge(ctx, a, number, o)
	return err
}

// merged answers the form of a merge: by a redirect, or after an error by the form as it was sent.
func (p *Pages) merged(w http.ResponseWriter, r *http.Request, a *repo.Access, f page.Form, err error) error {
	if err == nil {
		return page.SeeOther(w, r, at(r, a)+"#merge")
	}
	load := func(r *http.Request) (*box, error) {
		s, err := p.scene(r, a, "conversation")
		if err != nil {
			return nil, err
		}
		return p.box(r, a, s)
	}
	return page.RefuseWith(p.t, w, r, "merging.html", err, load, func(b *box) {
		b.Refused, b.Method = b.Problem, f.Get("method")
		b.Typed = [2]string{f.Text("title"), f.Text("message")}
	})
}

// merge reads the form of a merge and calls an operation with what it says.
func (p *Pages) merge(
	r *http.Request, a *repo.Access, f page.Form,
	do func(ctx context.Context, a *repo.Access, number int64, o pull.MergeOptions) error,
) error {
	return p.change(r, a, account.Push, func(ctx context.Context, number int64) error {
		method, err := pull.ParseMethod(f.Get("method"))
		if err != nil {
			return err
		}
		o := pull.MergeOptions{SHA: f.Get("sha"), Method: method}
		if method != pull.Rebase {
			o.Title, o.Message = new(f.Text("title")), new(f.Text("message"))
		}
		return do(ctx, a, number, o)
	})
}

// POST /{owner}/{repo}/pull/{number}/update
//
// Update merges the base into the head, if that is the one that the form showed.
func (p *Pages) Update(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	return p.led(w, r, a, f, "merge", p.change(r, a, account.Pull, func(ctx context.Context, number int64) error {
		return p.of.Pulls.Update(ctx, a, number, f.Get("sha"))
	}))
}

// POST /{owner}/{repo}/pull/{number}/revert
//
// Revert creates a branch that undoes the merge, and redirects to the form for its pull request.
func (p *Pages) Revert(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	var made *pull.Reverted
	err = p.change(r, a, account.Push, func(ctx context.Context, number int64) (err error) {
		made, err = p.of.Pulls.Revert(ctx, a, number)
		return err
	})
	if err != nil {
		return p.refused(w, r, a, f, err)
	}
	q := page.Query("base", made.Base, "head", made.Branch, "title", made.Title, "body", made.Body)
	return page.SeeOther(w, r, web.Path(a.Owner.Login, a.Name, "pulls", "new")+"?"+q.Encode())
}
