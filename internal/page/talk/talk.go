// Package talk implements conversations for the pages of issues and of pull requests.
//
// A page shows a conversation in three steps:
//
//   - t, err := pages.Read(r, &frame, issue) reads the timeline of an issue or pull request, and the data of
//     the sidebar. The frame comes from kit.RepoFrame.
//   - The page's view has t, and its template calls the parts of ../templates/talk.html with t: "talk-thread"
//     (the boxes and events), "talk-compose" (the form below them), "talk-sidebar" (sections of an aside).
//   - The page's templates redefine "talk-review", which shows an *Entry that is a review, and "talk-commit",
//     which shows one that is a commit. Thread.Weave inserts entries of the page, each with the data of these
//     templates in Extra.
//
// The forms are sent to addresses of this package below /{owner}/{repo}/issues/{number}, even for pull
// requests; their field return_to is the page to return to. Each menu is a link to a page of this package
// with just the form; the script opens that form in place (details[data-load]).
//
//   - thread.go, entry.go: reading a conversation; box.go: a text in it; tasks.go: its task lists
//   - comment.go: comments, texts and titles; act.go: state, reactions, lock, pin, subscription, deletion
//   - edits.go: former texts; live.go: events while a page is open
//   - choose.go: labels, assignees, milestone; assist.go: preview, and completion of @, # and :
package talk

import (
	"context"
	"embed"
	"net/http"
	"net/url"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/issue/live"
	"arbor/internal/issue/revision"
	"arbor/internal/issue/subscription"
	"arbor/internal/issue/timeline"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/page"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/route"
	"arbor/internal/search"
	"arbor/internal/search/user"
	"arbor/internal/team"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Services are the features whose operations conversations call.
type Services struct {
	DB            *db.DB
	Issues        *issue.Service
	Comments      *comment.Service
	Timelines     *timeline.Service
	Subscriptions *subscription.Service
	Labels        *label.Service
	Milestones    *milestone.Service
	Reviews       *review.Service
	Pulls         *pull.Service
	Revisions     *revision.Service
	Live          *live.Service
	Searches      *search.Service
	People        *user.API
	Teams         *team.Service
}

// Pages are the forms of conversations.
type Pages struct {
	kit *page.Kit
	t   *page.Templates
	Services
}

// New returns the pages.
func New(kit *page.Kit, of Services) *Pages { return &Pages{kit, roomTemplates, of} }

// Routes are the addresses of the forms.
func (p *Pages) Routes() []route.Route {
	const issue = "/{owner}/{repo}/issues/{number}"
	on := p.kit.OnRepo
	return []route.Route{
		on("POST /{owner}/{repo}/preview", p.Preview),
		on("GET /{owner}/{repo}/suggest", p.Suggest),
		on("GET "+issue+"/live", p.Events),
		on("POST "+issue+"/comments", p.Comment),
		on("GET "+issue+"/comments/{id}", p.EditComment),
		on("POST "+issue+"/comments/{id}", p.SaveComment),
		on("POST "+issue+"/comments/{id}/delete", p.DeleteComment),
		on("GET "+issue+"/comments/{id}/hide", p.HideForm),
		on("POST "+issue+"/comments/{id}/hide", p.Hide),
		on("GET "+issue+"/edit", p.Edit),
		on("POST "+issue+"/edit", p.Save),
		on("GET "+issue+"/edits", p.Edits),
		on("POST "+issue+"/edits", p.DeleteEdit),
		on("POST "+issue+"/tasks", p.Tick),
		on("POST "+issue+"/state", p.change(account.Pull, p.SetState)),
		on("GET "+issue+"/reactions", p.React),
		on("POST "+issue+"/reactions", p.SetReaction),
		on("GET "+issue+"/lock", p.Lock),
		on("POST "+issue+"/lock", p.change(account.Push, p.SetLock, "unlock")),
		on("POST "+issue+"/subscription", p.change(account.Pull, p.Subscribe)),
		on("GET /{owner}/{repo}/issues/choices/{what}", p.Choices),
		on("GET "+issue+"/labels", p.Labels),
		on("POST "+issue+"/labels", p.change(account.Triage, p.SetLabels)),
		on("GET "+issue+"/assignees", p.Assignees),
		on("POST "+issue+"/assignees", p.change(account.Pull, p.SetAssignees)),
		on("GET "+issue+"/milestone", p.Milestone),
		on("POST "+issue+"/milestone", p.change(account.Pull, p.SetMilestone)),
		on("POST "+issue+"/pin", p.change(account.Push, p.Pin)),
		on("GET "+issue+"/transfer", p.Transfer),
		on("POST "+issue+"/transfer", p.Move),
		on("GET "+issue+"/delete", p.Delete),
		on("POST "+issue+"/delete", p.Remove),
	}
}

// deed is what a form does to the issue that its address numbers.
type deed func(ctx context.Context, a *repo.Access, i *issue.Issue, f page.Form) error

// change returns the handler of a form for callers with at least the role: it calls do and redirects to the
// page named in the form. If one of the fields in spares is set, do only removes something, which needs no
// disk space.
func (p *Pages) change(need account.Role, do deed, spares ...string) repo.Handler {
	return func(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
		f, err := page.ReadForm(r)
		if err != nil {
			return err
		}
		allow := p.kit.Write
		if slices.ContainsFunc(spares, f.Checked) {
			allow = p.kit.Delete
		}
		ctx, err := allow(r, a, need)
		if err != nil {
			return err
		}
		i, err := p.issue(r, a)
		if err != nil {
			return err
		}
		if err := do(ctx, a, i, f); err != nil {
			return err
		}
		return back(w, r, a, f, "")
	}
}

// target is the issue or comment of a form.
type target struct {
	page.Frame
	Issue  page.Issue
	Act    string // the address below which its forms are
	Return string // the page to come back to
}

// target reads the issue or pull request that the request's address numbers, and makes a page's frame.
// Errors: 404, 410.
func (p *Pages) target(r *http.Request, a *repo.Access, title string) (t target, err error) {
	number, err := web.Number(r, "number")
	if err != nil {
		return t, err
	}
	v, err := p.Issues.Get(r.Context(), a, number)
	if err != nil {
		return t, err
	}
	t.Issue = *page.NewIssue(v)
	tab := "issues"
	if t.Issue.IsPull() {
		tab = "pulls"
	}
	if t.Frame, err = p.kit.RepoFrame(r, a, tab, title); err != nil {
		return t, err
	}
	t.Act, t.Return = act(a, r), page.ReturnTo(web.QueryOf(r).Get("return_to"), t.Issue.Path())
	return t, nil
}

// act is the address below which the forms of the request's issue are.
func act(a *repo.Access, r *http.Request) string {
	return web.Path(a.Owner.Login, a.Name, "issues", web.Param(r, "number"))
}

// issue reads the issue that the request's address numbers, for an operation on it. Errors: 404, 410.
func (p *Pages) issue(r *http.Request, a *repo.Access) (*issue.Issue, error) {
	return p.Issues.Requested(r, a)
}

// back leads to the page that a form names, or to the issue; anchor may be empty.
func back(w http.ResponseWriter, r *http.Request, a *repo.Access, f page.Form, anchor string) error {
	to := page.ReturnTo(f.Get("return_to"), act(a, r))
	if u, err := url.Parse(to); err == nil && anchor != "" {
		u.Fragment = anchor
		to = u.String()
	}
	return page.SeeOther(w, r, to)
}
