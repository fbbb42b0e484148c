package key_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"arbor/internal/account/key"
	"arbor/internal/errs"
)

// line is the public half of a key as people paste it.
func line(t testing.TB, public crypto.PublicKey) string {
	t.Helper()
	k, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k)))
}

func newED25519(t testing.TB) (string, ed25519.PrivateKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return line(t, public), private
}

func newRSA(t testing.TB, bits int) string {
	t.Helper()
	t.Setenv("GODEBUG", "rsa1024min=0")
	k, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return line(t, &k.PublicKey)
}

// Of a security key, as ssh-keygen -t ed25519-sk writes it.
const securityKey = "sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIHcxd/Ey2aQxvQ2yGZvUQnRi7AkuWdZPjxQNyWcQQgAKAAAABHNzaDo="

// What people have is taken, and kept without their names.
func TestParse(t *testing.T) {
	plain, _ := newED25519(t)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{plain, line(t, &p384.PublicKey), newRSA(t, 2048), securityKey} {
		for _, variant := range []string{text, text + "\n", text + " alice at home\r\n", "  " + text + "  "} {
			k, err := key.Parse(variant)
			if err != nil || k.Text != text {
				t.Errorf("%q: %v, %v", variant, k, err)
			}
			if strings.Contains(variant, "alice") != (k.Comment == "alice at home") {
				t.Errorf("%q has the comment %q", variant, k.Comment)
			}
			if !strings.HasPrefix(k.Fingerprint, "SHA256:") || len(k.Fingerprint) != 50 {
				t.Errorf("fingerprint %q", k.Fingerprint)
			}
		}
	}
}

// A weak key would let others in; a private one in the store would be one that leaks.
func TestParseRefuses(t *testing.T) {
	plain, private := newED25519(t)
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	body := strings.Fields(plain)[1]
	for text, why := range map[string]string{
		"":                                        "OpenSSH public key format",
		"alice":                                   "OpenSSH public key format",
		"ssh-ed25519":                             "OpenSSH public key format",
		"ssh-ed25519 !!!":                         "OpenSSH public key format",
		"ssh-rsa " + body:                         "OpenSSH public key format",
		"ssh-ed25519 " + body[:60]:                "OpenSSH public key format",
		"command=\"ls\" " + plain:                 "OpenSSH public key format",
		plain + "\n" + plain:                      "one line",
		plain + "\x00":                            "one line",
		newRSA(t, 1024):                           "2048 bits",
		"ssh-dss AAAAB3NzaC1kc3MAAACBAOpL":        "DSA",
		"ssh-ed25519-cert-v01@openssh.com AAAA":   "certificate",
		string(pem.EncodeToMemory(block)):         "private key",
		"-----BEGIN RSA PRIVATE KEY-----\nsecret": "private key",
		"PuTTY-User-Key-File-3: ssh-ed25519\n":    "private key",
		plain + " " + strings.Repeat("x", 9000):   "too long",
	} {
		_, err := key.Parse(text)
		if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), why) {
			t.Errorf("%.60q: %v, want %q", text, err, why)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), body)) {
			t.Errorf("%.60q is repeated: %v", text, err)
		}
	}
}

// Whatever is taken reads the same once more, and has the fingerprint by which it signs in.
func FuzzParse(f *testing.F) {
	f.Add(securityKey)
	f.Add("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC7 x")
	f.Fuzz(func(t *testing.T, text string) {
		k, err := key.Parse(text)
		if err != nil {
			if !errs.Is(err, errs.Invalid) {
				t.Fatal(err)
			}
			return
		}
		again, err := key.Parse(k.Text)
		if err != nil || again.Text != k.Text || again.Fingerprint != k.Fingerprint {
			t.Fatalf("%q became %v, then %v, %v", text, k, again, err)
		}
		public, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(k.Text))
		if err != nil || len(rest) > 0 || ssh.FingerprintSHA256(public) != k.Fingerprint {
			t.Fatalf("%q: %v", k.Text, err)
		}
	})
}
