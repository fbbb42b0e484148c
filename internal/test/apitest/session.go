package apitest

import (
	"testing"

	"arbor/internal/account/session"
	"arbor/internal/account/token"
	"arbor/internal/scope"
)

// Session signs a user in as by a browser, with a token, and returns the cookie's value.
func (s *Server) Session(t testing.TB, login string) string {
	t.Helper()
	session, err := s.Forge.Sessions.SignInWithToken(t.Context(), s.Token(t, login), session.Origin{Agent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// PasswordSession is Session with a password, which is set if the user has none: such a session may create
// tokens.
func (s *Server) PasswordSession(t testing.TB, login string) string {
	t.Helper()
	const password = "a long secret"
	has, err := s.Forge.Sessions.HasPassword(t.Context(), login)
	if err == nil && !has {
		err = s.Forge.Sessions.SetPassword(t.Context(), login, password, nil)
	}
	var value string
	if err == nil {
		value, err = s.Forge.Sessions.SignIn(t.Context(), login, password, session.Origin{Agent: "test"})
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// Scoped creates a token of a user with scopes, such as "repo, read:org".
func (s *Server) Scoped(t testing.TB, login, scopes string) string {
	t.Helper()
	set, err := scope.Parse(scopes)
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := s.Forge.Tokens.CreateToken(t.Context(),
		token.NewToken{Login: login, Note: "test", Scopes: set})
	if err != nil {
		t.Fatal(err)
	}
	return token
}
