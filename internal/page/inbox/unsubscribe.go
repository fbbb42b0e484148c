package inbox

import (
	"net/http"

	"arbor/internal/notification"
	"arbor/internal/page"
	"arbor/internal/web"
)

type unsubscribeView struct {
	page.Frame
	*notification.Stopping
	Link string
	Done bool
}

// GET /notifications/unsubscribe
//
// Unsubscribe asks whether to end the mails that link, the signed address in a mail, names. It changes nothing: programs
// open links, too. Error: 404.
func (p *Pages) Unsubscribe(w http.ResponseWriter, r *http.Request) error {
	link := web.QueryOf(r).Get("link")
	found, err := p.notices.Stops(r.Context(), link)
	if err != nil {
		return err
	}
	return p.showUnsubscribe(w, r, &unsubscribeView{Stopping: found, Link: link})
}

// POST /notifications/unsubscribe
//
// DoUnsubscribe ends them, without signing in: programs that read mail send this for their users (RFC 8058). Error: 404.
func (p *Pages) DoUnsubscribe(w http.ResponseWriter, r *http.Request) error {
	found, err := p.notices.Stop(r.Context(), web.QueryOf(r).Get("link"))
	if err != nil {
		return err
	}
	return p.showUnsubscribe(w, r, &unsubscribeView{Stopping: found, Done: true})
}

func (p *Pages) showUnsubscribe(w http.ResponseWriter, r *http.Request, v *unsubscribeView) (err error) {
	if v.Frame, err = p.kit.Frame(r, "Unsubscribe"); err != nil {
		return err
	}
	return p.t.Secret(w, r, "unsubscribe.html", v)
}
