package pages_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
)

// Only the page that a form leads to shows its message, and only to the person who sent the form. The
// cookie is for no script and no other site. No cache keeps the page.
func TestDoneIsForOnePageAndPerson(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Users(t, "alice", "bob")
	alice, bob := s.Session(t, "alice"), s.Session(t, "bob")
	const said = "Your profile shows no address."
	hide := func(headers ...string) *http.Cookie {
		c := apitest.Case{Do: "POST /settings/emails", Send: "do=hide", Headers: map[string]string{
			"Accept": apitest.Browser, "Cookie": "arbor_session=" + alice, "Origin": s.URL,
			"Content-Type": "application/x-www-form-urlencoded"}}
		for n := 0; n < len(headers); n += 2 {
			c.Headers[headers[n]] = headers[n+1]
		}
		a := s.Do(t, c)
		a.Leads(t, "/settings/emails")
		return pageCookieOf(a, "arbor_done")
	}
	c := hide()
	if c == nil || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.MaxAge < 1 ||
		c.MaxAge > 120 {
		t.Fatalf("the cookie is %v", c)
	}
	if c := hide("Sec-Fetch-Mode", "cors"); c != nil {
		t.Errorf("what a script sent is to be told of: %v", c)
	}
	see := func(session, do, value string, headers ...string) *apitest.Answer {
		return browse(t, s, "", do, append(headers, "Cookie",
			"arbor_session="+session+"; arbor_done="+value)...)
	}
	for _, test := range []struct {
		session, do string
		headers     []string
		shows       bool
	}{
		{alice, "GET /settings/emails", nil, true},
		{alice, "GET /settings/emails", []string{"Sec-Fetch-Dest", "document"}, true},
		{alice, "GET /settings/emails?page=1", nil, true},
		{alice, "GET /settings/emails", []string{"Sec-Fetch-Dest", "empty"}, false},
		{alice, "GET /settings/keys", nil, false},
		{bob, "GET /settings/emails", nil, false},
		{alice, "GET /settings/emails/nothing", nil, false},
	} {
		a := see(test.session, test.do, c.Value, test.headers...)
		ended, cache := pageCookieOf(a, "arbor_done"), a.Header.Get("Cache-Control")
		if shows := strings.Contains(string(a.Body), said); shows != test.shows ||
			(ended != nil && ended.Value != c.Value) != test.shows ||
			(cache == "no-store" && a.Header.Get("ETag") == "") != test.shows {
			t.Errorf("%s %v: shown: %v, cookie: %v, %s", test.do, test.headers, shows, ended, cache)
		}
	}
	page, _, _ := strings.Cut(c.Value, ".")
	for value, want := range map[string]string{
		page + "." + base64.RawURLEncoding.EncodeToString([]byte("+<b onclick=x>")): "&lt;b onclick=x&gt;",
		page + "." + base64.RawURLEncoding.EncodeToString([]byte("")):               "!role=\"status\"",
		page + ".%":    "!role=\"status\"",
		page:           "!role=\"status\"",
		".":            "!role=\"status\"",
		"x" + c.Value:  "!" + said,
		c.Value + "==": "!" + said,
	} {
		see(alice, "GET /settings/emails", value).Shows(t, 200, want).Harmless(t, value)
	}
}

// Behind TLS no plain connection and no neighbouring host sets the cookie.
func TestDoneBehindTLS(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.BaseURL = "https://arbor.example" })
	s.User(t, "alice")
	a := s.Do(t, apitest.Case{Do: "POST /settings/emails", As: "alice", Send: "do=hide",
		Headers: map[string]string{"Accept": apitest.Browser, "Origin": "https://arbor.example",
			"Content-Type": "application/x-www-form-urlencoded"}})
	if c := pageCookieOf(a, "__Host-arbor_done"); c == nil || !c.Secure {
		t.Errorf("the cookies are %v", a.Header["Set-Cookie"])
	}
}

func pageCookieOf(a *apitest.Answer, name string) *http.Cookie {
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.Name == name {
			return c
		}
	}
	return nil
}
