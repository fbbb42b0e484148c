package pages_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/server"
	"arbor/internal/test/apitest"
)

// A token that is limited does with pull requests by pages what it does by the API, and no more.
func TestLimitedTokensOnPullPages(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		number := propose(t, s, "tune")
		at, sha := fmt.Sprintf("/alice/plot/pull/%d", number), head(t, s, number)
		tokens := tokensOf(t, s, "will", "alice/plot")
		for name, may := range map[string]struct{ signedIn, writes bool }{"code": {true, true}, "people": {},
			"read": {signedIn: true}, "write": {true, true}, "elsewhere": {signedIn: true}} {
			token := tokens[name]
			do := func(do string, pairs ...string) (int, string) {
				a := s.Do(t, apitest.Case{Do: do, Send: form(pairs...), Headers: map[string]string{"Accept": changeHtml,
					"Authorization": "Bearer " + token, "Content-Type": "application/x-www-form-urlencoded"}})
				return a.Status, string(a.Body)
			}
			for _, path := range []string{at, at + "/files", at + "/commits", at + "/checks", "/alice/plot/pulls",
				"/alice/plot/pulls/new?head=tune", "/alice/plot/commit/" + sha + "/checks"} {
				code, body := do("GET " + path)
				if signedIn := !strings.Contains(body, `href="/login`); code != 200 || signedIn != may.signedIn {
					t.Errorf("%s: GET %s is %d, signed in: %t", name, path, code, signedIn)
				}
			}
			want := map[bool]int{true: 303, false: 403}[may.writes]
			for _, f := range pullForms(sha) {
				if code, body := do("POST "+at+f[0], f[1:]...); code != want {
					t.Errorf("%s: POST %s is %d, want %d: %.500s", name, f[0], code, want, body)
				}
			}
		}
	})
}

// pullForms are forms of a pull request that leave it open, with their fields.
func pullForms(sha string) [][]string {
	return [][]string{{"/draft"}, {"/draft", "ready", "1"}, {"/base", "modify", "1"}, {"/reviewers", "again", "sam"},
		{"/comments", "commit", sha, "path", "song.txt", "line", "3", "body", "x"},
		{"/reviews", "event", "COMMENT", "body", "x"}, {"/viewed", "view", sha + " song.txt"}}
}

func form(pairs ...string) string {
	v := url.Values{}
	for n := 0; n+1 < len(pairs); n += 2 {
		v.Add(pairs[n], pairs[n+1])
	}
	return v.Encode()
}

// While the disk is nearly full, no form of a pull request stores anything; forms that only take something away work.
func TestPullFormsWithoutRoom(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		changePlant(t, s)
		number := propose(t, s, "tune")
		at, sha := fmt.Sprintf("/alice/plot/pull/%d", number), head(t, s, number)
		led(t, s, "will", at+"/reviewers", "more", "sam")
		comment := strings.TrimPrefix(led(t, s, "will", at+"/comments", "review", "1", "commit", sha, "path", "song.txt",
			"line", "3", "body", "x"), at+"#discussion_r")
		narrow := server.New(server.Options{DB: s.DB, Git: s.Git, DataDir: s.Dir, MinFree: 1 << 60,
			Log: slog.New(slog.DiscardHandler)})
		post := func(code int, to string, pairs ...string) {
			t.Helper()
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, to, strings.NewReader(form(pairs...)))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Accept", changeHtml)
			r.Header.Set("Authorization", "Bearer "+s.Token(t, "will"))
			answer := httptest.NewRecorder()
			narrow.ServeHTTP(answer, r)
			if answer.Code != code {
				t.Errorf("POST %s with %q is %d, want %d", to, pairs, answer.Code, code)
			}
		}
		for _, f := range pullForms(sha) {
			post(507, at+f[0], f[1:]...)
		}
		post(507, at+"/merge", "method", "merge")
		post(507, at+"/update")
		post(507, at+"/revert")
		post(507, at+"/comments/"+comment, "body", "y")
		post(507, "/alice/plot/pulls/new", "base", "main", "head", "tune", "title", "x")
		post(303, at+"/reviewers") // nobody is asked any more
		post(303, at+"/comments/"+comment, "delete", "1")
		post(303, at+"/reviews", "event", "DISCARD")
	})
}
