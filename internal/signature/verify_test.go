package signature

import (
	"bytes"
	"crypto"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"github.com/hiddeco/sshsig"

	"arbor/internal/account"
	"arbor/internal/account/signkey"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// world is a database with people, their keys and a clock.
type world struct {
	*Service
	d    *db.DB
	keys *signkey.Service
	at   time.Time
	n    int
}

func newWorld(t *testing.T, d *db.DB) *world {
	t.Helper()
	w := &world{Service: New(d, t.TempDir()), d: d, keys: signkey.New(d), at: time.Now()}
	w.now = func() time.Time { return w.at }
	return w
}

// person registers a user whose address is verified or only claimed.
func (w *world) person(t *testing.T, login, email string, verified bool) *account.Caller {
	t.Helper()
	accounts := account.New(w.d, nil)
	a, err := accounts.CreateUser(t.Context(), account.NewUser{Login: login})
	testkit.NoError(t, err)
	testkit.NoError(t, accounts.AddEmail(t.Context(), login, email))
	if verified {
		testkit.NoError(t, accounts.VerifyEmail(t.Context(), login, email))
	}
	return &account.Caller{ID: a.ID, Login: login}
}

func (w *world) add(t *testing.T, of *account.Caller, kind signkey.Kind, text string) signkey.ID {
	t.Helper()
	keys, err := w.keys.Add(audit.With(t.Context(), audit.Actor{}), of, signkey.NewKey{Kind: kind, Text: text})
	testkit.NoError(t, err)
	return keys.List[0].ID
}

// signed is a new object with a signature.
func (w *world) signed(email, payload, signature string) Signed {
	w.n++
	return Signed{Object: git.SHA(fmt.Sprintf("%040x", w.n)), Signature: signature, Payload: payload, Email: email, At: w.at}
}

// wants checks the reason of a signature, also when it is asked again.
func (w *world) wants(t *testing.T, what string, of Signed, want Reason) Verification {
	t.Helper()
	var v Verification
	for range 2 {
		list, err := w.Verify(t.Context(), []Signed{{}, of})
		testkit.NoError(t, err)
		if v = list[1]; v.Reason != want || list[0].Reason != Unsigned || (v.At == 0) == (want == Valid) {
			t.Errorf("%s: %q at %s, want %q", what, v.Reason, v.At, want)
		}
	}
	return v
}

func sign(t testing.TB, e *openpgp.Entity, payload string, config *packet.Config) string {
	t.Helper()
	var b strings.Builder
	testkit.NoError(t, openpgp.ArmoredDetachSign(&b, e, strings.NewReader(payload), config))
	return b.String()
}

const payload = "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nA message\n"

// A reader would trust what somebody else signed, or not what its author did.
func TestReasonsOfOpenPGP(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		w := newWorld(t, d)
		const mail = "alice@example.com"
		alice, bob := w.person(t, "alice", mail, true), w.person(t, "bob", "bob@example.com", true)
		w.person(t, "carol", "carol@example.com", false)
		e, text := testkit.OpenPGP(t, mail)
		good := w.signed(mail, payload, sign(t, e, payload, nil))
		w.wants(t, "before the key is added", good, UnknownKey)
		id := w.add(t, alice, signkey.OpenPGP, text)
		v := w.wants(t, "a good one", good, Valid)
		if v.Signer == nil || v.Signer.Login != "alice" || v.Handle != signkey.Handle(e.PrimaryKey.KeyId) || v.ByServer {
			t.Errorf("it is %+v", v)
		}
		by := func(email, payload string, config *packet.Config) Signed {
			return w.signed(email, payload, sign(t, e, payload, config))
		}
		w.wants(t, "of other bytes", w.signed(mail, payload+" ", good.Signature), Invalid)
		w.wants(t, "of no address", by("", payload, nil), NoUser)
		w.wants(t, "of nobody", by("nobody@example.com", payload, nil), NoUser)
		w.wants(t, "of somebody else", by("bob@example.com", payload, nil), BadEmail)
		w.wants(t, "claimed by somebody else", by("carol@example.com", payload, nil), NoUser)
		w.wants(t, "with an end", by(mail, payload, &packet.Config{SigLifetimeSecs: 1 << 30}), Invalid)
		w.wants(t, "with a hash of today", by(mail, payload, &packet.Config{DefaultHash: crypto.SHA384}), Valid)
		other, otherText := testkit.OpenPGP(t, "other@example.com")
		w.add(t, alice, signkey.OpenPGP, otherText)
		w.wants(t, "of no identity", w.signed(mail, payload, sign(t, other, payload, nil)), BadEmail)
		w.wants(t, "of an address that nobody has", w.signed("other@example.com", payload, sign(t, other, payload, nil)), NoUser)

		testkit.NoError(t, account.New(d, nil).AddEmail(t.Context(), "alice", "other@example.com"))
		w.wants(t, "of an address that is not verified", w.signed("other@example.com", payload, sign(t, other, payload, nil)),
			UnverifiedEmail)
		w.wants(t, "forged with such an address", w.signed("other@example.com", payload+"x", sign(t, other, payload, nil)), Invalid)

		w.add(t, bob, signkey.OpenPGP, text)
		w.wants(t, "when somebody else added the key", good, Valid)
		testkit.NoError(t, w.keys.Remove(t.Context(), alice, signkey.OpenPGP, id))
		w.wants(t, "when only somebody else has it", good, BadEmail)
	})
}

// A person whose signing key is an SSH key would not be believed, or somebody else would.
func TestReasonsOfSSH(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		w := newWorld(t, d)
		const mail = "alice@example.com"
		alice := w.person(t, "alice", mail, true)
		w.person(t, "bob", "bob@example.com", true)
		signer := testkit.Signer(t)
		by := func(email, namespace string) Signed {
			sig, err := sshsig.Sign(strings.NewReader(payload), signer, sshsig.HashSHA512, namespace)
			testkit.NoError(t, err)
			return w.signed(email, payload, string(sshsig.Armor(sig)))
		}
		good := by(mail, "git")
		w.wants(t, "before the key is added", good, UnknownKey)
		w.add(t, alice, signkey.SSH, testkit.AuthorizedKey(signer))
		if v := w.wants(t, "a good one", good, Valid); !strings.HasPrefix(v.Handle, "SHA256:") {
			t.Errorf("it is %+v", v)
		}
		w.wants(t, "for files", by(mail, "file"), Invalid)
		w.wants(t, "of somebody else", by("bob@example.com", "git"), BadEmail)
		w.wants(t, "of nobody", by("nobody@example.com", "git"), NoUser)
		w.wants(t, "of other bytes", w.signed(mail, payload+" ", good.Signature), Invalid)
	})
}

// What has not the form of a signature must not be taken for one.
func TestReasonsOfForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.Open(t, db.SQLite))
	e, _ := testkit.OpenPGP(t, "a@example.com")
	good := sign(t, e, payload, nil)
	for text, want := range map[string]Reason{
		"x": UnknownType,
		"-----BEGIN SIGNED MESSAGE-----\nx\n-----END SIGNED MESSAGE-----":        UnknownType,
		"-----BEGIN PGP SIGNATURE-----\n\niQ\n=x\n-----END PGP SIGNATURE-----":   Malformed,
		"-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----":   Malformed,
		"-----BEGIN PGP SIGNATURE-----":                                          Malformed,
		good + "\n" + good:                                                       Malformed,
		good + "\nand more":                                                      Malformed,
		good + strings.Repeat(" ", maxText) + ".":                                Malformed,
		"\n" + good + "\n":                                                       UnknownKey,
		strings.Replace(good, "-----BEGIN PGP SIGNATURE", "-----BEGIN PGP X", 1): UnknownType,
	} {
		w.wants(t, fmt.Sprintf("%.60q", text), w.signed("a@example.com", payload, text), want)
	}
}

// A key that its owner revoked, or that ended, would go on vouching.
func TestKeysThatEnd(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		w := newWorld(t, d)
		const mail = "alice@example.com"
		alice := w.person(t, "alice", mail, true)
		made := w.at.Add(-24 * time.Hour)
		config := func(lifetime time.Duration) *packet.Config {
			return &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, KeyLifetimeSecs: uint32(lifetime.Seconds()),
				Time: func() time.Time { return made }}
		}
		short, err := openpgp.NewEntity("Alice", "", mail, config(48*time.Hour))
		testkit.NoError(t, err)
		text := func(e *openpgp.Entity) string {
			out, err := armored(openpgp.PublicKeyType, func(b *bytes.Buffer) error { return e.Serialize(b) })
			testkit.NoError(t, err)
			return out
		}
		w.add(t, alice, signkey.OpenPGP, text(short))
		signed := w.signed(mail, payload, sign(t, short, payload, config(0)))
		w.wants(t, "while the key lives", signed, Valid)
		before, err := w.Turn(t.Context(), 1)
		testkit.NoError(t, err)
		w.at = w.at.Add(23 * time.Hour)
		w.wants(t, "until its end", signed, Valid)
		if now, _ := w.Turn(t.Context(), 1); now != before {
			t.Errorf("answers of %d are dropped at %d", before, now)
		}
		w.at = w.at.Add(2 * time.Hour)
		w.wants(t, "and after it", signed, ExpiredKey)
		if now, _ := w.Turn(t.Context(), 1); now == before {
			t.Error("answers are kept when a key has ended")
		}

		gone, err := openpgp.NewEntity("Alice", "", mail, config(0))
		testkit.NoError(t, err)
		signed = w.signed(mail, payload, sign(t, gone, payload, config(0)))
		id := w.add(t, alice, signkey.OpenPGP, text(gone))
		w.wants(t, "before it is revoked", signed, Valid)
		testkit.NoError(t, gone.RevokeKey(packet.KeySuperseded, "", config(0)))
		testkit.NoError(t, w.keys.Remove(t.Context(), alice, signkey.OpenPGP, id))
		w.wants(t, "without it", signed, UnknownKey)
		w.add(t, alice, signkey.OpenPGP, text(gone))
		w.wants(t, "revoked", signed, ExpiredKey)
	})
}

// Merges would not be believed after a restart, or commits that somebody else made would be the server's.
func TestServersKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dbtest.Open(t, db.SQLite))
	text, err := w.Sign([]byte(payload))
	testkit.NoError(t, err)
	signed := w.signed("nobody@example.com", payload, text)
	if v := w.wants(t, "the server's", signed, Valid); !v.ByServer || v.Signer != nil {
		t.Errorf("it is %+v", v)
	}
	again := New(w.d, w.dir)
	if list, err := again.Verify(t.Context(), []Signed{signed}); err != nil || !list[0].ByServer {
		t.Errorf("after a restart: %+v, %v", list, err)
	}
	w.wants(t, "of other bytes", w.signed("nobody@example.com", payload+"x", text), Invalid)
	if info, err := os.Stat(filepath.Join(w.dir, keyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's file is %v, %v", info, err)
	}
	testkit.NoError(t, os.WriteFile(filepath.Join(w.dir, keyFile), []byte("damaged"), 0o600))
	if _, err := New(w.d, w.dir).Sign(nil); err == nil {
		t.Error("a damaged key is replaced")
	}
}

// What gpg signs must be verified here, and what the server signs by gpg.
func TestWithGPG(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("gpg"); err != nil {
		t.Skip("gpg is not installed: apt-get install gnupg")
	}
	w := newWorld(t, dbtest.Open(t, db.SQLite))
	home, err := os.MkdirTemp("", "gpg") // a socket's path is short
	testkit.NoError(t, err)
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", home, "--kill", "all").Run()
		_ = os.RemoveAll(home)
	})
	gpg := func(stdin string, args ...string) string {
		t.Helper()
		c := exec.Command("gpg", append([]string{"--homedir", home, "--batch", "--no-tty", "--pinentry-mode", "loopback",
			"--passphrase", ""}, args...)...)
		c.Stdin = strings.NewReader(stdin)
		var out, problem bytes.Buffer
		c.Stdout, c.Stderr = &out, &problem
		if err := c.Run(); err != nil {
			t.Fatalf("gpg %v: %v\n%s", args, err, problem.String())
		}
		return out.String()
	}
	for n, algorithm := range []string{"ed25519", "rsa3072", "nistp256"} {
		mail := fmt.Sprintf("p%d@example.com", n)
		of := w.person(t, fmt.Sprintf("p%d", n), mail, true)
		gpg("", "--quick-generate-key", fmt.Sprintf("P%d <%s>", n, mail), algorithm, "sign", "1y")
		w.add(t, of, signkey.OpenPGP, gpg("", "--armor", "--export", mail))
		text := gpg(payload, "--local-user", mail, "--armor", "--detach-sign")
		w.wants(t, algorithm, w.signed(mail, payload, text), Valid)
	}
	public, _, err := w.PublicKey()
	testkit.NoError(t, err)
	gpg(public, "--import")
	text, err := w.Sign([]byte(payload))
	testkit.NoError(t, err)
	file := filepath.Join(home, "signature")
	testkit.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	gpg(payload, "--verify", file, "-")
}

// Whatever stands in an object must neither stop the server nor pass for a signature of its key.
func FuzzParse(f *testing.F) {
	e, _ := testkit.OpenPGP(f, "a@example.com")
	f.Add(sign(f, e, payload, nil))
	sig, err := sshsig.Sign(strings.NewReader(payload), testkit.Signer(f), sshsig.HashSHA256, "git")
	testkit.NoError(f, err)
	f.Add(string(sshsig.Armor(sig)))
	f.Add("-----BEGIN PGP SIGNATURE-----\n\niQ\n=x\n-----END PGP SIGNATURE-----")
	f.Fuzz(func(t *testing.T, text string) {
		p, reason := parse(text)
		if (p == nil) == (reason == "") {
			t.Fatalf("%q: %v, %q", text, p, reason)
		}
		if p != nil && p.by(testkit.PublicKey(t), payload) {
			t.Fatalf("%q is of a key that did not make it", text)
		}
	})
}
