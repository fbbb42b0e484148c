package page

import (
	"bytes"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Errors writes an error as a page to clients that accept HTML. Other clients get the API's form. Users who
// must sign in are redirected; a form is kept for later.
func (k *Kit) Errors(w http.ResponseWriter, r *http.Request, status int, e *errs.Error) {
	k.errorPage(w, r, status, e, "", "")
}

// repoErrors is Errors for a page about a repository that its caller saw when the request began.
func (k *Kit) repoErrors(w http.ResponseWriter, r *http.Request, status int, e *errs.Error) {
	k.errorPage(w, r, status, e, web.Param(r, "owner"), web.Param(r, "repo"))
}

// Unrouted is Errors for an address without a route. Below a repository that the viewer sees, the page keeps
// the repository's head.
func (k *Kit) Unrouted(w http.ResponseWriter, r *http.Request, status int, e *errs.Error) {
	path := strings.SplitN(r.URL.Path, "/", 4) // the first is empty
	if len(path) < 4 || viewer(r) == nil {
		k.Errors(w, r, status, e)
		return
	}
	k.errorPage(w, r, status, e, path[1], path[2])
}

// errorPage answers an error with the head of a repository, if one is named and the viewer sees it.
func (k *Kit) errorPage(w http.ResponseWriter, r *http.Request, status int, e *errs.Error, owner, name string) {
	w.Header().Set("Vary", vary)
	if !Asked(r) {
		web.APIErrors(w, r, status, e)
		return
	}
	if status == http.StatusUnauthorized {
		if k.keep(w, r) {
			return
		}
		http.Redirect(w, r, LoginPath(r), http.StatusSeeOther)
		return
	}
	v := struct {
		Frame
		Message string
		Fields  []Fault
	}{k.errorFrame(r, status, e.Kind, owner, name), messageOf(e), fieldMessages(e)}
	if status == http.StatusNotFound {
		v.Message = "There is nothing at this address, or nothing that you may see."
	}
	var b bytes.Buffer
	if err := plain().ExecuteTemplate(&b, "error.html", v); err != nil {
		web.APIErrors(w, r, status, e)
		return
	}
	headers(w, r)
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

// errorFrame is the frame of an error. Parts of it that cannot be loaded are left out, so every error has a
// page. For errors of the server, of overload and of the rate limit, only the repository is loaded.
func (k *Kit) errorFrame(r *http.Request, status int, kind errs.Kind, owner, name string) Frame {
	title := http.StatusText(status)
	troubled := status >= 500 || kind == errs.TooManyRequests || kind == errs.RateLimited
	f := k.bare(r, title)
	f.Unknown = troubled && f.Viewer == nil && SessionOf(r) != ""
	if name != "" {
		k.errorHead(r, &f, troubled, owner, name)
	}
	if f.Repo == nil && !troubled {
		_ = k.unread(r, f.Viewer)
	}
	f.Done, f.Partly = "", ""                                      // for the page that the form leads to
	if r.Method != http.MethodGet && r.Method != http.MethodHead { // a form's address has no page
		if f.Here = "/"; f.Repo != nil {
			f.Here = f.Repo.Path
		}
	}
	return f
}

// errorHead adds the head of a repository to the frame of an error. It finds the repository again: the viewer
// may have lost access to it since the request began.
func (k *Kit) errorHead(r *http.Request, f *Frame, troubled bool, owner, name string) {
	found, err := k.Repos.Find(r.Context(), account.CallerFrom(r.Context()), owner, name)
	if err != nil || found.Moved || found.TokenLets(false) != nil {
		return
	}
	tab := tabOf(r.URL.Path)
	if !troubled {
		if whole, err := k.RepoFrame(r, &found.Access, tab, f.Title); err == nil {
			*f = whole
			return
		}
	}
	f.Tab, f.Repo = tab, &Head{Access: &found.Access, Path: web.Path(found.Owner.Login, found.Name), Brief: true}
}

// tabOf is the tab of a repository to which an address below it belongs.
func tabOf(path string) string {
	switch parts := strings.SplitN(path, "/", 5); parts[min(3, len(parts)-1)] {
	case "issues", "labels", "milestones", "milestone":
		return "issues"
	case "pulls", "pull":
		return "pulls"
	case "releases":
		return "releases"
	case "settings":
		return "settings"
	}
	return "code"
}

// Absent turns an operation's errors for names that name nothing into a 404: for people who follow a link they are
// the same.
func Absent(err error) error {
	if errs.Is(err, errs.Invalid) || errs.Is(err, errs.Conflict) || errs.Is(err, errs.NotFound) {
		return errs.Absent()
	}
	return err
}
