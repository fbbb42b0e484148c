package admission

import (
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// A client cannot choose the address under which it is counted: only addresses that a
// trusted proxy wrote count, and of these the last that is not a proxy itself.
func TestOrigin(t *testing.T) {
	proxies, err := ParseProxies("10.0.0.0/8, 192.0.2.7,2001:db8:f::/48")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		peer  string
		lines []string
		want  string
	}{
		{"10.1.1.1:80", []string{"198.51.100.1"}, "198.51.100.1"},
		{"10.1.1.1:80", []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1"},
		{"10.1.1.1:80", []string{"203.0.113.9", "198.51.100.1, 10.2.2.2"}, "198.51.100.1"},
		{"10.1.1.1:80", []string{"203.0.113.9, nonsense"}, "10.1.1.1"},
		{"10.1.1.1:80", []string{"203.0.113.9, nonsense, 10.2.2.2"}, "10.2.2.2"},
		{"10.1.1.1:80", []string{"198.51.100.1,"}, "10.1.1.1"},
		{"10.1.1.1:80", nil, "10.1.1.1"},
		{"10.1.1.1:80", []string{"10.2.2.2, 10.3.3.3"}, "10.2.2.2"},
		{"10.1.1.1:80", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		{"10.1.1.1:80", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"10.1.1.1:80", []string{"2001:db8::1"}, "2001:db8::1"},
		{"[2001:db8:f::1]:80", []string{"198.51.100.1"}, "198.51.100.1"},
		{"[::ffff:10.1.1.1]:80", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"192.0.2.7:80", []string{"198.51.100.1"}, "198.51.100.1"},
		{"192.0.2.8:80", []string{"198.51.100.1"}, "192.0.2.8"}, // no proxy
		{"@", []string{"198.51.100.1"}, "invalid IP"},           // a socket in the file system
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.peer
		for _, line := range c.lines {
			r.Header.Add("X-Forwarded-For", line)
		}
		if got := proxies.Origin(r); got.Address.String() != c.want {
			t.Errorf("%s with %q: %s, want %s", c.peer, c.lines, got.Address, c.want)
		}
	}
}

// Links begin with the scheme and host that the client used. Only a trusted proxy may
// name these in headers.
func TestOriginOfLinks(t *testing.T) {
	proxies, _ := ParseProxies("10.0.0.0/8")
	for peer, want := range map[string]Origin{
		"10.1.1.1:80":  {Scheme: "https", Host: "code.example.org"},
		"192.0.2.1:80": {Scheme: "http", Host: "inner:8080"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = peer, "inner:8080"
		r.Header.Set("X-Forwarded-Proto", "ftp, HTTPS")
		r.Header.Set("X-Forwarded-Host", "evil.example.org, code.example.org")
		if got := proxies.Origin(r); got.Scheme != want.Scheme || got.Host != want.Host {
			t.Errorf("%s: %s %s", peer, got.Scheme, got.Host)
		}
		r.Header.Set("X-Forwarded-Proto", "javascript")
		if got := proxies.Origin(r); got.Scheme != "http" {
			t.Errorf("%s: scheme %s", peer, got.Scheme)
		}
	}
}

func TestParseProxies(t *testing.T) {
	for _, wrong := range []string{
		"10.0.0.0/33", "proxy", "10.0.0.0/8;10.1.1.1", "fe80::1%eth0", "::ffff:10.0.0.0/104", "/8",
	} {
		if p, err := ParseProxies(wrong); err == nil {
			t.Errorf("%q is read as %v", wrong, p)
		}
	}
	if p, err := ParseProxies(""); err != nil || len(p) != 0 {
		t.Errorf("nothing is read as %v, %v", p, err)
	}
}

// For every header, the address is the peer's or that of an element of the header, and
// everything right of it is trusted.
func FuzzForwardedFor(f *testing.F) {
	f.Add("10.1.1.1", "203.0.113.9, 198.51.100.1, 10.0.0.1")
	f.Add("10.1.1.1", "[2001:db8::1%x]:1,,")
	f.Add("10.1.1.1", " ,\t, 1.2.3.4:5:6")
	proxies, _ := ParseProxies("10.0.0.0/8")
	f.Fuzz(func(t *testing.T, peer, header string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = peer
		r.Header["X-Forwarded-For"] = []string{header}
		got := proxies.Origin(r).Address
		if !proxies.trust(addressOf(peer)) {
			if got != addressOf(peer) {
				t.Fatalf("%s is not trusted, and made %s", peer, got)
			}
			return
		}
		if got.Is4In6() || got.Zone() != "" || !got.IsValid() {
			t.Fatalf("%v is not in its plain form", got)
		}
		elements := strings.Split(header, ",")
		for i := len(elements) - 1; i >= 0; i-- {
			said := addressOf(strings.TrimSpace(elements[i]))
			if said == got && !proxies.trust(got) {
				return // the first from the right that is no proxy
			}
			if said != (netip.Addr{}) && !proxies.trust(said) {
				t.Fatalf("%q: %s stands right of %s", header, said, got)
			}
			if !said.IsValid() {
				break
			}
		}
		if !proxies.trust(got) {
			t.Fatalf("%q: %s, which no trusted proxy wrote", header, got)
		}
	})
}
