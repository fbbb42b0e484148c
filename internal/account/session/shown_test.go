package session

import (
	"slices"
	"testing"
)

// What other servers are told of how a user signed in: never more than this server saw.
func TestMethods(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		way, level string
		methods    []string
	}{
		{"password", "1", []string{"pwd"}}, {"setup", "1", []string{"pwd"}}, {"ldap:company", "1", []string{"pwd"}},
		{"password+totp", "2", []string{"pwd", "otp", "mfa"}}, {"password+recovery", "2", []string{"pwd", "otp", "mfa"}},
		{"ldap:company+passkey", "2", []string{"pwd", "pop", "mfa"}}, {"passkey", "2", []string{"pop", "user", "mfa"}},
		{"oidc:company", "", nil}, {"token", "", nil}, {"signup", "", nil}, {"", "", nil},
	} {
		s := Shown{With: x.way}
		if !slices.Equal(s.Methods(), x.methods) || s.Level() != x.level {
			t.Errorf("%q is %v at level %q", x.way, s.Methods(), s.Level())
		}
	}
}
