package page

import (
	"net/http"
	"net/url"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/star"
	"arbor/internal/web"
)

// Viewer is who looks at a page.
type Viewer struct {
	ID        int64
	Login     string
	SiteAdmin bool
	Session   bool   // signed in by a session, so the page offers to sign out
	Unread    bool   // has notifications that are not read
	Zone      string // the name of the time zone that they chose, if any: see zone.go
}

// Avatar is the address of the viewer's picture.
func (v *Viewer) Avatar() string { return "/avatars/" + strconv.FormatInt(v.ID, 10) }

// Frame is what stands around each page. A page's view embeds it; templates begin with {{template "top" .}}
// and end with {{template "bottom" .}}.
type Frame struct {
	Title   string
	Viewer  *Viewer
	Unknown bool     // the browser sent a session that could not be read: nobody is shown as signed out
	Repo    *Head    // nil: the page is about no repository
	Tab     string   // the tab that is open, by its name: code, issues, pulls, ...
	Theme   string   // light or dark; empty: the browser's
	Here    string   // the page's own path and query, to come back to
	Wide    bool     // the page wants the whole width, as diffs do
	Done    string   // the message of the form that led here, shown once: see Done
	Partly  string   // the same as a warning: see PartlyDone
	Shown   string   // of the form with many fields that the page has, if any: see Shown
	Problem *Problem // what was wrong with a form that is shown again
	Pages   Pager
}

// Head is the repository that a page is about.
type Head struct {
	*repo.Access
	Path    string // escaped
	Starred bool   // by the viewer
	Watched bool   // by the viewer
	Ignored bool   // by the viewer, who is notified of nothing in it
	Brief   bool   // Starred, Watched and the counts could not be loaded
	Issues  int64  // that are open, without pull requests
	Pulls   int64  // that are open
	Parent  string // OWNER/NAME of what it was forked from, if the viewer sees that
}

// CanPush reports that the viewer changes the code, and what anybody wrote.
func (h *Head) CanPush() bool { return h.can(account.Push) && !h.Archived }

// CanTriage reports that the viewer sorts issues: labels, assigns, closes.
func (h *Head) CanTriage() bool { return h.can(account.Triage) && !h.Archived }

// CanMaintain reports that the viewer changes some of the repository's settings.
func (h *Head) CanMaintain() bool { return h.can(account.Maintain) }

// CanAdmin reports that the viewer changes all settings of the repository.
func (h *Head) CanAdmin() bool { return h.can(account.Admin) }

// CanWrite reports that the viewer may open issues and comment.
func (h *Head) CanWrite() bool { return h.Caller != nil && !h.Archived }

func (h *Head) can(role account.Role) bool { return h.Caller != nil && h.Role >= role }

// OwnerPath is the address of the owner's page.
func (h *Head) OwnerPath() string { return web.Path(h.Owner.Login) }

// bare is a frame that asks nothing.
func (k *Kit) bare(r *http.Request, title string) Frame {
	f := Frame{Title: title, Viewer: viewer(r), Theme: themeOf(r), Here: r.URL.RequestURI()}
	f.readDone(r)
	return f
}

// Frame is the frame of a page about no repository. Errors: those of asking for notifications.
func (k *Kit) Frame(r *http.Request, title string) (Frame, error) {
	f := k.bare(r, title)
	return f, k.unread(r, f.Viewer)
}

// RepoFrame is the frame of a page about a repository.
func (k *Kit) RepoFrame(r *http.Request, a *repo.Access, tab, title string) (Frame, error) {
	f := k.bare(r, title)
	f.Tab = tab
	f.Repo = &Head{Access: a, Path: web.Path(a.Owner.Login, a.Name)}
	if err := k.unread(r, f.Viewer); err != nil {
		return f, err
	}
	if err := k.count(r, f.Repo); err != nil || f.Viewer == nil {
		return f, err
	}
	since, err := k.Stars.Has(r.Context(), a, star.Star)
	if err != nil {
		return f, err
	}
	f.Repo.Starred = !since.IsZero()
	if a.Caller.Allows(star.WatchScopes, false) == nil {
		watched, err := k.Stars.Subscription(r.Context(), a)
		if err != nil {
			return f, err
		}
		f.Repo.Watched, f.Repo.Ignored = watched.Wish == star.Everything, watched.Wish == star.Nothing
	}
	return f, nil
}

// count counts open issues and pull requests separately, and finds the repository's parent.
func (k *Kit) count(r *http.Request, h *Head) error {
	pulls, err := k.Issues.OpenPulls(r.Context(), h.ID)
	if err != nil {
		return err
	}
	h.Pulls, h.Issues = pulls, max(0, h.OpenIssues-pulls)
	if h.ParentID == 0 {
		return nil
	}
	from, err := k.Repos.Lineage(r.Context(), h.Access)
	if from.Parent != nil {
		h.Parent = from.Parent.FullName()
	}
	return err
}

// unread finds out whether the viewer has notifications.
func (k *Kit) unread(r *http.Request, v *Viewer) error {
	caller := account.CallerFrom(r.Context())
	if v == nil || caller.Allows(star.WatchScopes, true) != nil {
		return nil
	}
	has, err := k.Notices.HasUnread(r.Context(), caller)
	v.Unread = has
	return err
}

// Pager leads to the pages before and after this one of a list.
type Pager struct{ Newer, Older string } // addresses; empty: there is none

// At is the page of a list that the request asks for.
func At(r *http.Request, size int64) web.Page {
	return web.Page{Number: web.ReadPage(r).Number, Size: size}
}

// First is the first page of a list.
func First(size int64) web.Page { return web.Page{Number: 1, Size: size} }

// CutOf is the page of a whole list.
func CutOf[T any](at web.Page, list []T) []T {
	from := min(at.Offset(), int64(len(list)))
	return list[from:min(from+at.Size, int64(len(list)))]
}

// PagerOf returns the pager of a list with a known number of entries.
func PagerOf(r *http.Request, at web.Page, total int64) Pager {
	return PagesOf(r, at.Offset()+at.Size < total)
}

// PagesOf returns the pager of the request's list. more reports whether another page follows.
func PagesOf(r *http.Request, more bool) (p Pager) {
	number := web.ReadPage(r).Number
	at := func(n int64) string {
		v := url.Values{}
		for name, values := range r.URL.Query() {
			v[name] = values
		}
		v.Set("page", strconv.FormatInt(n, 10))
		return "?" + v.Encode()
	}
	if number > 1 {
		p.Newer = at(number - 1)
	}
	if more {
		p.Older = at(number + 1)
	}
	return p
}

// Query returns a query of alternating names and values. Empty values are omitted.
func Query(pairs ...string) url.Values {
	v := url.Values{}
	for n := 0; n+1 < len(pairs); n += 2 {
		if pairs[n+1] != "" {
			v.Set(pairs[n], pairs[n+1])
		}
	}
	return v
}
