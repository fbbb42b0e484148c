package pages_test

import (
	"testing"

	"golang.org/x/oauth2"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// Go's own client signs somebody in, with PKCE, by each way to send the client's secret.
func TestOAuthClientOfGo(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "bob")
	const callback = "https://weeder.example/cb"
	c := newClient(t, s, "bob", callback)
	session := s.PasswordSession(t, "alice")
	for _, style := range []oauth2.AuthStyle{oauth2.AuthStyleAutoDetect, oauth2.AuthStyleInHeader,
		oauth2.AuthStyleInParams} {
		of := &oauth2.Config{ClientID: c.ClientID, ClientSecret: c.secret, RedirectURL: callback,
			Scopes: []string{"repo"},
			Endpoint: oauth2.Endpoint{AuthURL: "/login/oauth/authorize", TokenURL: s.URL + "/login/oauth/access_token",
				AuthStyle: style}}
		secret := oauth2.GenerateVerifier()
		visit(t, s, "POST /login/oauth/authorize", session, c.asks("scope", "repo")+"&answer=allow")
		_, q := ledTo(t, visit(t, s, "GET "+of.AuthCodeURL("s&t", oauth2.S256ChallengeOption(secret)), session, ""))
		token, err := of.Exchange(t.Context(), q.Get("code"), oauth2.VerifierOption(secret))
		if err != nil || q.Get("state") != "s&t" || token.Type() != "Bearer" || !token.Expiry.IsZero() {
			t.Fatalf("%v: %v %v", style, token, err)
		}
		works(t, s, token.AccessToken, true)
		if _, err := of.Exchange(t.Context(), q.Get("code"), oauth2.VerifierOption(secret)); err == nil {
			t.Error("the code is good twice")
		}
	}
}
