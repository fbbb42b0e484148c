package scope

import (
	"slices"
	"strings"
	"testing"
)

// A token for a tool must be able to do all that the tool's manual says that a scope
// includes, and its header must say the scopes as GitHub writes them.
func TestParents(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"repo", "repo"}, {"public_repo,repo", "repo"},
		{"repo:status, public_repo", "repo:status, public_repo"},
		{"plants read:org repo", "repo, read:org, plants"}, {"read:org,admin:org", "admin:org"},
		{"user:follow", "user:follow"},
	} {
		s, err := Parse(c.text)
		if err != nil || s.String() != c.want {
			t.Errorf("%q is %q, %v; want %q", c.text, s, err, c.want)
		}
		again, err := Parse(s.String())
		if err != nil || again != s {
			t.Errorf("%q does not read what it writes: %b, %b, %v", c.text, s, again, err)
		}
	}
	all, err := Parse(strings.Join(Names(), ","))
	if err != nil || all&All != all || all.String() != All.String() {
		t.Errorf("all scopes are %s, %v; All is %s", all, err, All)
	}
	admin, _ := Parse("admin:org")
	if !admin.Any(ReadOrg) || admin.Any(Repo) {
		t.Error("admin:org does not include read:org alone")
	}
}

// Somebody who mistypes a scope must not get a token that may do less than they think.
func TestUnknown(t *testing.T) {
	for _, text := range []string{"repos", "Repo", "repo;user", "*", "repo,,x"} {
		_, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), "public_repo, ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	seen := map[Set]bool{}
	for _, n := range names {
		if n.bit == 0 || n.bit&(n.bit-1) != 0 || seen[n.bit] {
			t.Errorf("the bit of %s is %b", n.text, n.bit)
		}
		seen[n.bit] = true
		if n.parent != "" && !slices.Contains(Names(), n.parent) {
			t.Errorf("%s is in %s, which there is not", n.text, n.parent)
		}
	}
}
