package repos_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"arbor/internal/migration/foreign"
	"arbor/internal/migration/remote"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// A wiki comes as a repository of its own, private as its repository is; one that a server only says to have does not.
func TestImportWiki(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		for _, name := range []string{"garden", "garden.wiki", "orchard"} {
			s.Ask(t, "alice", "POST /user/repos", `{"name": "`+name+`", "auto_init": true, "private": true}`, 201)
		}
		to, err := url.Parse(s.URL)
		testkit.NoError(t, err)
		// a server that has wikis
		source := httptest.NewServer(&httputil.ReverseProxy{
			Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(to)
				r.SetXForwarded()
				r.Out.Header.Del("Accept-Encoding")
			},
			ModifyResponse: func(a *http.Response) error {
				text, err := io.ReadAll(a.Body)
				text = bytes.ReplaceAll(text, []byte(`"has_wiki":false`), []byte(`"has_wiki":true`))
				text = bytes.ReplaceAll(text, []byte(s.URL), []byte("http://"+a.Request.Header.Get("X-Forwarded-Host")))
				a.Body, a.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
				a.Header.Del("Content-Length")
				return err
			},
		})
		t.Cleanup(source.Close)
		nothing := func(string, int64, int64) {}
		for name, has := range map[string]bool{"garden": true, "orchard": false} {
			server, err := foreign.Find(t.Context(), source.URL+"/alice/"+name, remote.Options{Token: s.Token(t, "alice"),
				Git: s.Git, Dir: t.TempDir(), Room: func() error { return nil }, Progress: nothing})
			testkit.NoError(t, err)
			from, err := server.Open(t.Context(), nil, "", nil, nothing)
			testkit.NoError(t, err)
			wiki, err := server.Wiki(t.Context(), from, nothing)
			testkit.NoError(t, err)
			if (wiki != nil) != has {
				t.Errorf("%s: a wiki comes: %v", name, wiki != nil)
			}
			if wiki != nil {
				about, err := wiki.Repository(t.Context())
				testkit.NoError(t, err)
				dir, err := wiki.Git(t.Context())
				if err != nil || dir == "" || about.Name != "alice/garden.wiki" || !about.Private || !about.NoIssues {
					t.Errorf("the wiki is %+v in %q (%v)", about, dir, err)
				}
				testkit.NoError(t, wiki.Close())
			}
			testkit.NoError(t, from.Close())
		}
	})
}
