package inbox

import (
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/star"
	"arbor/internal/web"
)

// GET /dashboard/notifications/{thread_id}
//
// Open redirects to the subject of a thread, at its latest comment, and marks the thread as read:
// unless the link is on another site, or a browser looks ahead or for a picture. Error: 404.
func (p *Pages) Open(w http.ResponseWriter, r *http.Request) error {
	id, err := web.Number(r, "thread_id")
	if err == nil {
		err = mayRead(r)
	}
	if err != nil {
		return err
	}
	caller := account.CallerFrom(r.Context())
	found, err := p.notices.Thread(r.Context(), caller, id)
	if err != nil {
		return err
	}
	t := found.Threads[0]
	in := found.Repos[t.RepoID]
	if in == nil {
		return errs.Absent()
	}
	if t.Unread && opens(r) {
		ctx, err := p.kit.WriteOwn(r, star.WatchScopes, true)
		if err == nil {
			err = p.notices.MarkRead(ctx, caller, id)
		}
		if err != nil {
			return err
		}
	}
	return page.SeeOther(w, r, addressOf(&thread{t, in}))
}

// opens reports a person who follows a link of this site.
func opens(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	ahead := r.Header.Get("Sec-Purpose") + r.Header.Get("Purpose")
	as := r.Header.Get("Sec-Fetch-Dest")
	return r.Method == http.MethodGet && (site == "" || site == "none" || site == "same-origin") &&
		(as == "" || as == "document") && !strings.Contains(ahead, "prefetch")
}

// addressOf is the address of a thread's subject, at its latest comment.
func addressOf(t *thread) string {
	at := web.Path(t.In.Owner.Login, t.In.Name)
	number, comment := strconv.FormatInt(t.Number, 10), ""
	if t.Comment != 0 {
		comment = strconv.FormatInt(t.Comment, 10)
	}
	anchor := func(kind string) string {
		if comment == "" {
			return ""
		}
		return "#" + kind + comment
	}
	switch t.Kind() {
	case "Issue":
		return at + "/issues/" + number + anchor("issuecomment-")
	case "PullRequest":
		return at + "/pull/" + number + anchor("issuecomment-")
	case "Commit":
		return at + "/commit/" + string(t.Commit) + anchor("commitcomment-")
	}
	return at + "/releases/tag" + web.Path(strings.Split(t.Tag, "/")...)
}
