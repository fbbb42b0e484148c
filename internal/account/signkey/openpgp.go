package signkey

import (
	"bytes"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Bounds of OpenPGP keys. Checking a key costs one operation for each of its signatures, and signatures of other
// people, which may be thousands, are dropped first.
const (
	maxArmor      = 256 << 10 // bytes of text
	maxKept       = 32 << 10  // bytes of packets without other people's signatures
	maxSubkeys    = 20
	maxIdentities = 50
	maxSignatures = 100
	minRSA        = 2048 // bits
	maxRSA        = 8192
)

// Tags of packets.
const (
	tagSignature     = 2
	tagSecretKey     = 5
	tagPublicKey     = 6
	tagSecretSubkey  = 7
	tagUserID        = 13
	tagPublicSubkey  = 14
	tagUserAttribute = 17
)

// readOpenPGP reads an armored public key: the primary key first, then its subkeys. Errors: Invalid, in words that
// never repeat the text, which may be a private key.
func readOpenPGP(text string) ([]Key, error) {
	if strings.Contains(text, "PRIVATE KEY") {
		return nil, errPrivate()
	}
	if len(text) > maxArmor {
		return nil, invalid("the key is too long")
	}
	block, err := armor.Decode(strings.NewReader(text))
	if err != nil || block.Type != openpgp.PublicKeyType {
		return nil, errFormat()
	}
	kept, err := minimal(block.Body)
	if err != nil {
		return nil, err
	}
	e, err := openpgp.ReadEntity(packet.NewReader(bytes.NewReader(kept)))
	if err != nil {
		return nil, invalid("the key is invalid: it is not certified by itself")
	}
	list, err := keysOf(e)
	if err == nil {
		list[0].Armor, err = armored(kept)
	}
	return list, err
}

// minimal returns the packets of a key that count here: without signatures of other people, pictures, and subkeys of
// algorithms that are not supported.
func minimal(body io.Reader) ([]byte, error) {
	m := &minimizer{}
	packets := packet.NewOpaqueReader(io.LimitReader(body, maxArmor))
	for {
		p, err := packets.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errFormat()
		}
		if err := m.add(p); err != nil {
			return nil, err
		}
	}
	if m.primary == nil {
		return nil, errFormat()
	}
	return m.kept.Bytes(), nil
}

// minimizer selects packets.
type minimizer struct {
	kept                            bytes.Buffer
	primary                         *packet.PublicKey
	skips                           bool // the packet that signatures follow is not kept
	inSubkey                        bool
	subkeys, identities, signatures int
}

func (m *minimizer) add(p *packet.OpaquePacket) error {
	switch {
	case p.Tag == tagSecretKey || p.Tag == tagSecretSubkey:
		return errPrivate()
	case m.primary == nil && p.Tag != tagPublicKey:
		return errFormat()
	case m.primary != nil && p.Tag == tagPublicKey:
		return invalid("there are several keys: add one at a time")
	}
	keeps := true
	switch p.Tag {
	case tagPublicKey:
		parsed, _ := p.Parse()
		public, ok := parsed.(*packet.PublicKey)
		if !ok {
			return errAlgorithm()
		}
		if err := checkPublic(public); err != nil {
			return err
		}
		m.primary = public
	case tagPublicSubkey:
		m.inSubkey, m.subkeys = true, m.subkeys+1
		parsed, _ := p.Parse()
		public, ok := parsed.(*packet.PublicKey)
		m.skips = !ok || checkPublic(public) != nil
		keeps = !m.skips
	case tagUserID:
		m.skips, m.inSubkey, m.identities = false, false, m.identities+1
	case tagUserAttribute:
		m.skips, m.inSubkey, keeps = true, false, false
	case tagSignature:
		keeps = !m.skips && m.byOwner(p)
	default:
		keeps = false
	}
	if !keeps {
		return nil
	}
	if err := p.Serialize(&m.kept); err != nil {
		return err
	}
	if m.subkeys > maxSubkeys || m.identities > maxIdentities || m.signatures > maxSignatures ||
		m.kept.Len() > maxKept {
		return invalid("the key is too long: export it with --export-options export-minimal")
	}
	return nil
}

// byOwner reports whether a signature is the key's own, and counts those.
func (m *minimizer) byOwner(p *packet.OpaquePacket) bool {
	parsed, _ := p.Parse()
	sig, ok := parsed.(*packet.Signature)
	if !ok || !m.inSubkey && !sig.CheckKeyIdOrFingerprint(m.primary) {
		return false
	}
	m.signatures++
	return true
}

// checkPublic returns an error for a key that is weak, costs too much, or has an algorithm that is not supported.
func checkPublic(k *packet.PublicKey) error {
	switch k.PubKeyAlgo {
	case packet.PubKeyAlgoRSA, packet.PubKeyAlgoRSASignOnly, packet.PubKeyAlgoRSAEncryptOnly:
		of, ok := k.PublicKey.(*rsa.PublicKey)
		switch {
		case !ok || of.N.Bit(0) == 0 || of.E < 3 || of.E%2 == 0:
			return errFormat()
		case of.N.BitLen() < minRSA:
			return invalid("the key is weak. RSA keys need 2048 bits or more")
		case of.N.BitLen() > maxRSA:
			return invalid("the key is too long. RSA keys have 8192 bits at most")
		}
		return nil
	case packet.PubKeyAlgoEd25519, packet.PubKeyAlgoX25519, packet.PubKeyAlgoEd448, packet.PubKeyAlgoX448:
		return nil
	case packet.PubKeyAlgoECDSA, packet.PubKeyAlgoECDH, packet.PubKeyAlgoEdDSA:
		curve, err := k.Curve()
		if err == nil && slices.Contains(curves, curve) {
			return nil
		}
	}
	return errAlgorithm()
}

// curves are those that are fast in Go.
var curves = []packet.Curve{packet.Curve25519, packet.Curve448, packet.CurveNistP256, packet.CurveNistP384,
	packet.CurveNistP521}

// keysOf returns the rows of a key that the library has checked. Each subkey ends with its primary key.
func keysOf(e *openpgp.Entity) ([]Key, error) {
	self, _ := e.PrimarySelfSignature()
	if self == nil {
		return nil, errFormat()
	}
	primary, err := newKey(e.PrimaryKey, self)
	if err != nil {
		return nil, err
	}
	if !self.FlagsValid {
		primary.Can = Sign | Certify
	}
	primary.Revoked, primary.Emails = len(e.Revocations) > 0, emailsOf(e)
	list := []Key{primary}
	for _, sub := range e.Subkeys {
		k, err := newKey(sub.PublicKey, sub.Sig)
		if err != nil {
			return nil, err
		}
		if primary.ExpiresAt != 0 && (k.ExpiresAt == 0 || primary.ExpiresAt < k.ExpiresAt) {
			k.ExpiresAt = primary.ExpiresAt
		}
		k.Revoked, k.Emails = primary.Revoked || len(sub.Revocations) > 0, primary.Emails
		if !slices.ContainsFunc(list, func(other Key) bool { return other.Handle == k.Handle }) {
			list = append(list, k)
		}
	}
	return list, nil
}

func newKey(public *packet.PublicKey, self *packet.Signature) (Key, error) {
	var b bytes.Buffer
	if err := public.Serialize(&b); err != nil {
		return Key{}, errFormat()
	}
	k := Key{Kind: OpenPGP, Handle: Handle(public.KeyId), PublicKey: base64.StdEncoding.EncodeToString(b.Bytes()),
		MadeAt: db.FromTime(public.CreationTime)}
	for _, f := range [...]struct {
		set bool
		can Capability
	}{{self.FlagSign && public.CanSign(), Sign}, {self.FlagEncryptCommunications, EncryptMessages},
		{self.FlagEncryptStorage, EncryptStorage}, {self.FlagCertify, Certify}} {
		if f.set {
			k.Can |= f.can
		}
	}
	k.ExpiresAt = earlier(after(public.CreationTime, self.KeyLifetimeSecs), after(self.CreationTime, self.SigLifetimeSecs))
	return k, nil
}

// Handle is the text of a key id.
func Handle(id uint64) string { return fmt.Sprintf("%016X", id) }

// after returns the end of a lifetime; zero: none.
func after(begin time.Time, seconds *uint32) db.Time {
	if seconds == nil || *seconds == 0 {
		return 0
	}
	return db.FromTime(begin.Add(time.Duration(*seconds) * time.Second))
}

func earlier(a, b db.Time) db.Time {
	const never = db.Time(math.MaxInt64)
	if a == 0 {
		a = never
	}
	if b == 0 {
		b = never
	}
	if a = min(a, b); a == never {
		return 0
	}
	return a
}

// emailsOf returns the addresses of the identities that are certified and not revoked, folded and sorted.
func emailsOf(e *openpgp.Entity) []string {
	var list []string
	for _, identity := range e.Identities {
		address := account.Fold(identity.UserId.Email)
		if len(identity.Revocations) == 0 && account.PlausibleEmail(address) {
			list = append(list, address)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func armored(packets []byte) (string, error) {
	var b strings.Builder
	w, err := armor.Encode(&b, openpgp.PublicKeyType, nil)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(packets); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return b.String() + "\n", nil
}

func errPrivate() error {
	return invalid("this is a private key: export the public one, and make a new pair, because a private key that " +
		"was sent somewhere may have been read")
}

func errAlgorithm() error {
	return invalid("the key's algorithm is not supported: use ed25519, or RSA with 2048 bits or more")
}

func errFormat() error {
	return invalid("We got an error doing that: the text is not a GPG public key in ASCII armor")
}

func invalid(message string) error { return errs.New(errs.Invalid, message) }
