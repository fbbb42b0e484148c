package web

import (
	"strings"
	"testing"
)

// A number in an address is written in one way only, so that a resource has one
// address.
func TestParseNumber(t *testing.T) {
	for s, want := range map[string]int64{"1": 1, "10": 10, "9007199254740993": 9007199254740993,
		"999999999999999999": 999999999999999999} {
		if n, ok := ParseNumber(s); !ok || n != want {
			t.Errorf("%q: %d, %v", s, n, ok)
		}
	}
	for _, s := range []string{"", "0", "01", "-1", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "1_0", "１", "x",
		"1x", "9223372036854775808", strings.Repeat("1", 300)} {
		if n, ok := ParseNumber(s); ok {
			t.Errorf("%q is taken for %d", s, n)
		}
	}
}

// Where git is served over SSH, ssh_url leads there: in the short form that people know, or with its port.
func TestSSHAddress(t *testing.T) {
	for _, c := range []struct{ site, host, port, want string }{
		{"https://code.example.org", "", "", "git@code.example.org:alice/garden.git"},
		{"https://code.example.org", "", "22", "git@code.example.org:alice/garden.git"},
		{"http://code.example.org:8080", "", "22", "git@code.example.org:alice/garden.git"},
		{"http://code.example.org:8080", "", "2222", "ssh://git@code.example.org:2222/alice/garden.git"},
		{"http://[::1]:8080", "", "2222", "ssh://git@[::1]:2222/alice/garden.git"},
		{"http://[::1]", "", "22", "git@[::1]:alice/garden.git"},
		{"https://code.example.org", "git.example.org", "22", "git@git.example.org:alice/garden.git"},
		{"https://code.example.org", "git.example.org", "2222",
			"ssh://git@git.example.org:2222/alice/garden.git"},
	} {
		i := Info{Site: c.site, SSHHost: c.host, SSHPort: c.port}
		if got := i.SSH("alice/garden"); got != c.want {
			t.Errorf("%+v: %s, want %s", i, got, c.want)
		}
	}
}

// Each address in an answer repeats the host, so a long one would make answers of gigabytes.
func TestLongHost(t *testing.T) {
	site, self, _ := Address("http", strings.Repeat("a", 300), "")
	if site != "http://localhost" || self != site {
		t.Errorf("%.80s, %.80s", site, self)
	}
	host := strings.Repeat("a", 249) + ".b:8080"
	if site, _, _ := Address("http", host, ""); site != "http://"+host {
		t.Errorf("%.80s", site)
	}
}
