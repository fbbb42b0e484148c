package issues_test

import (
	"net/http"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Who asks again with the time of the last answer hears at once that nothing is new, also directly after
// something was; and hears each time of what came within the same second.
func TestTheTimeOfAListIsItsOwn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		world(t, s)
		get := func(since string) (status int, modified string) {
			t.Helper()
			settle(t, s)
			a := s.Do(t, apitest.Case{Do: "GET /notifications", As: "eve",
				Headers: map[string]string{"If-Modified-Since": since}})
			return a.Status, a.Header.Get("Last-Modified")
		}
		mention := func() { do(t, s, "bob", 201, "POST "+issues, `{"title": "x", "body": "@eve"}`) }
		mention()
		_, last := get("")
		if status, _ := get(last); status != http.StatusNotModified {
			t.Errorf("the list of a moment before is a %d", status)
		}
		for n := range 4 {
			mention()
			var status int
			if status, last = get(last); status != http.StatusOK {
				t.Errorf("mention %d: a %d", n, status)
			}
		}
		testkit.Eventually(t, func() bool {
			status, modified := get(last)
			last = modified
			return status == http.StatusNotModified
		}, "nothing is new")
	})
}
