package testkit

import (
	"crypto/ed25519"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// Signer creates a new SSH key.
func Signer(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// PublicKey is the public half of a new SSH key, as people paste it.
func PublicKey(t testing.TB) string {
	t.Helper()
	return AuthorizedKey(Signer(t))
}

// AuthorizedKey is the public half of a key, as people paste it.
func AuthorizedKey(s ssh.Signer) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey())))
}
