package apitest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/app"
	"arbor/internal/db"
	"arbor/internal/scope"
	"arbor/internal/test/testkit"
)

// App is a GitHub App with its private key.
type App struct {
	*app.Made
	Key *rsa.PrivateKey
	s   *Server
}

// NewApp creates an App for an account.
func (s *Server) NewApp(t testing.TB, owner string, m app.Manifest) *App {
	t.Helper()
	if m.URL == "" {
		m.URL = "https://robots.example"
	}
	made, err := s.Server.Forge().Apps.Create(t.Context(), owner, m)
	testkit.NoError(t, err)
	block, _ := pem.Decode([]byte(made.PrivateKey))
	key, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	testkit.NoError(t, err)
	return &App{made, key, s}
}

// JWTOf signs as an App with this private key, in PEM, as shown to its creator.
func JWTOf(t testing.TB, key, slug string, s *Server) string {
	t.Helper()
	block, _ := pem.Decode([]byte(key))
	if block == nil {
		t.Fatalf("no key: %q", key)
	}
	private, err := x509.ParsePKCS1PrivateKey(block.Bytes)
	testkit.NoError(t, err)
	list, err := s.Server.Forge().Apps.List(t.Context())
	testkit.NoError(t, err)
	for _, a := range list {
		if a.Slug == slug {
			return (&App{&app.Made{App: a.App}, private, s}).JWT(t)
		}
	}
	t.Fatalf("there is no App %s", slug)
	return ""
}

// Install installs the App on an account, for some repositories or, without names, for all.
func (a *App) Install(t testing.TB, on string, names ...string) *app.Installation {
	t.Helper()
	i, err := a.s.Server.Forge().Apps.Install(t.Context(), a.Slug, on, names)
	testkit.NoError(t, err)
	return i
}

// JWT signs as the App does: for ten minutes from now.
func (a *App) JWT(t testing.TB) string {
	t.Helper()
	now := time.Now().Unix()
	return SignJWT(t, a.Key, `{"alg":"RS256","typ":"JWT"}`,
		fmt.Sprintf(`{"iss":%d,"iat":%d,"exp":%d}`, a.ID, now-30, now+570))
}

// SignJWT signs a header and claims with RS256, regardless of the header's algorithm.
func SignJWT(t testing.TB, key *rsa.PrivateKey, header, claims string) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(claims))
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	testkit.NoError(t, err)
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// Token creates a token of an installation through the API; body may limit it.
func (a *App) Token(t testing.TB, id account.InstallationID, body string) string {
	t.Helper()
	answer := a.s.Check(t, Case{Do: fmt.Sprintf("POST /app/installations/%d/access_tokens", id), Send: body,
		Headers: a.Signed(t), Status: 201})
	var made struct{ Token string }
	testkit.NoError(t, json.Unmarshal(answer.Body, &made))
	return made.Token
}

// UserToken creates a token by which the App acts for a user, who allows what it asks for.
func (a *App) UserToken(t testing.TB, login string) (made *token.Issued) {
	t.Helper()
	testkit.NoError(t, a.s.DB.Write(t.Context(), func(tx *db.Tx) error {
		client, err := token.OAuthAppOf(tx, a.ClientID)
		if err != nil {
			return err
		}
		by, err := account.ByLogin(tx, login)
		if err != nil {
			return err
		}
		grant, err := token.Allow(tx, client, by, 0)
		if err == nil {
			made, err = token.CreateOAuthToken(tx, client, by, grant, 0, false)
		}
		return err
	}))
	return made
}

// Signed is the header of a request that the App signs.
func (a *App) Signed(t testing.TB) map[string]string { return Bearer(a.JWT(t)) }

// Bearer is the header with a token.
func Bearer(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token}
}

// Permissions reads "contents=write,issues=read".
func Permissions(text string) scope.Permissions { return scope.ParsePermissions(text) }

// keys are private keys of Apps that this process has made. Making one takes as long as a hundred requests,
// so that the first App of each server has the same key, and so has the second.
var keys = struct {
	sync.Mutex
	made []*rsa.PrivateKey
}{}

// keyring hands out its keys in turn.
func keyring() func() (*rsa.PrivateKey, error) {
	given := 0
	return func() (*rsa.PrivateKey, error) {
		keys.Lock()
		defer keys.Unlock()
		if given == len(keys.made) {
			key, err := app.NewKey()
			if err != nil {
				return nil, err
			}
			keys.made = append(keys.made, key)
		}
		given++
		return keys.made[given-1], nil
	}
}

// SetToken registers the token of an actor that is not a user, so that tests make requests under its name.
func (s *Server) SetToken(name, token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[name] = token
}
