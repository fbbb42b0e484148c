// Package license knows licenses: which there are, what they allow, and which one a text is.
//
//	license.go   the catalog, and its JSON
//	detect.go    which files hold a license, and which license a text is
//	api.go       GET /licenses, /licenses/{license}
//
// The texts below texts are those that SPDX publishes. A text is recognized by
// github.com/google/licensecheck, as far as the catalog has the license.
package license

import (
	"embed"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/web"
)

//go:embed texts/*.txt
var texts embed.FS

// License is an entry of the catalog.
type License struct {
	SPDX, Name  string
	Featured    bool // is among the few that lists show
	Description string
	Permissions []string // by the words of GitHub's API, as are the next two
	Conditions  []string
	Limitations []string
}

// Key is the name of the license in addresses.
func (l *License) Key() string { return strings.ToLower(l.SPDX) }

// Text is the license's own text.
func (l *License) Text() string {
	b, err := texts.ReadFile("texts/" + l.Key() + ".txt")
	if err != nil {
		panic(err) // a test reads all of them
	}
	return string(b)
}

// Signed is the text with a holder of the copyright and a year, where its first lines have places for them.
// Further down such places explain how to apply a license.
func (l *License) Signed(holder string, year int) string {
	text := l.Text()
	first := min(len(text), 200)
	y := strconv.Itoa(year)
	return strings.NewReplacer("<year>", y, "[year]", y, "<copyright holders>", holder,
		"[copyright holders]", holder, "<owner>", holder).Replace(text[:first]) + text[first:]
}

// Page is the address of the license at SPDX.
func (l *License) Page() string { return "https://spdx.org/licenses/" + l.SPDX + ".html" }

// Implementation says how a license is applied.
const Implementation = "Put the text into a file named LICENSE in the root of your repository."

// Other is the key of a license that the catalog does not have.
const Other = "other"

// ByKey finds a license, without regard to case; nil if the catalog does not have it.
func ByKey(key string) *License {
	key = strings.ToLower(key)
	if at := slices.IndexFunc(catalog, func(l License) bool { return l.Key() == key }); at >= 0 {
		return &catalog[at]
	}
	return nil
}

// NameOf is the name of the license that has a key.
func NameOf(key string) string {
	if l := ByKey(key); l != nil {
		return l.Name
	}
	return "Other"
}

// Featured are the licenses that are used most.
func Featured() (list []*License) {
	for n := range catalog {
		if catalog[n].Featured {
			list = append(list, &catalog[n])
		}
	}
	return list
}

// Simple is GitHub's license-simple: how a license stands in other payloads.
type Simple struct {
	Key    string  `json:"key"`
	Name   string  `json:"name"`
	SPDX   string  `json:"spdx_id"`
	URL    *string `json:"url"`
	NodeID string  `json:"node_id"`
}

// NewSimple renders the license that has a key; nil for nil, which means no license.
func NewSimple(key *string, i *web.Info) *Simple {
	if key == nil {
		return nil
	}
	s := &Simple{Key: Other, Name: NameOf(*key), SPDX: "NOASSERTION"}
	if l := ByKey(*key); l != nil {
		url := i.API(web.Path("licenses", l.Key()))
		s.Key, s.SPDX, s.URL = l.Key(), l.SPDX, &url
	}
	s.NodeID = base64.RawURLEncoding.EncodeToString([]byte("License:" + s.Key))
	return s
}
