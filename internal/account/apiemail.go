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

// maxOwnEmails is how many addresses somebody may claim over HTTP.
const maxOwnEmails = 100

// emailJSON is GitHub's email.
type emailJSON struct {
	Email      string  `json:"email"`
	Primary    bool    `json:"primary"` // it is in the profile
	Verified   bool    `json:"verified"`
	Visibility *string `json:"visibility"`
}

func newEmails(a *Account, list []Email) []emailJSON {
	out := make([]emailJSON, len(list))
	for n, e := range list {
		out[n] = emailJSON{Email: e.Address, Verified: e.Verified}
		if a.Email != nil && Fold(*a.Email) == e.Address {
			out[n].Email, out[n].Primary, out[n].Visibility = *a.Email, true, new("public")
		}
	}
	return out
}

// GET /user/emails
//
// ListOwnEmails answers the addresses that the caller claims, and which of them count for
// commits. That of the profile is the primary one.
func (a *API) ListOwnEmails(w http.ResponseWriter, r *http.Request) error {
	me, list, err := a.s.ownEmails(r.Context(), CallerFrom(r.Context()))
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, web.Cut(w, r, newEmails(me, list)))
}

// POST /user/emails
//
// AddOwnEmails claims addresses, which the operator verifies. Error: 422.
func (a *API) AddOwnEmails(w http.ResponseWriter, r *http.Request) error {
	addresses, err := readEmails(r)
	if err != nil {
		return err
	}
	caller := CallerFrom(r.Context())
	if err := a.s.addOwnEmails(r.Context(), caller, addresses); err != nil {
		return err
	}
	me, list, err := a.s.ownEmails(r.Context(), caller)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusCreated, newEmails(me, list))
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
	if err := a.s.removeOwnEmails(r.Context(), CallerFrom(r.Context()), addresses); err != nil {
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
	wrong := func(e string) bool { return !plausibleEmail(e) }
	if len(list) == 0 || len(list) > maxOwnEmails || slices.ContainsFunc(list, wrong) {
		return nil, errs.Validation(errs.Field{Resource: "Email", Field: "emails", Code: errs.InvalidField,
			Message: "emails must be 1 to " + strconv.Itoa(maxOwnEmails) + " e-mail addresses"})
	}
	return list, nil
}

func (s *Service) ownEmails(ctx context.Context, caller *Caller) (me *Account, list []Email, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if me, err = ByID(tx, caller.ID); err != nil {
			return err
		}
		list, err = emailsOf(tx, caller.ID)
		return err
	})
	return me, list, err
}

// addOwnEmails claims addresses for the caller. Error: 422 for one that is reserved for another
// account, and for too many.
func (s *Service) addOwnEmails(ctx context.Context, caller *Caller, addresses []string) error {
	return s.changeEmails(ctx, caller.Login, audit.UserAddEmail, func(tx *db.Tx, a *Account) error {
		for _, address := range addresses {
			if err := claim(tx, a, address); err != nil {
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

// removeOwnEmails takes addresses from the caller. Error: 404.
func (s *Service) removeOwnEmails(ctx context.Context, caller *Caller, addresses []string) error {
	return s.changeEmails(ctx, caller.Login, audit.UserRemoveEmail, func(tx *db.Tx, a *Account) error {
		for _, address := range addresses {
			if err := unclaim(tx, a, address); err != nil {
				return err
			}
		}
		return nil
	})
}
