package signkey

import (
	"bytes"
	//lint:ignore SA1019 keys of this kind are what the test has refused
	"crypto/dsa"
	"crypto/rsa"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"

	"arbor/internal/errs"
	"arbor/internal/test/testkit"
)

func entity(t testing.TB, email string) *openpgp.Entity {
	t.Helper()
	e, _ := testkit.OpenPGP(t, email)
	return e
}

// pasted is packets in ASCII armor.
func pasted(t testing.TB, write ...func(*bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	for _, fn := range write {
		testkit.NoError(t, fn(&b))
	}
	text, err := armored(b.Bytes())
	testkit.NoError(t, err)
	return text
}

func serialized(e *openpgp.Entity) func(*bytes.Buffer) error {
	return func(b *bytes.Buffer) error { return e.Serialize(b) }
}

// Signatures of other people, which may be thousands, would fill the database, and each would be checked.
func TestOtherPeopleAreDropped(t *testing.T) {
	t.Parallel()
	e := entity(t, "alice@example.com")
	plain := pasted(t, serialized(e))
	bob := entity(t, "bob@example.com")
	for range 300 {
		testkit.NoError(t, e.SignIdentity("Somebody <alice@example.com>", bob, nil))
	}
	list, err := readOpenPGP(pasted(t, serialized(e)))
	testkit.NoError(t, err)
	if list[0].Armor != plain {
		t.Errorf("%d bytes are kept, want %d", len(list[0].Armor), len(plain))
	}
	if list[0].Can != Sign|Certify || list[1].Can != EncryptMessages|EncryptStorage ||
		strings.Join(list[0].Emails, " ") != "alice@example.com" {
		t.Errorf("it is %+v", list)
	}
}

// A key must not cost more than a moment, whatever is in it.
func TestHostileKeys(t *testing.T) {
	t.Parallel()
	many := entity(t, "alice@example.com")
	for range maxSubkeys {
		testkit.NoError(t, many.AddSigningSubkey(&packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}))
	}
	names := entity(t, "alice@example.com")
	for n := range maxIdentities {
		testkit.NoError(t, names.AddUserId(strings.Repeat("x", n+1), "", "", nil))
	}
	now, large := time.Now(), new(big.Int).SetBit(big.NewInt(1), 60_000, 1)
	public := func(k *packet.PublicKey) func(*bytes.Buffer) error {
		return func(b *bytes.Buffer) error { return k.Serialize(b) }
	}
	alone := func(k *packet.PublicKey) string { return pasted(t, public(k)) }
	secret := pasted(t, func(b *bytes.Buffer) error { return many.PrivateKey.Serialize(b) })
	forged, victim := entity(t, "alice@example.com"), entity(t, "victim@example.com")
	forged.Identities["Somebody <victim@example.com>"] = victim.Identities["Somebody <victim@example.com>"]
	for what, c := range map[string]struct{ text, why string }{
		"nothing":             {"", "not a GPG public key"},
		"no armor":            {"alice", "not a GPG public key"},
		"empty armor":         {pasted(t), "not a GPG public key"},
		"private":             {secret, "private key"},
		"many subkeys":        {pasted(t, serialized(many)), "too long"},
		"many identities":     {pasted(t, serialized(names)), "too long"},
		"two keys":            {pasted(t, serialized(forged), serialized(victim)), "several keys"},
		"huge modulus":        {alone(packet.NewRSAPublicKey(now, &rsa.PublicKey{N: large, E: 65537})), "8192 bits"},
		"even modulus":        {alone(packet.NewRSAPublicKey(now, &rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), 3000), E: 65537})), "not a GPG"},
		"small modulus":       {alone(packet.NewRSAPublicKey(now, &rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), 1000, 1), E: 65537})), "weak"},
		"DSA, huge":           {alone(packet.NewDSAPublicKey(now, &dsa.PublicKey{Parameters: dsa.Parameters{P: large, Q: large, G: large}, Y: large})), "not supported"},
		"without an identity": {alone(many.PrimaryKey), "not certified"},
		"much text":           {strings.Repeat("x", maxArmor+1), "too long"},
	} {
		begun := time.Now()
		_, err := readOpenPGP(c.text)
		if !errs.Is(err, errs.Invalid) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, want %q", what, err, c.why)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s took %s", what, took)
		}
	}
	if list, err := readOpenPGP(pasted(t, serialized(forged))); err == nil && len(list[0].Emails) > 1 {
		t.Errorf("an identity that another key certified counts: %v", list[0].Emails)
	}
}

// Whatever somebody pastes is refused in words, or reads the same again from what is kept.
func FuzzReadOpenPGP(f *testing.F) {
	f.Add([]byte{})
	var b bytes.Buffer
	testkit.NoError(f, entity(f, "alice@example.com").Serialize(&b))
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, packets []byte) {
		text, err := armored(packets)
		testkit.NoError(t, err)
		list, err := readOpenPGP(text)
		if err != nil {
			if !errs.Is(err, errs.Invalid) {
				t.Fatal(err)
			}
			return
		}
		again, err := readOpenPGP(list[0].Armor)
		if err != nil || len(again) != len(list) || again[0].Handle != list[0].Handle || again[0].Armor != list[0].Armor {
			t.Fatalf("%+v became %+v, %v", list, again, err)
		}
	})
}

// A page of commits that long keys signed would take seconds.
func TestLongSSHKeys(t *testing.T) {
	t.Parallel()
	for bits, ok := range map[int]bool{8192: true, 16384: false} {
		k, err := ssh.NewPublicKey(&rsa.PublicKey{N: new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), uint(bits-1)),
			big.NewInt(1)), E: 65537})
		testkit.NoError(t, err)
		_, err = NewKey{Kind: SSH, Text: string(ssh.MarshalAuthorizedKey(k))}.Check()
		if (err == nil) != ok {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
}
