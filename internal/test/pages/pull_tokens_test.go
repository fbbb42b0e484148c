package pages_test

import (
	"fmt"
	"strings"
	"testing"

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
				a := s.Do(t, apitest.Case{Do: do, Send: apitest.Form(pairs...),
					Headers: map[string]string{"Accept": apitest.Browser,
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
		narrow := s.WithoutRoom()
		send := func(code int, to string, pairs ...string) {
			t.Helper()
			sendForms(t, narrow, s.Token(t, "will"), []sentForm{{to, apitest.Form(pairs...), code}})
		}
		for _, f := range pullForms(sha) {
			send(507, at+f[0], f[1:]...)
		}
		send(507, at+"/merge", "method", "merge")
		send(507, at+"/update")
		send(507, at+"/revert")
		send(507, at+"/comments/"+comment, "body", "y")
		send(507, "/alice/plot/pulls/new", "base", "main", "head", "tune", "title", "x")
		send(303, at+"/reviewers") // nobody is asked any more
		send(303, at+"/comments/"+comment, "delete", "1")
		send(303, at+"/reviews", "event", "DISCARD")
	})
}
