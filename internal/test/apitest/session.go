package apitest

import (
	"testing"

	"arbor/internal/account/session"
	"arbor/internal/account/token"
	"arbor/internal/scope"
	"arbor/internal/test/testkit"
)

// Session signs a user in as by a browser, with a token, and returns the cookie's value.
func (s *Server) Session(t testing.TB, login string) string {
	t.Helper()
	value, err := s.Forge.Sessions.SignInWithToken(t.Context(), s.Token(t, login), session.Origin{Agent: "test"})
	testkit.NoError(t, err)
	return value
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
		value, _, err = s.Forge.Sessions.SignIn(t.Context(), login, password, session.Origin{Agent: "test"})
	}
	testkit.NoError(t, err)
	return value
}

// Fine creates a fine-grained token of a user, which may also change the repositories.
func (s *Server) Fine(t testing.TB, login string, changes bool, repos ...int64) string {
	t.Helper()
	value, _, err := s.Forge.Tokens.CreateToken(t.Context(),
		token.NewToken{Login: login, Note: "fine", Repos: repos, Changes: changes})
	testkit.NoError(t, err)
	return value
}

// Scoped creates a token of a user with scopes, such as "repo, read:org".
func (s *Server) Scoped(t testing.TB, login, scopes string) string {
	t.Helper()
	set, err := scope.Parse(scopes)
	testkit.NoError(t, err)
	value, _, err := s.Forge.Tokens.CreateToken(t.Context(),
		token.NewToken{Login: login, Note: "test", Scopes: set})
	testkit.NoError(t, err)
	return value
}
