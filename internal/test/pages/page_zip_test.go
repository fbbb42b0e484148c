package pages_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"regexp"
	"testing"

	"arbor/internal/account/session"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// People on slow lines get pages, styles and scripts compressed. Not so what another page may have their
// browser ask for with their session, again and again: its length would tell what stands next to a text of
// that page's choice (BREACH).
func TestPagesAreCompressed(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		cookie := session.Cookie + "=" + s.PasswordSession(t, "alice")
		with := func(more ...string) map[string]string {
			h := map[string]string{"Accept": apitest.Browser, "Accept-Encoding": "gzip, br"}
			for n := 0; n < len(more); n += 2 {
				h[more[n]] = more[n+1]
			}
			return h
		}
		const page, vary = "GET /alice/garden", "Accept, Accept-Encoding, Authorization, Cookie"
		zipped := map[string]string{"Content-Encoding": "gzip", "Vary": vary}
		plain := map[string]string{"Content-Encoding": "-", "Vary": vary}
		whole := s.Check(t, apitest.Case{Do: page, Status: 200, Headers: inBrowser,
			Has: plain})
		small := s.Check(t, apitest.Case{Do: page, Status: 200, Headers: with(), Has: zipped})
		if unzipped := unzip(t, small.Body); !bytes.Equal(unzipped, whole.Body) ||
			small.Header.Get("ETag") != whole.Header.Get("ETag") {
			t.Errorf("the page is another one when it is compressed: %d bytes", len(unzipped))
		}
		there := func(more ...string) map[string]string {
			return with(append([]string{"Cookie", cookie, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"},
				more...)...)
		}
		s.Run(t, []apitest.Case{
			{Name: "who has it", Do: page, Status: 304, Headers: with("If-None-Match", whole.Header.Get("ETag")),
				Has: plain},
			{Name: "a click", Do: page, Status: 200, Headers: there("Sec-Fetch-Site", "same-origin"), Has: zipped},
			{Name: "an address that was typed", Do: page, Status: 200, Headers: there("Sec-Fetch-Site", "none"),
				Has: zipped},
			{Name: "a link of another site", Do: page, Status: 200, Headers: there("Sec-Fetch-Site", "cross-site"),
				Has: plain},
			{Name: "a neighbor", Do: page, Status: 200, Headers: there("Sec-Fetch-Site", "same-site"), Has: plain},
			{Name: "a picture in a text", Do: page, Status: 200, Headers: with("Cookie", cookie, "Sec-Fetch-Site",
				"same-origin", "Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "image"), Has: plain},
			{Name: "a browser that tells nothing", Do: page, Status: 200, Headers: with("Cookie", cookie), Has: plain},
			{Name: "a token of a program", Do: page, As: "alice", Status: 200, Headers: with(), Has: zipped},
			{Name: "a cookie of nobody", Do: page, Status: 200, Headers: with("Cookie", "a=b"), Has: zipped},
		})
		secret := there("Sec-Fetch-Site", "same-origin", "Origin", s.URL, "Content-Type",
			"application/x-www-form-urlencoded")
		s.Check(t, apitest.Case{Name: "a token that is shown once", Do: "POST /settings/tokens/new", Status: 200,
			Send: "note=x&scopes=repo&life=30d", Headers: secret, Has: map[string]string{"Content-Encoding": "-",
				"Cache-Control": "no-store"}})

		for _, address := range regexp.MustCompile(`/assets/[a-z0-9.-]+`).FindAllString(string(whole.Body), -1) {
			all := s.Check(t, apitest.Case{Do: "GET " + address, Status: 200,
				Has: map[string]string{"Content-Encoding": "-", "Vary": "Accept-Encoding"}})
			for _, h := range []map[string]string{with(), with("Cookie", cookie)} {
				a := s.Check(t, apitest.Case{Do: "GET " + address, Status: 200, Headers: h,
					Has: map[string]string{"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}})
				if !bytes.Equal(unzip(t, a.Body), all.Body) {
					t.Errorf("%s is another one when it is compressed", address)
				}
			}
		}
	})
}

func unzip(t *testing.T, zipped []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(zipped))
	testkit.NoError(t, err)
	text, err := io.ReadAll(z)
	testkit.NoError(t, err)
	return text
}
