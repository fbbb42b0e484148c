package openid

import (
	"encoding/base64"
	"strings"
	"testing"
)

func b64(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// A hint names its App, however it is signed; what is no ID token names none.
func TestAudienceOfHints(t *testing.T) {
	t.Parallel()
	k, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	of := func(payload any) string {
		text, err := k.sign(payload)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for _, x := range []struct{ hint, want string }{
		{of(map[string]any{"aud": "Ov23abc"}), "Ov23abc"},
		{of(map[string]any{"aud": []string{"Ov23abc"}}), "Ov23abc"},
		{of(map[string]any{"aud": []string{"Ov23abc", "Ov23def"}}), ""},
		{of(map[string]any{"aud": 7}), ""},
		{of(map[string]any{}), ""},
		{of("text"), ""},
		{"", ""}, {"x", ""}, {"..", ""}, {"a.b.c.d.e", ""},
		{b64(`{"alg":"none"}`) + "." + b64(`{"aud":"Ov23abc"}`) + ".", ""},
		{b64(`{"alg":"HS256"}`) + "." + b64(`{"aud":"Ov23abc"}`) + "." + b64("x"), ""},
		{of(map[string]any{"aud": "Ov23abc", "x": strings.Repeat("x", maxHint)}), ""},
	} {
		if got := audienceOf(x.hint); got != x.want {
			t.Errorf("%.80s is for %q, want %q", x.hint, got, x.want)
		}
	}
}

func FuzzAudienceOf(f *testing.F) {
	f.Add(b64(`{"alg":"RS256"}`) + "." + b64(`{"aud":"Ov23abc"}`) + "." + b64("x"))
	f.Add(b64(`{"alg":"RS256","crit":["b64"],"b64":false}`) + "." + b64(`{"aud":["a"]}`) + "." + b64("x"))
	f.Fuzz(func(t *testing.T, hint string) {
		if len(hint) > maxHint && audienceOf(hint) != "" {
			t.Error("a hint that is too long is read")
		}
	})
}
