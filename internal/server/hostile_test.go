package server_test

import (
	"net/http/httptest"
	"testing"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
)

// A branch may be named like an address of git; clients of the API read JSON
// there all the same (decisions 15, 53).
func TestErrorFormFollowsTheRoute(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		const message = `{"message": "Not Found", "documentation_url": "$any"}`
		plain := map[string]string{"Content-Type": "text/plain; charset=utf-8"}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/alice/garden/git/trees/a.git/b", Status: 404, Want: message},
			{Do: "GET /repos/alice/garden/git/trees/feature/info/refs", Status: 404, Want: message},
			{Name: "no route, but the API's", Do: "GET /repos/alice/garden.git/nothing", Status: 404,
				Want: message},
			{Name: "the plant store is not there", Do: "GET /api/v3/plants", Status: 404, Want: message},
			{Name: "git asks", Do: "GET /alice/garden.git/HEAD", Status: 404,
				Body: "Not Found\n", Has: plain},
		})
	})
}

// With a limit on requests, nobody may get around it by guessing credentials or
// by the many addresses of one line, nor fill the memory with addresses
// (decision 21).
func TestRateLimitCannotBeEvaded(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.RateLimit = 2 })
	status := func(remote, authorization string) int {
		r := httptest.NewRequest("GET", "/users/nobody", nil)
		r.RemoteAddr = remote
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		return w.Code
	}
	for _, test := range []struct {
		name, remote, authorization string
		want                        int
	}{
		{"guess", "192.0.2.1:1", "Bearer arb_guess", 401},
		{"guess", "192.0.2.1:2", "Bearer arb_other", 401},
		{"too many guesses", "192.0.2.1:3", "Bearer arb_third", 403},
		{"without", "192.0.2.1:3", "", 403},
		{"neighbour", "192.0.2.2:1", "", 404},
		{"one line", "[2001:db8::1]:1", "", 404},
		{"one line", "[2001:db8::2]:1", "", 404},
		{"one line", "[2001:db8::ffff:3]:1", "", 403},
		{"another line", "[2001:db8:0:1::1]:1", "", 404},
		{"IPv4 in IPv6", "[::ffff:192.0.2.1]:9", "", 403},
	} {
		if got := status(test.remote, test.authorization); got != test.want {
			t.Errorf("%s from %s: %d, want %d", test.name, test.remote, got, test.want)
		}
	}
}
