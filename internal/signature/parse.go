package signature

import (
	"crypto"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"arbor/internal/account/signkey"
)

// maxText is the size in bytes of the longest signature that is read. One of a key with 8192 bits takes 1.5 KiB.
const maxText = 16 << 10

// sshNamespace is what git signs for. A signature that a key made for anything else is none of a commit.
const sshNamespace = "git"

// parsed is a signature of which only the form was checked.
type parsed struct {
	kind   signkey.Kind
	handle string // of the key that it names
	pgp    *packet.Signature
	ssh    *sshsig.Signature
}

// parse reads one armored signature. The reason is empty if it has the form of one.
func parse(text string) (*parsed, Reason) {
	text = strings.TrimSpace(text)
	pgp, isSSH := "-----BEGIN "+openpgp.SignatureType+"-----", "-----BEGIN "+sshsig.PEMType+"-----"
	switch {
	case !strings.HasPrefix(text, pgp) && !strings.HasPrefix(text, isSSH):
		return nil, UnknownType
	case len(text) > maxText, strings.Count(text, "-----BEGIN ") != 1, !endsOnce(text):
		return nil, Malformed
	}
	p, err := parsePGP(text)
	if strings.HasPrefix(text, isSSH) {
		p, err = parseSSH(text)
	}
	if err != nil {
		return nil, Malformed
	}
	return p, ""
}

// Describe returns the kind of a signature and the handle of the key that it names; zero if it cannot be read.
func Describe(text string) (signkey.Kind, string) {
	p, _ := parse(text)
	if p == nil {
		return 0, ""
	}
	return p.kind, p.handle
}

// endsOnce reports whether nothing follows the end of the armor, where git would show it and nobody signed it.
func endsOnce(text string) bool {
	at := strings.Index(text, "-----END ")
	return at >= 0 && !strings.Contains(text[at:], "\n")
}

func parsePGP(text string) (*parsed, error) {
	block, err := armor.Decode(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	packets := packet.NewReader(io.LimitReader(block.Body, maxText))
	first, err := packets.Next()
	if err != nil {
		return nil, err
	}
	sig, ok := first.(*packet.Signature)
	if _, err := packets.Next(); !ok || !errors.Is(err, io.EOF) {
		return nil, errors.New("not one signature")
	}
	id := sig.IssuerKeyId
	switch n := len(sig.IssuerFingerprint); {
	case id != nil:
	case n == 20: // of version 4
		id = new(binary.BigEndian.Uint64(sig.IssuerFingerprint[n-8:]))
	default:
		return nil, errors.New("no issuer")
	}
	return &parsed{kind: signkey.OpenPGP, handle: signkey.Handle(*id), pgp: sig}, nil
}

func parseSSH(text string) (*parsed, error) {
	sig, err := sshsig.Unarmor([]byte(text))
	if err != nil {
		return nil, err
	}
	return &parsed{kind: signkey.SSH, handle: ssh.FingerprintSHA256(sig.PublicKey), ssh: sig}, nil
}

// hashes are those with which an OpenPGP signature is trusted: not SHA-1 and what is older.
var hashes = []crypto.Hash{crypto.SHA224, crypto.SHA256, crypto.SHA384, crypto.SHA512, crypto.SHA3_256, crypto.SHA3_512}

// by reports whether the key made the signature of the payload. public is the PublicKey of a signkey.Key.
func (p *parsed) by(public, payload string) bool {
	if p.kind == signkey.SSH {
		k, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
		return err == nil && sshsig.Verify(strings.NewReader(payload), p.ssh, k, p.ssh.HashAlgorithm, sshNamespace) == nil
	}
	raw, err := base64.StdEncoding.DecodeString(public)
	if err != nil {
		return false
	}
	read, err := packet.Read(strings.NewReader(string(raw)))
	k, ok := read.(*packet.PublicKey)
	if err != nil || !ok || !p.pgp.CheckKeyIdOrFingerprint(k) || !trusted(p.pgp) {
		return false
	}
	h, err := p.pgp.PrepareVerify()
	if err != nil {
		return false
	}
	_, _ = io.WriteString(h, payload)
	return k.VerifySignature(h, p.pgp) == nil
}

// trusted reports whether a signature is of a form that git makes: of bytes, without an end, with a hash that is not
// broken, and without conditions that only other programs know.
func trusted(s *packet.Signature) bool {
	return s.SigType == packet.SigTypeBinary && (s.SigLifetimeSecs == nil || *s.SigLifetimeSecs == 0) &&
		slices.Contains(hashes, s.Hash) && s.Hash.Available() &&
		!slices.ContainsFunc(s.Notations, func(n *packet.Notation) bool { return n.IsCritical })
}
