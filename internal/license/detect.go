package license

import (
	"strings"
	"sync"

	"github.com/google/licensecheck"
)

// MaxFile is how many bytes of a file are read to recognize its license.
const MaxFile = 128 << 10

// enough is how much of a text, in percent of its words, must be a license's.
const enough = 75

// scanner recognizes the licenses of the catalog, and nothing else. It takes a second of
// processor time to make, so it is made when the first text is read.
var scanner = sync.OnceValues(func() (*licensecheck.Scanner, error) {
	var list []licensecheck.License
	for _, l := range licensecheck.BuiltinLicenses() {
		if l.LRE != "" && ByKey(known(l.ID)) != nil {
			list = append(list, l)
		}
	}
	return licensecheck.NewScanner(list)
})

// known is the SPDX id under which the catalog lists a license for which SPDX distinguishes whether
// later versions may be chosen.
func known(id string) string {
	return strings.TrimSuffix(strings.TrimSuffix(id, "-only"), "-or-later")
}

// Detect returns the key of the license in a file's text: Other for a license outside the
// catalog, or for several.
func Detect(text []byte) (string, error) {
	s, err := scanner()
	if err != nil {
		return "", err
	}
	found := s.Scan(text[:min(len(text), MaxFile)])
	if found.Percent < enough {
		return Other, nil
	}
	key := ""
	for _, m := range found.Match {
		l := ByKey(known(m.ID))
		if l == nil || key != "" && key != l.Key() {
			return Other, nil
		}
		key = l.Key()
	}
	return key, nil
}

// Rank orders the names of files in the root of a repository by how well they serve as its
// license, 1 being best; 0 is none.
func Rank(name string) int {
	name = strings.ToLower(name)
	stem, end, dotted := strings.Cut(name, ".")
	textual := !dotted || end == "md" || end == "markdown" || end == "txt" || end == "rst"
	switch {
	case !textual:
		return 0
	case stem == "license" || stem == "licence":
		return 1 + rankOfEnd(end)
	case stem == "unlicense" || stem == "unlicence" || stem == "copying":
		return 4 + rankOfEnd(end)
	case strings.HasPrefix(stem, "license-") || strings.HasPrefix(stem, "licence-"):
		return 7 + rankOfEnd(end)
	default:
		return 0
	}
}

// rankOfEnd prefers plain names to those that say how the text is written.
func rankOfEnd(end string) int {
	switch end {
	case "":
		return 0
	case "txt":
		return 1
	default:
		return 2
	}
}
