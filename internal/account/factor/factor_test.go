package factor

import (
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"arbor/internal/db"
)

// A code counts one step before and after its own, once, and never after a later one.
func TestSteps(t *testing.T) {
	t.Parallel()
	text := NewSecret()
	secret, err := parseSecret(text)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	code, err := totp.GenerateCode(text, now)
	if err != nil {
		t.Fatal(err)
	}
	step := now.Unix() / totpPeriod
	for off, want := range map[time.Duration]bool{-61 * time.Second: false, -30 * time.Second: true, 0: true,
		59 * time.Second: true, 60 * time.Second: false, time.Hour: false} {
		got, ok := stepOf(secret, code, 0, db.FromTime(now.Add(off)))
		if ok != want || ok && got != step {
			t.Errorf("%s off: %v, step %d", off, ok, got-step)
		}
	}
	for last, want := range map[int64]bool{step - 1: true, step: false, step + 1: false} {
		if _, ok := stepOf(secret, code, last, db.FromTime(now)); ok != want {
			t.Errorf("after step %+d: %v", last-step, ok)
		}
	}
	if _, ok := stepOf(nil, code, 0, db.FromTime(now)); ok {
		t.Error("an account without an app takes a code")
	}
}

// A site that is opened by an address has no passkeys.
func TestCanHave(t *testing.T) {
	t.Parallel()
	for site, want := range map[string]bool{"https://git.example.com": true, "http://localhost:8080": true,
		"http://127.0.0.1:8080": false, "https://[::1]": false, "": false, "https://": false} {
		if CanHave(site) != want {
			t.Errorf("%q: %v", site, !want)
		}
	}
}

// Whatever a browser sends is an answer or a 422.
func FuzzAnswers(f *testing.F) {
	f.Add(`{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"e30","authenticatorData":"AA","signature":"AA"}}`)
	f.Add(`{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"e30","attestationObject":"oA"}}`)
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if a, err := readAnswer(text); err == nil && a == nil {
			t.Error("an answer that is none")
		}
		if a, err := readNewPasskey(text); err == nil && a == nil {
			t.Error("a passkey that is none")
		}
		if secret, err := parseSecret(text); err == nil && len(secret) != secretSize {
			t.Error("a secret of another size")
		}
	})
}
