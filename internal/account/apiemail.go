package account

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// maxOwnEmails is how many addresses a user may claim over HTTP.
const maxOwnEmails = 100

// emailJSON is GitHub's email.
type emailJSON struct {
	Email      string  `json:"email"`
	Primary    bool    `json:"primary"`
	Verified   bool    `json:"verified"`
	Visibility *string `json:"visibility"`
}

func newEmails(list []OwnEmail) []emailJSON {
	out := make([]emailJSON, len(list))
	for n, e := range list {
		out[n] = emailJSON{Email: e.Address, Primary: e.Primary, Verified: e.Verified}
		switch {
		case e.Shown:
			out[n].Visibility = new("public")
		case e.Primary:
			out[n].Visibility = new("private")
		}
	}
	return out
}

// GET /user/emails
//
// ListOwnEmails answers the addresses that the caller claims, and which of them count for
// commits. One of them is the primary one, see OwnEmails.
func (a *API) ListOwnEmails(w http.ResponseWriter, r *http.Request) error {
	list, err := a.s.OwnEmails(r.Context(), CallerFrom(r.Context()))
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, web.Cut(w, r, newEmails(list)))
}

// POST /user/emails
//
// AddOwnEmails claims addresses. A link in a mail verifies them; if the server sends none, the operator. Errors: 422; 429
// for too many mails.
func (a *API) AddOwnEmails(w http.ResponseWriter, r *http.Request) error {
	addresses, err := readEmails(r)
	if err != nil {
		return err
	}
	caller := CallerFrom(r.Context())
	if err := a.s.AddOwnEmails(r.Context(), caller, addresses); err != nil {
		return err
	}
	list, err := a.s.OwnEmails(r.Context(), caller)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusCreated, newEmails(list))
}

// DELETE /user/emails
//
// RemoveOwnEmails removes addresses, also verified ones and that of the profile: 204. Errors:
// 404 for one that the caller has not, 422.
func (a *API) RemoveOwnEmails(w http.ResponseWriter, r *http.Request) error {
	addresses, err := readEmails(r)
	if err != nil {
		return err
	}
	if err := a.s.RemoveOwnEmails(r.Context(), CallerFrom(r.Context()), addresses); err != nil {
		return err
	}
	return web.NoContent(w)
}

// readEmails reads addresses: as a field, or as GitHub takes them too, an array or one text
// that is the whole body.
func readEmails(r *http.Request) ([]string, error) {
	body, err := web.ReadBody(r)
	if err != nil {
		return nil, err
	}
	var one string
	var list []string
	switch {
	case json.Unmarshal(body, &one) == nil && one != "":
		list = []string{one}
	case json.Unmarshal(body, &list) == nil && list != nil:
	default:
		o, err := web.ParseBody(r, body, "Email")
		if err != nil {
			return nil, err
		}
		o.Require("emails")
		list = o.Strings("emails", maxOwnEmails, 255).Value
		if err := o.Err(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// checkEmails is the 422 for a list of addresses that nobody can claim, or nil.
func checkEmails(list []string) error {
	wrong := func(e string) bool { return !PlausibleEmail(e) }
	if len(list) == 0 || len(list) > maxOwnEmails || slices.ContainsFunc(list, wrong) {
		return errs.Validation(errs.Field{Resource: "Email", Field: "emails", Code: errs.InvalidField,
			Message: "emails must be 1 to " + strconv.Itoa(maxOwnEmails) + " e-mail addresses"})
	}
	return nil
}

// OwnEmail is an address that somebody claims.
type OwnEmail struct {
	Email
	Primary bool
	Shown   bool // it is in the profile, and written as there
}

// OwnEmails lists the addresses that the caller claims, the oldest first. The primary address is the one in
// the profile, else the oldest verified one, to which mail is sent, else the oldest.
func (s *Service) OwnEmails(ctx context.Context, caller *Caller) (list []OwnEmail, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		me, err := ByID(tx, caller.ID)
		if err != nil {
			return err
		}
		found, err := emailsOf(tx, caller.ID)
		list = make([]OwnEmail, len(found))
		for n, e := range found {
			if list[n].Email = e; me.Email != nil && Fold(*me.Email) == e.Address {
				list[n].Address, list[n].Shown = *me.Email, true
			}
		}
		setPrimary(list)
		return err
	})
	return list, err
}

func setPrimary(list []OwnEmail) {
	at := slices.IndexFunc(list, func(e OwnEmail) bool { return e.Shown })
	if at < 0 {
		at = slices.IndexFunc(list, func(e OwnEmail) bool { return e.Verified })
	}
	if len(list) > 0 {
		list[max(at, 0)].Primary = true
	}
}

// AddOwnEmails claims addresses for the caller. Error: 422 for an invalid address, for one that is reserved
// for another account, and for too many addresses.
func (s *Service) AddOwnEmails(ctx context.Context, caller *Caller, addresses []string) error {
	if err := checkEmails(addresses); err != nil {
		return err
	}
	return s.changeEmails(ctx, caller, caller.Login, audit.UserAddEmail, func(tx *db.Tx, a *Account) error {
		for _, address := range addresses {
			if err := claim(tx, a, address); err != nil {
				return err
			}
			if err := askVerify(tx, a, address); err != nil {
				return err
			}
		}
		list, err := emailsOf(tx, a.ID)
		if err == nil && len(list) > maxOwnEmails {
			err = errs.Newf(errs.Invalid, "An account has at most %d addresses.", maxOwnEmails)
		}
		return err
	})
}

// RemoveOwnEmails takes addresses from the caller. Errors: 404, 422.
func (s *Service) RemoveOwnEmails(ctx context.Context, caller *Caller, addresses []string) error {
	if err := checkEmails(addresses); err != nil {
		return err
	}
	return s.changeEmails(ctx, caller, caller.Login, audit.UserRemoveEmail, func(tx *db.Tx, a *Account) error {
		for _, address := range addresses {
			if err := unclaim(tx, a, address); err != nil {
				return err
			}
		}
		return nil
	})
}
