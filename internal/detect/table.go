package detect

import (
	_ "embed" // for the table
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"sync"
)

// table holds the data for detecting languages. It is taken from github.com/go-enry/go-enry, which has it
// from GitHub's linguist (`go test ./internal/detect -args -update`). Importing that package would take 24
// MB and tens of milliseconds at each start.
type table struct {
	// Candidates by lower-case extension, most likely first.
	Extensions   map[string][]string `json:"extensions"`
	Filenames    map[string][]string `json:"filenames"`    // candidates by file name
	Interpreters map[string][]string `json:"interpreters"` // candidates by interpreter
	// For each counted language, the language that it counts for.
	Code map[string]string `json:"code"`
	// Colors of the languages that code counts for, as #rrggbb.
	Colors map[string]string `json:"colors"`
	// Patterns of paths that are vendored, generated or documentation.
	Foreign []string `json:"foreign"`

	foreign *regexp.Regexp
}

//go:embed languages.json
var tableText []byte

// languages parses the table on first use.
var languages = sync.OnceValue(func() *table {
	t := &table{}
	if err := json.Unmarshal(tableText, t); err != nil {
		panic(err) // covered by a test
	}
	t.foreign = regexp.MustCompile("(?:" + strings.Join(t.Foreign, ")|(?:") + ")")
	return t
})

// byName returns the candidates for a file name, possibly none.
func (t *table) byName(file string) []string {
	base := path.Base(file)
	if found := t.Filenames[base]; found != nil {
		return found
	}
	for at := range len(base) {
		if base[at] != '.' {
			continue
		}
		if found := t.Extensions[strings.ToLower(base[at:])]; found != nil {
			return found
		}
	}
	return nil
}

// byText returns the candidates for a program without an extension by the interpreter in its first line.
func (t *table) byText(text []byte) []string {
	line, _, _ := strings.Cut(string(text[:min(len(text), maxLine)]), "\n")
	command, found := strings.CutPrefix(line, "#!")
	if !found {
		return nil
	}
	words := strings.Fields(command)
	for len(words) > 0 {
		name := path.Base(words[0])
		words = words[1:]
		if name == "env" || strings.HasPrefix(name, "-") || strings.Contains(name, "=") {
			continue
		}
		if found := t.Interpreters[name]; found != nil {
			return found
		}
		return t.Interpreters[strings.TrimRight(name, "0123456789.")]
	}
	return nil
}
