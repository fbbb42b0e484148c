package session

import (
	"strings"
	"testing"
)

// Common passwords are rejected; well-chosen ones are accepted.
func TestCommonPasswords(t *testing.T) {
	t.Parallel()
	for _, password := range []string{
		"password", "Password", "PASSWORD1", "password123", "P@ssw0rd", "p@$$w0rd!", "Passw0rd2024", "123password",
		"password12345678", "12345678", "87654321", "123456789012", "qwertyui", "QWERTZUIOP", "qwerasdf", "asdfghjkl",
		"abcd1234", "1q2w3e4r", "1qaz2wsx", "aaaaaaaa", "abababab", "xyzzxyzz", "abcabcabc", "111222333", "Welcome1!", "letmein99",
		"iloveyou", "trustno1", "changeme", "administrator", "Admin2024!", "summer2025", "arbor123", "Arb0r!!!", "alice123",
		"alicealice", "!!alice!!", "al1ce2024",
	} {
		err := CheckPassword("alice", password)
		if err == nil || !strings.Contains(err.Error(), "choose another one") {
			t.Errorf("%q may be a password: %v", password, err)
		}
	}
	for _, password := range []string{
		"a long secret", "another secret", "greenhouse", "correct horse battery staple", "tomatoes-84629471", "x7Kq!pR2",
		"alice has a garden", "passwords are dull", "dragonfly-on-water", "3f9b2c71", "garden gnome 12345678", "жёлтая груша",
		"QZ3VKM2PRLWX5TNA", "passwörter-sind-doof",
	} {
		if err := CheckPassword("alice", password); err != nil {
			t.Errorf("%q: %v", password, err)
		}
	}
	for text := range commonPasswords() {
		if len(text) < minPassword || text != strings.ToLower(text) {
			t.Errorf("the list has %q, which no password can be", text)
		}
	}
}
