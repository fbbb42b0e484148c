package accounts_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// gh, led to github.localhost through the server as its own proxy, shows an address that a browser opens
// which knows nothing of that proxy.
func TestDeviceFlowThroughTheServerAsProxy(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		at, err := url.Parse(s.URL)
		testkit.NoError(t, err)
		gh := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(at)}}
		form := url.Values{"client_id": {"178c6fc778ccc68e1d6a"}}.Encode()
		ask := func(c *http.Client, host string) string {
			t.Helper()
			r, err := http.NewRequest("POST", host+"/login/device/code", strings.NewReader(form))
			testkit.NoError(t, err)
			r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"},
				"Accept": {"application/json"}}
			answer, err := c.Do(r)
			testkit.NoError(t, err)
			defer answer.Body.Close()
			var codes struct {
				URI string `json:"verification_uri"`
			}
			testkit.NoError(t, json.NewDecoder(answer.Body).Decode(&codes))
			return codes.URI
		}
		if got, want := ask(gh, "http://github.localhost"), s.URL+"/login/device"; got != want {
			t.Errorf("through the proxy the person is sent to %s, want %s", got, want)
		}
		if got, want := ask(http.DefaultClient, s.URL), s.URL+"/login/device"; got != want {
			t.Errorf("the person is sent to %s, want %s", got, want)
		}
		gh.CloseIdleConnections()
	})
}
