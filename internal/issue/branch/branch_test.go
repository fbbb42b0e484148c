package branch

import (
	"strings"
	"testing"

	"arbor/internal/git"
)

// A title in any script makes the name of a branch that git takes.
func TestNameFor(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Slugs eat the peas!":  "7-slugs-eat-the-peas",
		"  -- a/b..c @{x} ~^:": "7-a-b-c-x",
		"":                     "7",
		"Äpfel & Birnen.lock":  "7-äpfel-birnen-lock",
		"...":                  "7",
	} {
		if got := NameFor(7, title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
	for _, title := range []string{strings.Repeat("word ", 90), strings.Repeat("\u00e4", 300), "x.lock", "@",
		"\x00\x7f\u2028"} {
		name := NameFor(1<<40, title)
		if err := git.CheckRefName(heads + name); err != nil || len(name) > maxName+8 {
			t.Errorf("%.20q: %q, %v", title, name, err)
		}
	}
}
