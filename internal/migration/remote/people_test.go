package remote

import (
	"strconv"
	"strings"
	"testing"
)

// Whoever has a login that is too long, and whoever comes when there is no more room, is nobody; a long name is cut.
func TestLogin(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLogin)
	p := People{}
	for login, want := range map[string]string{"alice": "alice", "Ghost": "", "": "", long: long, long + "x": ""} {
		if got := p.Login(&User{Login: login, FullName: strings.Repeat("n", 9000)}); got != want {
			t.Errorf("%.20q (%d bytes) is %.20q, want %.20q", login, len(login), got, want)
		}
	}
	if n := len(p["alice"].Name); n > maxName+3 {
		t.Errorf("a name has %d bytes", n)
	}
	for n := len(p); n < maxPeople; n++ {
		p[strconv.Itoa(n)] = p["alice"]
	}
	if got := p.Login(&User{Login: "late"}) + p.Login(&User{Login: "alice"}); got != "alice" {
		t.Errorf("with %d people, late and alice are %q", len(p), got)
	}
}
