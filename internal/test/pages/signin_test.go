package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"arbor/internal/account/session"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

func from() session.Origin { return session.Origin{Agent: "test"} }

// visit sends a browser's request: a form if there is a body, with a session cookie unless that is empty.
func visit(t *testing.T, s *apitest.Server, do, session, form string) *apitest.Answer {
	t.Helper()
	header := map[string]string{"Accept": apitest.Browser}
	if session != "" {
		header["Cookie"] = "arbor_session=" + session
	}
	if strings.HasPrefix(do, "POST") {
		header["Content-Type"] = "application/x-www-form-urlencoded"
	}
	return s.Do(t, apitest.Case{Do: do, Headers: header, Send: form})
}

// frontCookieOf is the session that an answer gives the browser; empty: none.
func frontCookieOf(a *apitest.Answer) string {
	r := http.Response{Header: a.Header}
	for _, c := range r.Cookies() {
		if c.Name == "arbor_session" && c.MaxAge > 0 {
			if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode {
				return "a cookie that scripts or other sites use"
			}
			return c.Value
		}
	}
	return ""
}

func want(t *testing.T, a *apitest.Answer, status int, texts ...string) {
	t.Helper()
	if a.Status != status {
		t.Errorf("status %d, want %d: %.400s", a.Status, status, a.Body)
	}
	for _, text := range texts {
		if !strings.Contains(string(a.Body), text) {
			t.Errorf("%q is not in %.2000s", text, a.Body)
		}
	}
}

// Somebody signs in with a password, works, and signs out; the cookie is worth nothing afterwards.
func TestSignInAndOut(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "alice", "a long secret", nil))
		want(t, visit(t, s, "GET /", "", ""), 200, "Sign in", "Public repositories")
		for _, form := range []string{"login=alice&password=wrong", "login=nobody&password=a+long+secret",
			"login=alice&password="} {
			a := visit(t, s, "POST /login", "", form)
			want(t, a, 422, "The login or the password is wrong.")
			if frontCookieOf(a) != "" {
				t.Errorf("%s begins a session", form)
			}
		}
		a := visit(t, s, "POST /login", "", "login=Alice&password=a+long+secret&return_to=%2Falice")
		want(t, a, 303)
		if to := a.Header.Get("Location"); to != "/alice" {
			t.Errorf("led to %q", to)
		}
		session := frontCookieOf(a)
		want(t, visit(t, s, "GET /", session, ""), 200, "Signed in as <b>alice</b>", "Sign out")
		want(t, visit(t, s, "POST /logout", session, ""), 303)
		a = visit(t, s, "GET /", session, "")
		want(t, a, 200, "Public repositories")
		if !strings.Contains(a.Header.Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("the dead cookie stays: %q", a.Header.Get("Set-Cookie"))
		}
	})
}

// Behind TLS the cookie is one that no neighboring host and no plain connection can set, and no other counts.
func TestCookieBehindTLS(t *testing.T) {
	s, _ := apitest.StartTLS(t, db.SQLite)
	s.User(t, "alice")
	testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "alice", "a long secret", nil))
	a := visit(t, s, "POST /login", "", "login=alice&password=a+long+secret")
	want(t, a, 303)
	r := http.Response{Header: a.Header}
	session := ""
	for _, c := range r.Cookies() {
		if !strings.HasPrefix(c.Name, "__Host-arbor_") || !c.Secure || c.Path != "/" || c.Domain != "" {
			t.Fatalf("the cookie is %v", c)
		}
		if c.Name == "__Host-arbor_session" {
			session = c.Value
		}
	}
	want(t, visit(t, s, "GET /", session, ""), 200, "Public repositories")
	own := map[string]string{"Accept": apitest.Browser, "Cookie": "__Host-arbor_session=" + session}
	want(t, s.Do(t, apitest.Case{Do: "GET /", Headers: own}), 200, "Signed in as <b>alice</b>")
	a = s.Do(t, apitest.Case{Do: "POST /logout", Headers: own})
	want(t, a, 303)
	if c := a.Header.Get("Set-Cookie"); !strings.HasPrefix(c, "__Host-arbor_session=;") ||
		!strings.Contains(c, "Secure") {
		t.Errorf("signing out sets %q", c)
	}
}

// A session opens pages; neither the API nor git nor the plant store takes it, as a cookie or as a token.
func TestTheAPITakesNoSession(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	session := s.Session(t, "alice")
	for _, header := range []map[string]string{
		{"Cookie": "arbor_session=" + session},
		{"Authorization": "Bearer " + session},
		{"Authorization": "token " + session},
	} {
		for _, do := range []string{"GET /user", "POST /user/repos", "DELETE /plants/1",
			"PUT /user/following/alice"} {
			s.Do(t, apitest.Case{Do: do, Headers: header, Send: `{"name": "x"}`}).Shows(t, 401)
		}
	}
	// A token is not accepted as a session.
	a := visit(t, s, "GET /", s.Token(t, "alice"), "")
	want(t, a, 200, "Public repositories")
}

// A page of another site cannot act for who is signed in here, not even sign somebody in.
func TestFormsOfOtherSites(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	session := s.Session(t, "alice")
	for _, foreign := range []map[string]string{
		{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"},
		{"Origin": "null"},
	} {
		for _, do := range []string{"POST /logout", "POST /login"} {
			header := map[string]string{"Accept": apitest.Browser, "Cookie": "arbor_session=" + session,
				"Content-Type": "application/x-www-form-urlencoded"}
			for name, value := range foreign {
				header[name] = value
			}
			a := s.Do(t, apitest.Case{Do: do, Headers: header, Send: "login=alice&password=x"})
			want(t, a, 403, "another site")
		}
	}
	want(t, visit(t, s, "GET /", session, ""), 200, "Signed in as")
	own := map[string]string{"Accept": apitest.Browser, "Cookie": "arbor_session=" + session, "Origin": s.URL,
		"Sec-Fetch-Site": "same-origin",
		"Content-Type":   "application/x-www-form-urlencoded"}
	want(t, s.Do(t, apitest.Case{Do: "POST /logout", Headers: own, Send: ""}), 303)
}

// What ends a session: another password, the end of the token that it was begun with, a suspension. Tokens
// stay.
func TestWhatEndsSessions(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		for _, c := range []struct {
			what string
			end  func() error
		}{
			{"another password", func() error {
				return s.Forge.Sessions.SetPassword(t.Context(), "alice", "another secret", nil)
			}},
			{"a suspension", func() error {
				_, err := s.Accounts.Suspend(t.Context(), nil, "alice")
				return err
			}},
			{"the end of its token", func() error {
				return s.Forge.Tokens.RevokeToken(t.Context(), s.Token(t, "alice"))
			}},
		} {
			if _, err := s.Accounts.Unsuspend(t.Context(), nil, "alice"); err != nil {
				t.Fatal(err)
			}
			session := s.Session(t, "alice")
			want(t, visit(t, s, "GET /", session, ""), 200, "Signed in as")
			if err := c.end(); err != nil {
				t.Fatal(c.what, err)
			}
			if a := visit(t, s, "GET /", session, ""); strings.Contains(string(a.Body), "Signed in as") {
				t.Errorf("after %s the session works", c.what)
			}
		}
	})
}

// A session begun with a token that may little may do no more.
func TestSessionOfALimitedToken(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Repo(t, "alice/diary", true)
	token := s.Scoped(t, "alice", "read:org")
	session, err := s.Forge.Sessions.SignInWithToken(t.Context(), token, from())
	testkit.NoError(t, err)
	want(t, visit(t, s, "GET /alice/diary", session, ""), 404)
	want(t, visit(t, s, "GET /alice/diary", s.Session(t, "alice"), ""), 200)
}

// Guessing passwords slows down after some attempts from one network. A browser with which somebody signed
// in before is known, and has attempts of its own.
func TestTooManyAttempts(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		testkit.NoError(t, s.Forge.Sessions.SetPassword(t.Context(), "alice", "a long secret", nil))
		const right = "login=alice&password=a+long+secret"
		known := s.Check(t, apitest.Case{Do: "POST /login", Status: 303, Send: right, Headers: frontForm()})
		browser, session := namedCookie(known, "arbor_browser"), frontCookieOf(known)
		if browser == "" || session == "" {
			t.Fatalf("cookies: %q", known.Header["Set-Cookie"])
		}
		want(t, visit(t, s, "POST /logout", session, ""), 303) // so that the network is not known any more
		refused := false
		for n := range 20 { // each that is taken makes the next wait longer than this machine can take
			a := visit(t, s, "POST /login", "", "login=alice&password=guess")
			if refused = a.Status == 429; refused {
				break
			}
			if want(t, a, 422); n > 15 {
				t.Fatalf("attempt %d is taken", n+1)
			}
		}
		want(t, visit(t, s, "POST /login", "", right), 429, "too many attempts", "Try again in")
		header := frontForm()
		header["Cookie"] = "arbor_browser=" + browser
		want(t, s.Do(t, apitest.Case{Do: "POST /login", Send: right, Headers: header}), 303)
		header["Cookie"] = "arbor_browser=" + browser[:10] + "AAAA" + browser[14:]
		want(t, s.Do(t, apitest.Case{Do: "POST /login", Send: "login=bob&password=x", Headers: header}), 422)
		a := visit(t, s, "POST /login", "", "token="+s.Token(t, "alice"))
		want(t, a, 303)
		if namedCookie(a, "arbor_browser") != "" {
			t.Error("a token makes a browser known")
		}
	})
}

// frontForm is the headers of a browser's form.
func frontForm() map[string]string {
	return map[string]string{"Accept": apitest.Browser, "Content-Type": apitest.FormType}
}

// namedCookie is the value of a cookie that an answer sets; empty: none, or one that scripts or other sites
// use.
func namedCookie(a *apitest.Answer, name string) string {
	r := http.Response{Header: a.Header}
	for _, c := range r.Cookies() {
		if c.Name == name && c.HttpOnly && c.SameSite == http.SameSiteLaxMode {
			return c.Value
		}
	}
	return ""
}

// The first visitor who knows the code makes the administrator; nobody else ever does.
func TestFirstVisit(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		code := s.Server.SetupCode()
		want(t, visit(t, s, "GET /", "", ""), 200, "set up Arbor")
		want(t, visit(t, s, "POST /setup", "", "code=AAAA&login=root&password=a+long+secret"), 422,
			"not the code")
		want(t, visit(t, s, "POST /setup", "", "code="+code+"&login=root&password=short"), 422, "at least 8",
			`value="root"`)
		a := visit(t, s, "POST /setup", "",
			"code="+strings.ToLower(code)+"&login=gardener&password=a+long+secret")
		want(t, a, 303)
		want(t, visit(t, s, "GET /", frontCookieOf(a), ""), 200, "Site administration")
		want(t, visit(t, s, "GET /setup", "", ""), 404)
		want(t, visit(t, s, "POST /setup", "", "code="+code+"&login=second&password=a+long+secret"), 404)
		want(t, visit(t, s, "POST /login", "", "login=gardener&password=a+long+secret"), 303)
	})
}

// Who may not open a page without signing in is led to where one does, and back. No other site is led to.
func TestReturn(t *testing.T) {
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	for _, evil := range []string{"https://evil.example/", "//evil.example", `/\evil.example`,
		"javascript:alert(1)"} {
		a := visit(t, s, "POST /login", "", "token="+s.Token(t, "alice")+"&return_to="+evil)
		if to := a.Header.Get("Location"); to != "/" {
			t.Errorf("%s leads to %q", evil, to)
		}
	}
}

// What waits for a member stands on the home page.
func TestWhatWaits(t *testing.T) {
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", false)
		s.Run(t, []apitest.Case{
			{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
				Send: `{"title": "Slugs <b>eat</b>", "assignee": "alice"}`},
			{Do: "POST /repos/alice/garden/issues", As: "bob", Status: 201,
				Send: `{"title": "Peas", "body": "@alice look"}`},
		})
		a := visit(t, s, "GET /", s.Session(t, "alice"), "")
		want(t, a, 200, "Assigned to you", "Slugs &lt;b&gt;eat&lt;/b&gt;", "Mentioning you", "Peas",
			"alice/garden")
		if a := visit(t, s, "GET /", s.Session(t, "bob"), ""); strings.Contains(string(a.Body),
			"Assigned to you") {
			t.Error("bob has what is alice's")
		}
	})
}
