package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// authorization is GitHub's payload of a token of an OAuth App.
type authorization struct {
	ID             int64           `json:"id"`
	URL            string          `json:"url"`
	Scopes         []string        `json:"scopes"`
	Token          string          `json:"token"`
	TokenLastEight string          `json:"token_last_eight"`
	HashedToken    string          `json:"hashed_token"`
	App            application     `json:"app"`
	Note           *string         `json:"note"`
	NoteURL        *string         `json:"note_url"`
	UpdatedAt      db.Time         `json:"updated_at"`
	CreatedAt      db.Time         `json:"created_at"`
	Fingerprint    *string         `json:"fingerprint"`
	ExpiresAt      *db.Time        `json:"expires_at"`
	User           *account.Simple `json:"user"`
}

type application struct {
	Name     string `json:"name"`
	URL      string `json:"url"`
	ClientID string `json:"client_id"`
}

func newAuthorization(h *Held, i *web.Info) *authorization {
	sum := sha256.Sum256([]byte(h.Value))
	p := &authorization{ID: h.ID, URL: i.API("/authorizations/" + strconv.FormatInt(h.ID, 10)), Scopes: []string{},
		Token: h.Value, TokenLastEight: h.Value[max(0, len(h.Value)-8):], HashedToken: hex.EncodeToString(sum[:]),
		App:       application{h.App.Name, h.App.Homepage, h.App.ClientID},
		UpdatedAt: h.CreatedAt, CreatedAt: h.CreatedAt, User: account.NewSimple(h.User, i)}
	if h.Scopes != 0 {
		p.Scopes = strings.Split(h.Scopes.String(), ", ")
	}
	return p
}

// onToken reads the client of a request and the token that it names. Errors: 400; 401 for a wrong client; 404 for the
// address of another client; 422.
func onToken(r *http.Request) (c Client, value string, err error) {
	body, err := web.ReadObject(r, "OauthAccess")
	if err != nil {
		return c, "", err
	}
	c, ok := basicOf(r)
	if !ok {
		return c, "", account.BadCredentials()
	}
	if c.ID != web.Param(r, "client_id") {
		return c, "", errs.Absent()
	}
	body.Require("access_token")
	value = body.String("access_token", 255).Value
	return c, value, body.Err()
}

// POST /applications/{client_id}/token
//
// CheckToken answers a token of the OAuth App that asks, with its user and its scopes. Errors: 401 for a wrong client,
// 404 for a token that is none of it or not in force, 422.
func (a *API) CheckToken(w http.ResponseWriter, r *http.Request) error {
	c, value, err := onToken(r)
	if err != nil {
		return err
	}
	h, err := a.s.Check(r.Context(), c, value)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return web.JSON(w, r, http.StatusOK, newAuthorization(h, web.From(r.Context())))
}

// PATCH /applications/{client_id}/token
//
// ResetToken gives a token of the OAuth App another value, which is shown only now. Errors: as those of CheckToken.
func (a *API) ResetToken(w http.ResponseWriter, r *http.Request) error {
	c, value, err := onToken(r)
	if err != nil {
		return err
	}
	h, err := a.s.Reset(r.Context(), c, value, addressOf(r))
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return web.JSON(w, r, http.StatusOK, newAuthorization(h, web.From(r.Context())))
}

// DELETE /applications/{client_id}/token
//
// EndToken ends a token of the OAuth App. Errors: as those of CheckToken.
func (a *API) EndToken(w http.ResponseWriter, r *http.Request) error {
	c, value, err := onToken(r)
	if err == nil {
		err = a.s.End(r.Context(), c, value, addressOf(r))
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// DELETE /applications/{client_id}/grant
//
// EndGrant ends all that the user of a token allowed the OAuth App, with all tokens of both. Errors: as those of
// CheckToken.
func (a *API) EndGrant(w http.ResponseWriter, r *http.Request) error {
	c, value, err := onToken(r)
	if err == nil {
		err = a.s.EndGrant(r.Context(), c, value, addressOf(r))
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}
