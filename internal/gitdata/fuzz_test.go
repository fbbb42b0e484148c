package gitdata

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// What stands in an address must be read or refused, and what is accepted must
// be safe to hand to git.
func FuzzReadHistory(f *testing.F) {
	for _, s := range []string{"", "path=a/b&author=alice&since=2011-04-22T13:33:48Z", "path=..", "path=%00",
		"author=<a@b>", "since=--all", "until=9999-12-31T23:59:59%2B23:59", "path=a%0Ab&committer=%ff@x",
		"since=0001-01-01", "path=/x/", "path=.git"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		got, err := readHistory(web.QueryOf(&http.Request{URL: &url.URL{RawQuery: query}}).Get)
		if err != nil {
			return
		}
		if got.Path != "" && git.CheckPath(got.Path) != nil ||
			strings.ContainsAny(got.Author+got.Committer, "\x00\n") {
			t.Errorf("%q is accepted: %+v", query, got)
		}
		if !got.Since.IsZero() && got.Since.Unix() < 1 || !got.Until.IsZero() && got.Until.Unix() < 1 {
			t.Errorf("%q: a time before all: %+v", query, got)
		}
	})
}

// Both sides of a comparison are names that resolving can look up.
func FuzzReadComparison(f *testing.F) {
	for _, s := range []string{"a...b", "a..b", "alice:a...ALICE:b", "bob:a...b", "bob:c:a...::b", "...",
		"a....b", "a", ":...:", "a...b...c"} {
		f.Add(s)
	}
	a := &repo.Access{Repo: &repo.Repo{Name: "r", Owner: account.Account{Login: "alice"}}}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := readComparison(text, a)
		if err == nil && (c.base.name == "" || c.head.name == "") {
			t.Errorf("%q is read as %+v", text, c)
		}
	})
}

// A .gitmodules file is somebody's text.
func FuzzSubmodules(f *testing.F) {
	f.Add("[submodule \"m\"]\n\tpath = module\n\turl = https://example.org/m.git\n\tbranch = main")
	f.Add("[\npath=x\nurl=\"\n=\n]")
	f.Fuzz(func(t *testing.T, text string) {
		list := parseSubmodules(text)
		if len(list) > maxSubmodules {
			t.Errorf("%d submodules", len(list))
		}
		for _, m := range list {
			if m.URL == "" || m.Path == "" || !strings.Contains(text, m.URL) || !strings.Contains(text, m.Path) {
				t.Errorf("%+v out of %q", m, text)
			}
		}
	})
}

// Every order of names is total, so that pages neither repeat nor skip.
func FuzzCompareVersions(f *testing.F) {
	f.Add("v1.9", "v1.10", "v1.010")
	f.Add("a", "", "0")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		ab, ba, bc, ac := compareVersions(a, b), compareVersions(b, a), compareVersions(b, c),
			compareVersions(a, c)
		if (ab < 0) != (ba > 0) || (ab == 0) != (a == b) || ab < 0 && bc < 0 && ac >= 0 {
			t.Errorf("%q, %q, %q: %d %d %d %d", a, b, c, ab, ba, bc, ac)
		}
	})
}

// The readme that people expect is the one that they get.
func TestReadmeOrder(t *testing.T) {
	t.Parallel()
	order := []string{"README.md", "readme.markdown", "README.rst", "Readme.adoc", "README.txt", "README",
		"README.fr.xyz"}
	for i, name := range order {
		if readmeRank(name) == 0 || i > 0 && readmeRank(name) <= readmeRank(order[i-1]) {
			t.Errorf("%s has rank %d", name, readmeRank(name))
		}
	}
	for _, name := range []string{"READMEmd", "README-md", "NOREADME.md", "readme_x", ""} {
		if readmeRank(name) != 0 {
			t.Errorf("%q is taken for a readme", name)
		}
	}
}
