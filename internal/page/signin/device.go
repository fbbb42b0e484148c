package signin

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
)

// deviceView is what device.html shows: a field for a code, then the program and its request, then what
// was decided.
type deviceView struct {
	page.Frame
	Code   string
	Asks   *token.DeviceRequest // nil: no code was given yet
	From   string               // where the program is; empty: not known
	Scopes []string             // that the program asks for; none: it reads what is public
	Answer string               // allowed or denied; empty: not yet
}

// GET /login/device
//
// DeviceForm answers the page where people type the code that a program shows them.
func (p *Pages) DeviceForm(w http.ResponseWriter, r *http.Request) error {
	v, err := p.deviceView(r, "") // typed by the person: a link could bring somebody else's code
	return p.t.Show(w, r, "device.html", v, err)
}

func (p *Pages) deviceView(r *http.Request, code string) (*deviceView, error) {
	frame, err := p.kit.Frame(r, "Sign a program in")
	return &deviceView{Frame: frame, Code: code}, err
}

// POST /login/device
//
// Device shows what the program with a code asks for, or with answer=allow or deny decides; seen repeats the permissions of
// a GitHub App that the page listed. Errors: the page again, with 404 for an unknown code, 403 for users who did not sign
// in with a password, 409 for a GitHub App that asks for other permissions now, 429 after too many wrong codes.
func (p *Pages) Device(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.deviceView(r, f.Text("user_code"))
	if err != nil {
		return err
	}
	ctx, by := r.Context(), account.CallerFrom(r.Context())
	switch f.Get("answer") {
	case "allow":
		v.Answer = "allowed"
		v.Asks, err = p.tokens.ConfirmDevice(ctx, by, v.Code, f.Get("seen"))
	case "deny":
		v.Answer = "denied"
		v.Asks, err = p.tokens.DenyDevice(ctx, by, v.Code)
	default:
		v.Asks, err = p.tokens.FindDevice(ctx, by, v.Code)
	}
	if errs.Is(err, errs.Conflict) { // it is asked again, of what the App asks for now
		if v.Problem, err = page.ProblemOf(err); err != nil {
			return err
		}
		v.Answer = ""
		v.Asks, err = p.tokens.FindDevice(ctx, by, v.Code)
	}
	if errs.Is(err, errs.NotFound) {
		v.Problem = &page.Problem{Status: http.StatusNotFound, Message: "The code is unknown or has expired."}
	} else if err != nil {
		if v.Problem, err = page.ProblemOf(err); err != nil {
			return err
		}
	}
	if v.Asks != nil {
		v.From = strings.TrimSuffix(v.Asks.Network, "/32")
		if v.Asks.Scopes != scope.Set(0) {
			v.Scopes = strings.Split(v.Asks.Scopes.String(), ", ")
		}
	}
	if v.Problem != nil {
		return p.t.Again(w, r, "device.html", v.Problem, v)
	}
	return p.t.Page(w, r, "device.html", v)
}
