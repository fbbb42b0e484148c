package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/route"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
)

// On a disk that is nearly full each route that writes is a 507 and changes nothing; what gives
// room, and what git reads by POST, goes on. A route that was forgotten would fill the disk.
func TestNothingIsWrittenWithoutRoom(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		w := newWalker(t, s)
		narrow := s.WithoutRoom()
		refused := 0
		for _, r := range fixture.Walked(s.Server.Routes()) {
			if r.Method == http.MethodGet {
				continue
			}
			q := w.Request(t, &r, w.Homes[0])
			method, path, _ := strings.Cut(q.Do, " ")
			request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(q.Send))
			request.Header.Set("Authorization", "Bearer "+w.TokenOf(t, q.Who))
			for name, value := range q.Headers {
				request.Header.Set(name, value)
			}
			before, answer := w.digest(t), httptest.NewRecorder()
			narrow.ServeHTTP(answer, request)
			spares := method == http.MethodDelete
			if r.Space != route.SpaceByMethod {
				spares = r.Space != route.SpaceAlways
			}
			switch {
			case spares && answer.Code == http.StatusInsufficientStorage:
				t.Errorf("%s, which takes no room: %d %s", q.Do, answer.Code, answer.Body)
			case !spares && (answer.Code != http.StatusInsufficientStorage ||
				answer.Header().Get("Retry-After") != "60"):
				t.Errorf("%s: %d %s", q.Do, answer.Code, answer.Body)
			case !spares:
				refused++
				w.unchanged(t, q.Do, before)
			}
			if r.Group == route.API && !strings.Contains(answer.Header().Get("Content-Type"), "json") &&
				answer.Code != 204 {
				t.Errorf("%s: %v", q.Do, answer.Header())
			}
		}
		if refused < 40 {
			t.Errorf("only %d routes were refused", refused)
		}
	})
}
