package external

import (
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
)

// Whatever a source proposes becomes a login, or an error; groups never give more than the file says.
func FuzzIdentity(f *testing.F) {
	f.Add("ann@example.org", "dev")
	f.Add("--", "")
	f.Add("\xff\x00", "a,b")
	f.Fuzz(func(t *testing.T, text, group string) {
		s := &Source{Name: "a", Groups: map[string][]Membership{"dev": {{Organization: "acme", Role: owner, Teams: []string{"x"}}}},
			Administrators: []string{"root"}}
		i := &Identity{Source: s, Login: text, Name: text, Groups: []string{group}}
		if login, err := i.login(); err == nil && account.CheckLogin(login) != nil {
			t.Errorf("%q is no login", login)
		}
		if strings.ContainsAny(i.shown(), "\x00\n") {
			t.Errorf("%q is shown", i.shown())
		}
		at := i.wanted(nil)["acme"]
		if (at.role == owner) != (group == "dev") || at.teams["x"] != (group == "dev") || i.administrates() != (group == "root") {
			t.Errorf("%q gives %+v", group, at)
		}
	})
}

// Comparisons are at three in the night, of UTC.
func TestUntilNight(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for at, want := range map[time.Duration]time.Duration{0: 3 * time.Hour, 3 * time.Hour: 24 * time.Hour,
		2*time.Hour + time.Minute: 59 * time.Minute, 23 * time.Hour: 4 * time.Hour} {
		if got := untilNight(day.Add(at)); got != want {
			t.Errorf("%s after midnight it is %s until then, not %s", at, got, want)
		}
	}
}
