package inbox

import (
	"net/http"
	"strings"

	"arbor/internal/page"
	"arbor/internal/web"
)

// GET /dashboard/notifications/{thread_id}
//
// Open redirects to the subject of a thread, at its latest comment, and marks the thread as read:
// unless the link is on another site, or a browser looks ahead or for a picture. Error: 404.
func (p *Pages) Open(w http.ResponseWriter, r *http.Request) error {
	at := web.Path("notifications", "threads", web.Param(r, "thread_id"))
	var t thread
	if _, err := p.kit.Get(r, at, nil, &t); err != nil {
		return page.Absent(err)
	}
	to, err := p.subject(r, &t)
	if err != nil {
		return page.Absent(err)
	}
	if t.Unread && opens(r) {
		if err := p.kit.Change(r, http.MethodPatch, at, nil, nil); err != nil {
			return err
		}
	}
	return page.SeeOther(w, r, to)
}

// opens reports a person who follows a link of this site.
func opens(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	ahead := r.Header.Get("Sec-Purpose") + r.Header.Get("Purpose")
	as := r.Header.Get("Sec-Fetch-Dest")
	return r.Method == http.MethodGet && (site == "" || site == "none" || site == "same-origin") &&
		(as == "" || as == "document") && !strings.Contains(ahead, "prefetch")
}

// subject returns the address of a thread's subject.
func (p *Pages) subject(r *http.Request, t *thread) (string, error) {
	owner, name, _ := strings.Cut(t.Repository.FullName, "/")
	to, anchor := "", ""
	if t.Subject.CommentOf != t.Subject.URL {
		anchor = last(t.Subject.CommentOf)
	}
	switch t.Subject.Type {
	case "Issue", "PullRequest":
		to = web.Path(owner, name, map[string]string{"Issue": "issues",
			"PullRequest": "pull"}[t.Subject.Type],
			last(t.Subject.URL))
		if anchor != "" {
			to += "#issuecomment-" + anchor
		}
	case "Commit":
		to = web.Path(owner, name, "commit", last(t.Subject.URL))
		if anchor != "" {
			to += "#commitcomment-" + anchor
		}
	default:
		var release struct {
			HTMLURL string `json:"html_url"`
		}
		if _, err := p.kit.Get(r, web.Path("repos", owner, name, "releases", last(t.Subject.URL)),
			nil, &release); err != nil {
			return "", err
		}
		to = page.Local(release.HTMLURL)
	}
	return to, nil
}
