package oauth

import (
	"errors"
	"net/url"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/scope"
)

// Whatever is asked for, the App is told of what is wrong, and what is taken is within its bounds.
func FuzzReadOpenID(f *testing.F) {
	f.Add("response_type=code&prompt=login+consent&max_age=60&nonce=n&asked_at=1")
	f.Add("response_type=code&prompt=none&max_age=99999999999999999999&nonce=%00")
	f.Add("response_type=code&prompt=none+none&request=e30.e30.&response_mode=query")
	now := time.Unix(1<<31, 0)
	f.Fuzz(func(t *testing.T, query string) {
		v, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		q := &Request{App: &App{}, Redirect: "https://weeder.example/cb", Scopes: scope.OpenID, Prompt: v.Get("prompt"),
			OpenID: &OpenID{nonce: v.Get("nonce"), maxAge: noAge}}
		if err := q.readOpenID(v, now); err != nil {
			if _, is := errors.AsType[*RedirectError](err); !is {
				t.Errorf("%q: %v", query, err)
			}
			return
		}
		if len(q.OpenID.nonce) > maxNonce || q.OpenID.after > db.FromTime(now) || q.Silent() && q.Prompt != "" {
			t.Errorf("%q gives %+v %+v", query, q, q.OpenID)
		}
	})
}

// A request keeps for 15 minutes when it was made for a user who signs in first, and nobody moves that into the future.
func TestAskedAtStays(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(1_000_000_000)
	for _, x := range []struct{ query, want string }{
		{"scope=openid&prompt=login", "1000000000"}, {"scope=openid&max_age=0", "1000000000"},
		{"scope=openid&prompt=login&asked_at=100000001", "100000001"},
		{"scope=openid&prompt=login&asked_at=1", "1000000000"}, {"scope=openid", ""},
		{"scope=openid&prompt=consent", ""},
		{"scope=repo&prompt=login", ""},
	} {
		v, err := url.ParseQuery(x.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := Waits(v, now).Get(AskedAt); got != x.want {
			t.Errorf("%s waits since %q, want %q", x.query, got, x.want)
		}
	}
	for asked, want := range map[string]int64{"": 1_000_000_000, "100000001": 100_000_001, "100000000": 1_000_000_000,
		"1": 1_000_000_000, "1000000001": 1_000_000_000, "-1": 1_000_000_000, "x": 1_000_000_000} {
		q := &Request{App: &App{}, Prompt: "login", OpenID: &OpenID{maxAge: noAge}}
		v := url.Values{"response_type": {"code"}, AskedAt: {asked}}
		if err := q.readOpenID(v, now); err != nil || q.OpenID.after != db.Time(want) {
			t.Errorf("asked at %q, the user must have shown who it is since %v, %v", asked, q.OpenID.after, err)
		}
	}
}
