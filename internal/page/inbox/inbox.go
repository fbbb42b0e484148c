// Package inbox serves the page of notifications and its actions.
//
//   - GET, POST /dashboard/notifications: inbox.go, act.go
//   - GET /dashboard/notifications/{thread_id}: open.go, which marks a thread as read and leads to its
//     subject
package inbox

import (
	"embed"
	"net/http"
	"slices"
	"strings"
	"time"

	"arbor/internal/page"
	"arbor/internal/route"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Pages answers the pages of this room.
type Pages struct {
	kit *page.Kit
	t   *page.Templates
}

// New returns the pages.
func New(kit *page.Kit) *Pages { return &Pages{kit, roomTemplates} }

// Routes are the pages and the target of their forms.
func (p *Pages) Routes() []route.Route {
	own := p.kit.ForPeople()
	return []route.Route{
		own.SignedIn("GET /dashboard/notifications", p.Inbox),
		own.SignedIn("POST /dashboard/notifications", p.Act),
		own.SignedIn("GET /dashboard/notifications/{thread_id}", p.Open),
	}
}

// perPage is how many threads a page shows, and how many may be changed by one form.
const perPage = 25

// thread is what pages read of a thread.
type thread struct {
	ID         string
	Repository page.Repository
	Subject    struct {
		Title     string
		URL       string
		CommentOf string `json:"latest_comment_url"`
		Type      string
	}
	Reason    string
	Unread    bool
	UpdatedAt time.Time `json:"updated_at"`
}

// reasons describes why somebody is notified.
var reasons = map[string]string{
	"subscribed":       "you watch the repository",
	"manual":           "you subscribed",
	"state_change":     "you closed or reopened it",
	"comment":          "you commented",
	"author":           "you opened it",
	"assign":           "you are assigned",
	"review_requested": "your review is asked for",
	"mention":          "you were mentioned",
}

// Why is the reason in words.
func (t *thread) Why() string {
	if words := reasons[t.Reason]; words != "" {
		return words
	}
	return strings.ReplaceAll(t.Reason, "_", " ")
}

// Direct reports a reason that is about the reader, not about a repository that the reader watches.
func (t *thread) Direct() bool {
	return t.Reason == "assign" || t.Reason == "review_requested" || t.Reason == "mention"
}

// Number is "#7" of an issue or a pull request; empty: it has none.
func (t *thread) Number() string {
	if t.Subject.Type == "Issue" || t.Subject.Type == "PullRequest" {
		return "#" + last(t.Subject.URL)
	}
	return ""
}

func last(address string) string { return address[strings.LastIndexByte(address, '/')+1:] }

// inboxView is what inbox.html shows.
type inboxView struct {
	page.Frame
	Threads []thread
	Box     string   // unread, all or participating
	In      string   // OWNER/NAME; empty: every repository
	Repos   []string // of the threads that are shown
	Until   string   // when the page was rendered: later notifications are not marked as read with the rest
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
	query := page.Part(r, perPage)
	switch v.Box {
	case "all":
		query.Set("all", "true")
	case "participating":
		query.Set("participating", "true")
		query.Set("all", "true")
	default:
		v.Box = "unread"
	}
	more, err := p.kit.Get(r, listPath(v.In), query, &v.Threads)
	if err != nil {
		return page.Absent(err)
	}
	for n := range v.Threads {
		if name := v.Threads[n].Repository.FullName; !slices.Contains(v.Repos, name) {
			v.Repos = append(v.Repos, name)
		}
	}
	slices.Sort(v.Repos)
	v.Pages = page.PagesOf(r, more)
	return p.t.Page(w, r, "inbox.html", v)
}

// listPath is where the API lists threads: all, or those of a repository.
func listPath(in string) string {
	owner, name, ok := strings.Cut(in, "/")
	if !ok {
		return "/notifications"
	}
	return web.Path("repos", owner, name, "notifications")
}
