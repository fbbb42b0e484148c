// Package inbox serves the page of notifications and its actions.
//
//   - GET, POST /dashboard/notifications: inbox.go, act.go
//   - GET /dashboard/notifications/{thread_id}: open.go, which marks a thread as read and leads to its
//     subject
//   - GET, POST /notifications/unsubscribe: unsubscribe.go, by the signed address in a mail
package inbox

import (
	"embed"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/invitation"
	"arbor/internal/issue"
	"arbor/internal/notification"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/star"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Pages answers the pages of this room.
type Pages struct {
	kit     *page.Kit
	t       *page.Templates
	notices *notification.Service
	invites *invitation.Service
}

// New returns the pages.
func New(kit *page.Kit, invites *invitation.Service) *Pages {
	return &Pages{kit, roomTemplates, kit.Notices, invites}
}

// Routes are the pages and the target of their forms.
func (p *Pages) Routes() []route.Route {
	own, free := p.kit.ForPeople(), p.kit.Router(route.Needs(scope.None, route.None))
	return []route.Route{
		free.Anyone("GET /notifications/unsubscribe", p.Unsubscribe).WithoutToken().WithoutFactor().Counted(),
		free.Anyone("POST /notifications/unsubscribe", p.DoUnsubscribe).WithoutToken().WithoutFactor().Counted(),
		own.SignedIn("GET /dashboard/notifications", p.Inbox).Counted(),
		own.SignedIn("POST /dashboard/notifications", p.Act),
		own.SignedIn("GET /dashboard/notifications/{thread_id}", p.Open),
	}
}

// perPage is how many threads a page shows, and how many may be changed by one form.
const perPage = 25

// thread is what pages show of a thread.
type thread struct {
	*notification.Thread
	In *repo.Access
}

// FullName is OWNER/NAME of the repository.
func (t *thread) FullName() string { return t.In.FullName() }

// Kind is what the thread is about: Issue, PullRequest, Release or Commit.
func (t *thread) Kind() string {
	switch {
	case t.Pull:
		return "PullRequest"
	case t.Issue != 0:
		return "Issue"
	case t.Release != 0:
		return "Release"
	}
	return "Commit"
}

// IsPull and Status are what the part "mark" needs of an issue or a pull request.
func (t *thread) IsPull() bool { return t.Pull }

// Status is the state in words.
func (t *thread) Status() string {
	switch {
	case t.Merged != 0:
		return "merged"
	case t.Draft && t.State == issue.Open:
		return "draft"
	case t.State == issue.Closed && t.Cause == issue.NotPlanned:
		return "not planned"
	}
	return t.State.String()
}

// When is the time of the latest notification.
func (t *thread) When() time.Time { return page.Moment(t.UpdatedAt) }

// reasons describes why somebody is notified.
var reasons = map[notification.Reason]string{
	notification.Subscribed:      "you watch the repository",
	notification.Manual:          "you subscribed",
	notification.StateChange:     "you closed or reopened it",
	notification.Commented:       "you commented",
	notification.Author:          "you opened it",
	notification.Assign:          "you are assigned",
	notification.ReviewRequested: "your review is asked for",
	notification.TeamMention:     "your team was mentioned",
	notification.Mention:         "you were mentioned",
}

// Why is the reason in words.
func (t *thread) Why() string { return reasons[t.Reason] }

// Direct reports a reason that is about the reader, not about a repository that the reader watches.
func (t *thread) Direct() bool { return t.Reason >= notification.Assign }

// Label is "#7" of an issue or a pull request; empty: it has none.
func (t *thread) Label() string {
	if t.Issue != 0 {
		return "#" + strconv.FormatInt(t.Number, 10)
	}
	return ""
}

// inboxView is what inbox.html shows.
type inboxView struct {
	page.Frame
	Threads []*thread
	Box     string   // unread, all or participating
	In      string   // OWNER/NAME; empty: every repository
	Repos   []string // of the threads that are shown
	Invited []invited
	Until   string // when the page was rendered: later notifications are not marked as read with the rest
}

// Link is the query of another box or, with in, another repository.
func (v *inboxView) Link(box, in string) string {
	if box == "unread" {
		box = ""
	}
	return "/dashboard/notifications?" + page.Query("box", box, "repo", in).Encode()
}

// GET /dashboard/notifications
//
// Inbox answers a page of the caller's threads, the latest first: the unread ones, with box=all all,
// with box=participating those in which the caller has a part; with repo=OWNER/NAME those of a repository.
// Error: 404.
func (p *Pages) Inbox(w http.ResponseWriter, r *http.Request) error {
	q := web.QueryOf(r)
	v := &inboxView{Box: q.Get("box"), In: q.Get("repo"), Until: time.Now().UTC().Format(time.RFC3339)}
	var err error
	if v.Frame, err = p.kit.Frame(r, "Notifications"); err != nil {
		return err
	}
	of := notification.Filter{}
	switch v.Box {
	case "all":
		of.All = true
	case "participating":
		of.All, of.Participating = true, true
	default:
		v.Box = "unread"
	}
	if v.Invited, err = p.invitations(r); err != nil {
		return err
	}
	at := page.At(r, perPage)
	total, err := p.read(r, v, of, at)
	if err != nil {
		return page.Absent(err)
	}
	v.Pages = page.PagerOf(r, at, total)
	return p.t.Page(w, r, "inbox.html", v)
}

// invited is an open invitation of the reader.
type invited struct {
	By, To string // a login; the name of a repository or an organization
	Path   string // where it is answered
}

// invitations reads the oldest open invitations, as far as the token shows them.
func (p *Pages) invitations(r *http.Request) (list []invited, err error) {
	caller, some := account.CallerFrom(r.Context()), web.Page{Number: 1, Size: perPage}
	if caller.Allows(scope.RepoInvite, false) == nil {
		found, _, err := p.invites.OfInvitee(r.Context(), caller, some)
		if err != nil {
			return nil, err
		}
		for _, i := range found {
			list = append(list, invited{i.Inviter.Login, i.Repo.FullName(), invitation.Path(i.Repo.Repo)})
		}
	}
	if caller.Allows(scope.ReadOrg, false) != nil {
		return list, nil
	}
	found, _, err := p.invites.MembershipsOf(r.Context(), caller, some)
	for _, i := range found {
		at := web.Path("orgs", i.Org.Login, "invitation")
		list = append(list, invited{i.Inviter.Login, i.Org.Login, at})
	}
	return list, err
}

// read reads a page of threads, and which repositories they are of. Errors: 403, 404.
func (p *Pages) read(
	r *http.Request, v *inboxView, of notification.Filter, at web.Page,
) (total int64, err error) {
	in, err := p.repoNamed(r, v.In)
	if err == nil {
		err = mayRead(r)
	}
	if err != nil {
		return 0, err
	}
	if in != nil {
		of.Repo = in.ID
	}
	found, total, err := p.notices.List(r.Context(), account.CallerFrom(r.Context()), of, at)
	if err != nil {
		return 0, err
	}
	for _, t := range found.Threads {
		a := found.Repos[t.RepoID]
		if a == nil {
			continue
		}
		if v.Threads = append(v.Threads, &thread{t, a}); !slices.Contains(v.Repos, a.FullName()) {
			v.Repos = append(v.Repos, a.FullName())
		}
	}
	slices.Sort(v.Repos)
	return total, nil
}

// mayRead asks whether the token opens notifications. Error: 403.
func mayRead(r *http.Request) error {
	return account.CallerFrom(r.Context()).Allows(star.WatchScopes, true)
}

// repoNamed finds the repository OWNER/NAME; nil: the text names none. Error: 404.
func (p *Pages) repoNamed(r *http.Request, text string) (*repo.Access, error) {
	owner, name, ok := strings.Cut(text, "/")
	if !ok {
		return nil, nil
	}
	found, err := p.kit.Repos.Find(r.Context(), account.CallerFrom(r.Context()), owner, name)
	if err == nil && found.Moved {
		err = errs.Absent()
	}
	return &found.Access, err
}
