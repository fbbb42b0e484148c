package oauth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// maxToken is the greatest length of a token that a program asks about, in bytes.
const maxToken = 255

// authorization is GitHub's authorization: a token as its App sees it.
type authorization struct {
	ID             int64           `json:"id"`
	URL            string          `json:"url"`
	App            application     `json:"app"`
	Token          string          `json:"token"`
	HashedToken    string          `json:"hashed_token"`
	TokenLastEight string          `json:"token_last_eight"`
	Note           *string         `json:"note"`
	NoteURL        *string         `json:"note_url"`
	CreatedAt      db.Time         `json:"created_at"`
	UpdatedAt      db.Time         `json:"updated_at"`
	Scopes         []string        `json:"scopes"`
	Fingerprint    *string         `json:"fingerprint"`
	ExpiresAt      db.Time         `json:"expires_at"`
	User           *account.Simple `json:"user"`
}

type application struct {
	ClientID string `json:"client_id"`
	Name     string `json:"name"`
	URL      string `json:"url"`
}

func newAuthorization(g *Given, i *web.Info) *authorization {
	sum := sha256.Sum256([]byte(g.Token))
	p := &authorization{ID: g.ID, URL: i.API("/authorizations/" + account.ID(g.ID).String()),
		App:   application{g.App.ClientID, g.App.Name, g.App.Homepage},
		Token: g.Token, HashedToken: hex.EncodeToString(sum[:]), TokenLastEight: g.Token[len(g.Token)-8:],
		CreatedAt: g.CreatedAt, UpdatedAt: g.CreatedAt, ExpiresAt: g.ExpiresAt, Scopes: []string{}, User: account.NewSimple(g.User, i)}
	if g.Scopes != 0 {
		p.Scopes = strings.Split(g.Scopes.String(), ", ")
	}
	return p
}

// readToken reads the client of Basic, which must be the one in the address, and the token in the body. Errors: 400,
// 401; 404 for another client's address; 422.
func readToken(r *http.Request) (c Client, value string, err error) {
	if len(r.Header["Authorization"]) == 0 {
		return c, "", errs.New(errs.Unauthenticated, "Requires authentication")
	}
	c, ok := basicOf(r)
	if !ok {
		return c, "", account.BadCredentials()
	}
	if c.ID != web.Param(r, "client_id") {
		return c, "", errs.Absent()
	}
	body, err := web.ReadObject(r, "Authorization")
	if err != nil {
		return c, "", err
	}
	body.Require("access_token")
	value = body.String("access_token", maxToken).Value
	return c, value, body.Err()
}

// POST /applications/{client_id}/token
//
// CheckToken answers what an OAuth App may know of a token that it has, to the client that sends its id and secret by
// Basic. Errors: 401 for wrong ones; 404 for a token that is not in force, or another App's; 422.
func (a *API) CheckToken(w http.ResponseWriter, r *http.Request) error {
	c, value, err := readToken(r)
	if err != nil {
		return err
	}
	g, err := a.s.CheckToken(r.Context(), c, value)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return web.JSON(w, r, http.StatusOK, newAuthorization(g, web.From(r.Context())))
}

// PATCH /applications/{client_id}/token
//
// ResetToken replaces a token of an OAuth App: the former one ends. The client sends its id and secret by Basic.
// Errors: as those of CheckToken.
func (a *API) ResetToken(w http.ResponseWriter, r *http.Request) error {
	c, value, err := readToken(r)
	if err != nil {
		return err
	}
	g, err := a.s.ResetToken(r.Context(), c, value)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return web.JSON(w, r, http.StatusOK, newAuthorization(g, web.From(r.Context())))
}

// DELETE /applications/{client_id}/token
//
// EndToken ends a token of an OAuth App. The client sends its id and secret by Basic. Errors: as those of CheckToken.
func (a *API) EndToken(w http.ResponseWriter, r *http.Request) error {
	c, value, err := readToken(r)
	if err == nil {
		err = a.s.EndToken(r.Context(), c, value)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// DELETE /applications/{client_id}/grant
//
// EndGrant ends all that the user of a token allowed its OAuth App: the App's tokens and codes of that user. The client
// sends its id and secret by Basic. Errors: as those of CheckToken.
func (a *API) EndGrant(w http.ResponseWriter, r *http.Request) error {
	c, value, err := readToken(r)
	if err == nil {
		err = a.s.EndGrant(r.Context(), c, value)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}
