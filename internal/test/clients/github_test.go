//go:build long

package clients

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-github/v89/github"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// hub is a server and the clients of those who use it.
type hub struct {
	*apitest.Server
	options func(url string) github.ClientOptionsFunc
}

// Go programs that were written for GitHub do here all that the API can, by the
// address of a GitHub Enterprise server and by the API's own.
func TestGoGitHub(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]func(string) github.ClientOptionsFunc{
		"enterprise": func(url string) github.ClientOptionsFunc {
			return github.WithEnterpriseURLs(url, url)
		},
		"root": func(url string) github.ClientOptionsFunc { url += "/"; return github.WithURLs(&url, &url) },
	} {
		as := func(f func(t *testing.T, h *hub)) story {
			return func(t *testing.T, s *apitest.Server) { f(t, &hub{s, options}) }
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, engine db.Engine) {
				c := client{anyPort, map[string]story{
					"tracker": as(wholeTracker), "lists": as(trackerLists), "events": as(trackerEvents),
					"search":        as(trackerSearch),
					"fork to merge": as(forkToMerge), "reviewers": as(reviewers),
					"people": as(people), "site": as(siteAdministration), "stars": as(starsAndWatching),
					"feeds": as(feeds), "git": as(gitByAPI), "releases": as(releases), "about": as(about),
					"hooks": as(hooks), "teams": as(invitationsAndTeams), "rules": as(ruledTeam),
				}, func(t *testing.T, s *apitest.Server, requests []*fixture.Request) {
					(&hub{s, options}).ask(t, requests)
				}}
				c.run(t, engine)
			})
		})
	}
}

// as is the client of a user; of nobody for "".
func (h *hub) as(t *testing.T, login string) *github.Client {
	t.Helper()
	options := []github.ClientOptionsFunc{h.options(h.URL)}
	if login != "" {
		options = append(options, github.WithAuthToken(h.Token(t, login)))
	}
	c, err := github.NewClient(options...)
	testkit.NoError(t, err)
	return c
}

// got checks that a call of the client succeeds and returns its result.
func got[T any](t *testing.T) func(T, *github.Response, error) T {
	return func(v T, _ *github.Response, err error) T {
		t.Helper()
		testkit.NoError(t, err)
		return v
	}
}

// done is got for calls that return nothing else.
func done(t *testing.T) func(*github.Response, error) {
	return func(_ *github.Response, err error) {
		t.Helper()
		testkit.NoError(t, err)
	}
}

// refused holds an error against what the client must make of it: an
// ErrorResponse with the status and, for a validation failure, its one field.
func refused(t *testing.T, err error, status int, field, code string) {
	t.Helper()
	var answer *github.ErrorResponse
	if !errors.As(err, &answer) {
		t.Errorf("the client made %T of a refusal: %v", err, err)
		return
	}
	if answer.Response.StatusCode != status || answer.Message == "" || answer.DocumentationURL == "" {
		t.Errorf("status %d, message %q, documentation %q; want status %d", answer.Response.StatusCode,
			answer.Message, answer.DocumentationURL, status)
	}
	if status != http.StatusUnprocessableEntity {
		return
	}
	if len(answer.Errors) != 1 || answer.Errors[0].Field != field || answer.Errors[0].Code != code ||
		answer.Errors[0].Resource == "" {
		t.Errorf("errors are %+v, want one of %s: %s", answer.Errors, field, code)
	}
}

// equal holds one value of a payload against what was put in.
func equal[T comparable](t *testing.T, what string, have, want T) {
	t.Helper()
	if have != want {
		t.Errorf("%s is %v, want %v", what, have, want)
	}
}
