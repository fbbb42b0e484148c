package gitdata

import (
	"net/http/httptest"
	"testing"

	"arbor/internal/web"
)

// A list too long to be counted must still lead on and back, and must not
// pretend to know its end.
func TestOpenLink(t *testing.T) {
	t.Parallel()
	r := web.With(httptest.NewRequest("GET", "/c?page=2&per_page=5", nil), &web.Info{Prefix: "http://x"})
	w := httptest.NewRecorder()
	openLink(w, r, web.ReadPage(r))
	want := `<http://x/c?page=3&per_page=5>; rel="next", <http://x/c?page=1&per_page=5>; rel="first", <http://x/c?page=1&per_page=5>; rel="prev"`
	if got := w.Header().Get("Link"); got != want {
		t.Errorf("Link is %s, want %s", got, want)
	}
}
