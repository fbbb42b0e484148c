package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Lists come compressed to clients that ask, with a token, too. With credentials that a browser sends by
// itself they do not: another page could have it ask again and again, and the length would tell people on
// the way what stands next to a text of theirs (BREACH).
func TestAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		for n := range 5 {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
				Send: fmt.Sprintf(`{"title": "Slug %d eats the peas"}`, n)})
		}
		const list, small = "GET /repos/alice/garden/issues", "GET /repos/alice/garden/labels?per_page=1"
		asks := map[string]string{"Accept-Encoding": "gzip, br"}
		with := func(name, value string) map[string]string {
			return map[string]string{"Accept-Encoding": "gzip", name: value}
		}
		both := "Accept, Accept-Encoding, Authorization"
		plain := s.Check(t, apitest.Case{Do: list, Status: 200,
			Has: map[string]string{"Content-Encoding": "-", "Vary": both}})
		tag := plain.Header.Get("ETag")
		for range 2 { // as it is rendered, and as it is kept
			zipped := s.Check(t, apitest.Case{Do: list, Status: 200, Headers: asks,
				Has: map[string]string{"Content-Encoding": "gzip", "Vary": both, "ETag": tag,
					"Content-Type": "application/json; charset=utf-8"}})
			z, err := gzip.NewReader(bytes.NewReader(zipped.Body))
			testkit.NoError(t, err)
			text, err := io.ReadAll(z)
			if err != nil || !bytes.Equal(text, plain.Body) || len(zipped.Body) > len(plain.Body)/4 {
				t.Errorf("%d bytes of %d: %v", len(zipped.Body), len(plain.Body), err)
			}
		}
		none := map[string]string{"Content-Encoding": "-"}
		s.Run(t, []apitest.Case{
			{Name: "who has it", Do: list, Status: 304, Headers: with("If-None-Match", tag), Has: none},
			{Name: "a token", Do: list, As: "alice", Status: 200, Headers: asks,
				Has: map[string]string{"Content-Encoding": "gzip", "Vary": both}},
			{Name: "a token and who has it", Do: list, As: "alice", Status: 304, Headers: with("If-None-Match", "*"),
				Has: none},
			{Name: "a token in the other form", Do: list, Status: 200,
				Headers: with("Authorization", "token "+s.Token(t, "alice")),
				Has:     map[string]string{"Content-Encoding": "gzip"}},
			{Name: "a token that a browser keeps", Do: list, Status: 200,
				Headers: with("Authorization", "Basic "+base64.StdEncoding.EncodeToString(
					[]byte("alice:"+s.Token(t, "alice")))), Has: none},
			{Name: "a wrong token", Do: list, Status: 401,
				Headers: with("Authorization", "Bearer arb_wrong"), Has: none},
			{Name: "a cookie", Do: list, Status: 200, Headers: with("Cookie", "a=b"), Has: none},
			{Name: "small", Do: small, Status: 200, Headers: asks, Has: none},
			{Name: "refused", Do: list, Status: 200,
				Headers: map[string]string{"Accept-Encoding": "gzip;q=0"}, Has: none},
			{Name: "no compressed form asked for", Do: list, Status: 200,
				Headers: map[string]string{"Accept-Encoding": "br"}, Has: none},
			{Name: "an error", Do: "GET /repos/alice/nothing", Status: 404, Headers: asks, Has: none},
		})
	})
}
