package testkit

import (
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
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

// OpenPGP is a new OpenPGP key of an address, and its public half in ASCII armor.
func OpenPGP(t testing.TB, email string) (*openpgp.Entity, string) {
	t.Helper()
	e, err := openpgp.NewEntity("Somebody", "", email, &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	w, err := armor.Encode(&b, openpgp.PublicKeyType, nil)
	if err == nil {
		err = errors.Join(e.Serialize(w), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return e, b.String()
}

// AuthorizedKey is the public half of a key, as people paste it.
func AuthorizedKey(s ssh.Signer) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey())))
}
