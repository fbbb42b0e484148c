package outgoing

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/test/testkit"
)

// An address that is let through by mistake opens the operator's network to everybody who may make a hook.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "1.1.1.1": true,
		"127.0.0.1": false, "127.9.9.9": false, "::1": false, "0.0.0.0": false, "::": false,
		"10.1.2.3":   false,
		"172.16.0.1": false, "172.31.255.255": false, "172.32.0.1": true, "192.168.1.1": false,
		"169.254.169.254": false,
		"100.64.0.1":      false, "100.100.100.200": false, "198.18.0.1": false, "192.0.2.1": false, "203.0.113.9": false,
		"224.0.0.1": false, "255.255.255.255": false, "240.0.0.1": false, "fe80::1": false,
		"fe80::1%eth0": false,
		"fc00::1":      false, "fd00:ec2::254": false, "ff02::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false,
		"::ffff:8.8.8.8": true, "64:ff9b::a00:1": false, "64:ff9b::808:808": false, "64:ff9b:1::1": false,
		"2002:7f00:1::": false,
		"2001::1":       false, "2001:db8::1": false, "::7f00:1": false, "100::1": false, "4000::1": false, "3fff::1": false,
	} {
		if got := (Networks{}).Allow(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: allowed %v, want %v", text, got, want)
		}
	}
	some, err := ParseNetworks("10.0.0.0/8, fd00::/8,192.168.1.7")
	testkit.NoError(t, err)
	for text, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "fd00::9": true,
		"192.168.1.7": true,
		"192.168.1.8": false, "127.0.0.1": false, "fd00::9%lo": false} {
		if got := some.Allow(netip.MustParseAddr(text)); got != want {
			t.Errorf("with networks, %s: allowed %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"10.0.0.0/33", "peas", "::ffff:10.0.0.0/104", "fe80::1%lo"} {
		if _, err := ParseNetworks(text); err == nil {
			t.Errorf("%q is taken for a network", text)
		}
	}
}

// FuzzNetworks: whatever is taken for networks is written so that it is taken again.
func FuzzNetworks(f *testing.F) {
	f.Add("10.0.0.0/8,::1")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseNetworks(text)
		if err != nil {
			return
		}
		for _, p := range list {
			if again, err := ParseNetworks(p.String()); err != nil || again[0] != p {
				t.Errorf("%q gives %v, which gives %v (%v)", text, p, again, err)
			}
		}
	})
}

// names are what a resolver answers, one after the other.
type names struct {
	answers [][]netip.Addr
	asked   atomic.Int32
}

func (n *names) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	k := int(n.asked.Add(1)) - 1
	return n.answers[min(k, len(n.answers)-1)], nil
}

func post(t *testing.T, c *Client, address string) *Answer {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader("{}"))
	testkit.NoError(t, err)
	return c.Send(t.Context(), r, false)
}

// A name that leads to the internet when it is looked at, and inside afterwards, leads nowhere: it is looked
// up once.
func TestNamesThatChange(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("a request came in")
	}))
	defer inside.Close()
	_, port, _ := net.SplitHostPort(inside.Listener.Addr().String())
	local, far := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::ffff:127.0.0.1")
	for _, first := range [][]netip.Addr{{local}, {far}, {far, local}} {
		n := &names{answers: [][]netip.Addr{first}}
		if a := post(t, newClient(nil, n, time.Second),
			"http://rebind.example:"+port); a.Status != ErrInner.Error() {
			t.Errorf("%v: %+v", first, a)
		}
	}
	// An address of the internet comes first, and then inner ones: they are not asked for.
	n := &names{answers: [][]netip.Addr{{netip.MustParseAddr("240.0.0.1"), local}, {local}}}
	allowed := Networks{netip.MustParsePrefix("240.0.0.0/4")}
	if a := post(t, newClient(allowed, n, time.Second), "http://rebind.example:"+port); a.Code != 0 ||
		n.asked.Load() != 1 {
		t.Errorf("%+v after %d lookups", a, n.asked.Load())
	}
}

// Receivers that redirect, hang, drip, or never end cost what was promised, and no more.
func TestHostileReceivers(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	defer close(gone)
	mux := http.NewServeMux()
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/ok", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/ok", func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") })
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-gone:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte("x")); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(20 * time.Millisecond)
		}
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	for path, want := range map[string]string{"/redirect": "Temporary Redirect", "/hang": "timed out",
		"/drip":    "timed out",
		"/endless": "OK", "/headers": "the connection failed"} {
		limit := testkit.Patience
		if want == "timed out" {
			limit = time.Second
		}
		a := post(t, newClient(Loopback(), net.DefaultResolver, limit), s.URL+path)
		if a.Status != want || len(a.Body) > maxKept {
			t.Errorf("%s: %q with %d bytes, want %q", path, a.Status, len(a.Body), want)
		}
	}
}

// A proxy that the environment names would be asked for inner addresses in our place.
func TestNoProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	n := &names{answers: [][]netip.Addr{{netip.MustParseAddr("127.0.0.1")}}}
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	if a := post(t, newClient(Loopback(), n, 10*time.Second),
		"http://receiver.example:"+port); a.Code != 200 {
		t.Errorf("%+v", a)
	}
}

// Fetch follows redirects, and each step is checked: none leads to an inner network.
func TestFetchRedirects(t *testing.T) {
	t.Parallel()
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request came in") }))
	defer inside.Close()
	to := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" {
			t.Error("a redirect tells where it was")
		}
		if r.URL.Path == "/ok" {
			_, _ = io.WriteString(w, "ok")
			return
		}
		http.Redirect(w, r, to, http.StatusFound)
	}))
	defer s.Close()
	_, port, _ := net.SplitHostPort(inside.Listener.Addr().String())
	_, own, _ := net.SplitHostPort(s.Listener.Addr().String())
	// The server is at 127.0.0.1, which is allowed, and by other addresses it is inner.
	c := newClient(Networks{netip.MustParsePrefix("127.0.0.1/32")}, &names{answers: [][]netip.Addr{
		{netip.MustParseAddr("127.0.0.2")}}}, time.Second)
	for address, want := range map[string]string{
		"/ok": "", "/again": errRedirect.Error(), "http://127.0.0.2:" + port: ErrInner.Error(),
		"http://[::1]:" + port: ErrInner.Error(), "http://rebind.example:" + port: ErrInner.Error(),
		"http://u:p@127.0.0.1:" + own + "/ok": errRedirect.Error(), "file:///etc/passwd": "the connection failed",
	} {
		to = address
		a, err := c.Fetch(t.Context(), s.URL+"/start", http.Header{})
		if err == nil {
			_ = a.Body.Close()
		}
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
}
