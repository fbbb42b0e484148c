package token

import (
	"encoding/base64"
	"strings"
	"testing"
)

const sample = "arb_ABCDEFGHIJKLMNOPQRSTUVWXYZ234567ABCDEFGH"

func basic(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(s)) }

// Each client sends the token in its own form: one that is not understood
// locks its users out; one that is misread lets strangers in.
func TestParseCredentials(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"Bearer " + sample, "bearer " + sample, "BEARER  " + sample, "token " + sample, "Token " + sample,
		" Bearer " + sample + " ",
		basic("alice:" + sample), basic(":" + sample), basic(sample + ":"), basic(sample + ":x-oauth-basic"),
		basic("x-access-token:" + sample), strings.Replace(basic("a:"+sample), "Basic", "bAsIc", 1),
	} {
		token, ok := parseCredentials([]string{value}, false)
		if !ok || token != sample {
			t.Errorf("%q: %q, %v", value, token, ok)
		}
		bearer := strings.EqualFold(strings.TrimSpace(value)[:6], "bearer")
		if _, ok := parseCredentials([]string{value}, true); ok != bearer {
			t.Errorf("the plant store takes %q: %v", value, ok)
		}
	}
	for _, value := range []string{
		"", " ", "Bearer", "Bearer ", "Bearer x", "Bearer arb_", sample, "Digest " + sample, "Basic",
		"Basic !!!", "Basic " + sample,
		basic(sample), basic(":"), basic(""), basic(sample + ":wrong"), basic("alice:x-oauth-basic"),
		basic("alice:" + sample + ":"),
		"Bearer " + sample + " x", "Bearer " + sample + "\x00", "Bearer " + sample + strings.Repeat("A", 300),
		"Bearer\t" + sample,
		basic("alice:" + sample + "\n"), basic(strings.Repeat("a", 2000) + ":" + sample),
	} {
		if token, ok := parseCredentials([]string{value}, false); ok {
			t.Errorf("%q gives the token %q", value, token)
		}
	}
	if _, ok := parseCredentials([]string{"Bearer " + sample, "Bearer " + sample}, false); ok {
		t.Error("two headers are taken")
	}
}

func FuzzParseCredentials(f *testing.F) {
	for _, s := range []string{"Bearer " + sample, basic(sample + ":"), "token arb_x", "Basic Og==", "\x00",
		"Basic " + strings.Repeat("A", 2000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		token, ok := parseCredentials([]string{value}, false)
		if ok && (!WellFormed(token) || len(token) > maxToken) {
			t.Fatalf("%q gives %q", value, token)
		}
		if bearer, also := parseCredentials([]string{value}, true); also && (!ok || bearer != token) {
			t.Fatalf("%q is two tokens: %q and %q", value, token, bearer)
		}
	})
}
