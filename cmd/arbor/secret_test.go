package main

import (
	"fmt"
	"net/http"
	"sort"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
)

// To those who may not see it, a private repository looks like none: in every
// byte of every answer, to git and to programs. If this failed, names of secret
// projects could be guessed.
func TestPrivateLooksAbsent(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := serving(t, engine)
		s.user("alice", "bob")
		dir := gittest.Bare(t)
		add(t, dir, "main", "one")
		s.privateRepo("alice/secret", dir)
		s.privateRepo("alice/former", dir)
		res, body := s.do("alice", "PATCH", "/repos/alice/former", nil,
			strings.NewReader(`{"name":"latter"}`))
		if res.StatusCode != 200 {
			t.Fatalf("rename: %d %s", res.StatusCode, body)
		}
		for _, who := range []string{"", "bob"} {
			for _, name := range []string{"secret", "former", "latter"} {
				for _, c := range privateRequests() {
					there, absent := s.seen(who, c, name), s.seen(who, c, "absent")
					if there != absent {
						t.Errorf("%q sees of alice/%s, %s %s:\n%s\nand of one that is not there:\n%s", who,
							name, c.method, c.path, there, absent)
					}
				}
				for _, args := range [][]string{{"clone", "REMOTE", "x"}, {"ls-remote", "REMOTE"},
					{"push", "REMOTE", "main"}, {"push", "REMOTE", ":main"},
					{"fetch", "REMOTE", gittest.Run(t, dir, "rev-parse", "main")}} {
					there, absent := s.gitSees(dir, who, name, args), s.gitSees(dir, who, "absent", args)
					if there != absent {
						t.Errorf("git shows %q of alice/%s, %q:\n%s\nand of one that is not there:\n%s", who,
							name, args, there, absent)
					}
				}
			}
		}
	})
}

type privateRequest struct{ method, path, mediaType, body string }

func privateRequests() []privateRequest {
	list := []privateRequest{
		{"POST", "/alice/NAME.git/git-upload-pack", "application/x-git-upload-pack-request", "0000"},
		{"POST", "/alice/NAME.git/git-upload-pack", "text/plain", "0000"},
		{"POST", "/alice/NAME.git/git-receive-pack", "application/x-git-receive-pack-request", "0000"},
		{"POST", "/alice/NAME/git-receive-pack", "application/x-git-receive-pack-request", "zzzz"},
		{"PATCH", "/repos/alice/NAME", "application/json", "{}"},
		{"PATCH", "/repos/alice/NAME", "application/json", "{"},
		{"DELETE", "/repos/alice/NAME", "", ""},
		{"PUT", "/repos/alice/NAME/collaborators/bob", "", ""},
	}
	for _, path := range []string{
		"/repos/alice/NAME", "/repos/alice/NAME/git/trees/main",
		"/repos/alice/NAME/git/trees/main?recursive=1", "/repos/alice/NAME/collaborators",
		"/alice/NAME", "/alice/NAME.git/HEAD", "/alice/NAME.git/info/refs",
		"/alice/NAME/info/refs?service=git-upload-pack",
		"/alice/NAME.git/info/refs?service=git-upload-pack",
		"/alice/NAME.git/info/refs?service=git-receive-pack", "/ALICE/NAME.git/info/refs?service=x",
		"/users/alice/repos", "/api/v3/repos/alice/NAME",
	} {
		list = append(list, privateRequest{"GET", path, "", ""}, privateRequest{"HEAD", path, "", ""})
	}
	return list
}

// seen is all that one sees of an answer, with the repository's name taken out.
func (s *instance) seen(who string, c privateRequest, name string) string {
	s.t.Helper()
	header := http.Header{}
	if c.mediaType != "" {
		header.Set("Content-Type", c.mediaType)
	}
	res, body := s.do(who, c.method, strings.Replace(c.path, "NAME", name, 1), header,
		strings.NewReader(c.body))
	var lines []string
	for key, values := range res.Header {
		if key != "Date" && key != "X-Request-Id" && key != "X-Github-Request-Id" {
			lines = append(lines, fmt.Sprintf("%s: %q", key, values))
		}
	}
	sort.Strings(lines)
	return strings.ReplaceAll(fmt.Sprintf("%d\n%s\n\n%s", res.StatusCode, strings.Join(lines, "\n"), body),
		name, "NAME")
}

// gitSees is all that git shows, with the repository's name taken out.
func (s *instance) gitSees(dir, who, name string, args []string) string {
	s.t.Helper()
	real := append([]string{}, args...)
	for i, a := range real {
		real[i] = strings.ReplaceAll(a, "REMOTE", s.remote(who, "alice/"+name))
	}
	if real[0] == "clone" {
		dir = s.t.TempDir()
	}
	r := try(s.t, dir, real...)
	return strings.ReplaceAll(fmt.Sprintf("%v\n%s", r.err, r.out), name, "NAME")
}
