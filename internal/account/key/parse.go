package key

import (
	"bytes"
	"crypto/rsa"
	"encoding/base64"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"arbor/internal/errs"
)

// Public SSH keys are read as users paste them; invalid and weak ones are refused.

// MaxText bounds the text of a key, its comment included, in bytes. The largest RSA key takes
// a third of it.
const MaxText = 8 << 10

// Bounds of RSA keys, in bits. What is smaller can be broken, what is larger costs too much to verify.
const (
	minRSA = 2048
	maxRSA = 16384
)

// types are the types of keys that may sign in.
var types = []string{
	ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521,
	ssh.KeyAlgoSKECDSA256, ssh.KeyAlgoRSA,
}

// Parsed is the text of a public key that may sign in.
type Parsed struct {
	Text        string // its type and its bytes in base64, without a comment
	Comment     string // what stood behind it; perhaps no UTF-8
	Fingerprint string // as `ssh-keygen -l` says it: "SHA256:..."
}

// Parse reads one line of OpenSSH's form: type, base64, perhaps a comment. Error: Invalid, in words
// that never repeat the text, which may be a private key.
func Parse(text string) (Parsed, error) {
	if isPrivate(text) {
		return Parsed{}, invalid(
			"this is a private key: take the one whose file ends in .pub, and make a new pair, " +
				"because a private key that was sent somewhere may have been read")
	}
	if len(text) > MaxText {
		return Parsed{}, invalid("key is too long")
	}
	text = strings.TrimRight(text, "\r\n \t")
	if strings.ContainsAny(text, "\r\n\x00") {
		return Parsed{}, invalid("key is invalid. It must be one line: type, key, comment")
	}
	kind, rest, _ := strings.Cut(strings.TrimLeft(text, " \t"), " ")
	if err := checkType(kind); err != nil {
		return Parsed{}, err
	}
	encoded, comment, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	blob, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(blob) == 0 {
		return Parsed{}, errFormat()
	}
	public, err := ssh.ParsePublicKey(blob)
	if err != nil || public.Type() != kind || !bytes.Equal(public.Marshal(), blob) {
		return Parsed{}, errFormat()
	}
	if err := checkRSA(public); err != nil {
		return Parsed{}, err
	}
	return Parsed{Text: kind + " " + base64.StdEncoding.EncodeToString(blob),
		Comment:     strings.TrimSpace(comment),
		Fingerprint: ssh.FingerprintSHA256(public)}, nil
}

// isPrivate reports the forms of private keys: PEM's, OpenSSH's and PuTTY's.
func isPrivate(text string) bool {
	return strings.Contains(text, "PRIVATE KEY") || strings.Contains(text, "PuTTY-User-Key-File")
}

func checkType(kind string) error {
	switch {
	case slices.Contains(types, kind):
		return nil
	case strings.Contains(kind, "-cert-v0"):
		return invalid("key is a certificate, which is not supported: take the key that it is for")
	case kind == "ssh-dss":
		return invalid("key is weak. DSA keys are not supported: make one of type ed25519")
	default:
		return errFormat()
	}
}

// checkRSA refuses RSA keys that are weak or too costly.
func checkRSA(public ssh.PublicKey) error {
	holder, ok := public.(ssh.CryptoPublicKey)
	if !ok {
		return nil
	}
	k, ok := holder.CryptoPublicKey().(*rsa.PublicKey)
	if !ok {
		return nil
	}
	switch bits := k.N.BitLen(); {
	case bits < minRSA:
		return invalid("key is weak. RSA keys need 2048 bits or more: make one of type ed25519")
	case bits > maxRSA:
		return invalid("key is too long. RSA keys have 16384 bits at most")
	case k.N.Sign() <= 0 || k.N.Bit(0) == 0 || k.E < 3:
		return errFormat()
	}
	return nil
}

func errFormat() error {
	return invalid("key is invalid. You must supply a key in OpenSSH public key format")
}

func invalid(message string) error { return errs.New(errs.Invalid, message) }
