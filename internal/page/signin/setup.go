package signin

import (
	"crypto/subtle"
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/page"
)

type setupView struct {
	page.Frame
	Login string
}

// GET /setup
//
// SetupForm answers the page on which the first administrator is made. Error: 404 once there are users.
func (p *Pages) SetupForm(w http.ResponseWriter, r *http.Request) error {
	v, err := p.setupView(r)
	return p.t.Show(w, r, "setup.html", v, err)
}

func (p *Pages) setupView(r *http.Request) (*setupView, error) {
	some, err := p.sessions.HasUsers(r.Context())
	if err == nil && (some || p.code == "") {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	frame, err := p.kit.Frame(r, "Set up Arbor")
	return &setupView{Frame: frame}, err
}

// POST /setup
//
// Setup creates the first administrator, for a caller with the code that the server printed, and signs in.
// Errors: 404 once there are users; the page again, with 422.
func (p *Pages) Setup(w http.ResponseWriter, r *http.Request) error {
	v, err := p.setupView(r)
	if err != nil {
		return err
	}
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v.Login = f.Text("login")
	session, err := p.setup(r, f)
	if err == nil {
		var browser string
		if browser, err = p.sessions.KnownBrowser(r.Context(), v.Login); err != nil {
			return err
		}
		page.SetSession(w, r, session)
		page.SetBrowser(w, r, browser)
		return page.SeeOther(w, r, "/")
	}
	return p.t.Refuse(w, r, "setup.html", err, v)
}

func (p *Pages) setup(r *http.Request, f page.Form) (session string, err error) {
	given := strings.ToUpper(f.Text("code"))
	if subtle.ConstantTimeCompare([]byte(given), []byte(p.code)) != 1 {
		return "", errs.New(errs.Invalid, "That is not the code that the server printed.")
	}
	return p.sessions.FirstUser(r.Context(), f.Text("login"), f.Get("password"), page.Origin(r))
}
