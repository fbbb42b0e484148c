package license

import (
	"strings"
	"testing"
)

// The text of each license is recognized as that license, also as projects have it: with
// names filled in, broken otherwise, and a line above it. What is none is other.
func TestEachTextIsItsLicense(t *testing.T) {
	t.Parallel()
	for n := range catalog {
		l := &catalog[n]
		filled := strings.NewReplacer("<year>", "2026", "<copyright holders>", "Alice Ash", "<owner>",
			"Alice Ash").Replace(l.Text())
		for _, text := range []string{l.Text(),
			"# The license\n\n" + strings.ReplaceAll(filled, "\n", "\r\n")} {
			if got, err := Detect([]byte(text)); err != nil || got != l.Key() {
				t.Errorf("the text of %s is %q (%v)", l.SPDX, got, err)
			}
		}
	}
	mit, apache := ByKey("MIT").Text(), ByKey("apache-2.0").Text()
	for name, text := range map[string]string{"none": "",
		"own words": "Do what you like with it, but be kind.", "two": mit + "\n" + apache,
		"a word of one": "This is under the MIT license, see elsewhere. " +
			strings.Repeat("Gardens need water. ", 50), "bytes": "\x00\xff\xfe"} {
		if got, err := Detect([]byte(text)); err != nil || got != Other {
			t.Errorf("%s is %q (%v)", name, got, err)
		}
	}
}

// The catalog is in the order in which lists show it.
func TestCatalogIsSorted(t *testing.T) {
	t.Parallel()
	for n := 1; n < len(catalog); n++ {
		if catalog[n-1].Key() >= catalog[n].Key() {
			t.Errorf("%s stands before %s", catalog[n-1].SPDX, catalog[n].SPDX)
		}
	}
}

// A repository's license is the file that is called so.
func TestRank(t *testing.T) {
	t.Parallel()
	order := []string{"LICENSE", "License.txt", "LICENCE.md", "COPYING", "copying.txt", "COPYING.md",
		"LICENSE-MIT", "license-apache.txt"}
	for n := 1; n < len(order); n++ {
		if a, b := Rank(order[n-1]), Rank(order[n]); a <= 0 || a >= b {
			t.Errorf("%s has %d, %s has %d", order[n-1], a, order[n], b)
		}
	}
	for _, name := range []string{"", "README", "license.go", "licenses", "MYLICENSE", "LICENSE.html",
		"LICENSE.a.txt"} {
		if Rank(name) != 0 {
			t.Errorf("%q is a license", name)
		}
	}
}

// What stands in a repository is anybody's bytes.
func FuzzDetect(f *testing.F) {
	f.Add([]byte(ByKey("mit").Text()))
	f.Add([]byte("\xff(((("))
	f.Fuzz(func(t *testing.T, text []byte) {
		if key, err := Detect(text); err != nil || key != Other && ByKey(key) == nil {
			t.Fatal(key, err)
		}
	})
}
