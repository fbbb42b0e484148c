package apitest

import (
	"testing"

	"arbor/internal/account"
	"arbor/internal/scope"
	"arbor/internal/test/testkit"
)

// Session signs a user in as by a browser, with a token, and returns the cookie's value.
func (s *Server) Session(t testing.TB, login string) string {
	t.Helper()
	session, err := s.Accounts.SignInWithToken(t.Context(), s.Token(t, login), account.Origin{Agent: "test"})
	testkit.NoError(t, err)
	return session
}

// PasswordSession is Session with a password, which is set if the user has none: such a session may create
// tokens.
func (s *Server) PasswordSession(t testing.TB, login string) string {
	t.Helper()
	const password = "a long secret"
	has, err := s.Accounts.HasPassword(t.Context(), login)
	if err == nil && !has {
		err = s.Accounts.SetPassword(t.Context(), login, password, nil)
	}
	var session string
	if err == nil {
		session, err = s.Accounts.SignIn(t.Context(), login, password, account.Origin{Agent: "test"})
	}
	testkit.NoError(t, err)
	return session
}

// Fine creates a fine-grained token of a user, which may also change the repositories.
func (s *Server) Fine(t testing.TB, login string, changes bool, repos ...int64) string {
	t.Helper()
	token, _, err := s.Accounts.CreateToken(t.Context(),
		account.NewToken{Login: login, Note: "fine", Repos: repos, Changes: changes})
	testkit.NoError(t, err)
	return token
}

// Scoped creates a token of a user with scopes, such as "repo, read:org".
func (s *Server) Scoped(t testing.TB, login, scopes string) string {
	t.Helper()
	set, err := scope.Parse(scopes)
	testkit.NoError(t, err)
	token, _, err := s.Accounts.CreateToken(t.Context(),
		account.NewToken{Login: login, Note: "test", Scopes: set})
	testkit.NoError(t, err)
	return token
}
