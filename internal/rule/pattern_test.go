package rule

import (
	"strings"
	"testing"
	"time"
)

func TestPatternsMatchAsFnmatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"main", []string{"main"}, []string{"mains", "Main", "a/main"}},
		{"*", []string{"main", "x"}, []string{"a/b"}},
		{"release/*", []string{"release/1", "release/"}, []string{"release", "release/1/2"}},
		{"release/**", []string{"release/1", "release/1/2"}, []string{"release"}},
		{"release/**/*", []string{"release/1", "release/1/2"}, []string{"release"}},
		{"**/hot", []string{"hot", "a/hot", "a/b/hot"}, []string{"shot", "a/shot"}},
		{"v?.[0-9]", []string{"v1.0", "v2.9"}, []string{"v1.x", "v/.1", "v1.10"}},
		{"[!a-c]x", []string{"dx"}, []string{"ax", "/x", "x"}},
		{"[]]x", []string{"]x"}, []string{"[x"}},
		{`a\*b`, []string{"a*b"}, []string{"axb"}},
		{"a[b", []string{"a[b"}, []string{"ab"}},
		{"ä*", []string{"äpfel"}, []string{"a"}},
		{"*a*b", []string{"ab", "xaxb", "aab"}, []string{"aba"}},
	} {
		for _, name := range c.yes {
			if !matchName(c.pattern, name) {
				t.Errorf("%q does not match %q", c.pattern, name)
			}
		}
		for _, name := range c.no {
			if matchName(c.pattern, name) {
				t.Errorf("%q matches %q", c.pattern, name)
			}
		}
	}
}

// A pattern that makes backtracking matchers work for ages takes no longer than others.
func TestPatternsAreBounded(t *testing.T) {
	t.Parallel()
	done := make(chan bool)
	go func() {
		done <- matchName(strings.Repeat("**a", 80), strings.Repeat("a", 250)+"b")
	}()
	select {
	case is := <-done:
		if is {
			t.Error("matches")
		}
	case <-time.After(time.Minute):
		t.Error("takes too long")
	}
}
