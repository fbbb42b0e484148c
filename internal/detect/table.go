package detect

import (
	_ "embed" // for the table
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"sync"
)

// table is what is known of languages. It comes from github.com/go-enry/go-enry, which has it
// from GitHub's linguist (`go test ./internal/detect -args -update`). That package itself takes
// 24 MB and tens of milliseconds at each start of a program.
type table struct {
	// The candidates by extension, in small letters, the likeliest first.
	Extensions   map[string][]string `json:"extensions"`
	Filenames    map[string][]string `json:"filenames"`    // candidates by the name of a file
	Interpreters map[string][]string `json:"interpreters"` // candidates by the program that runs a file
	// of each language that counts, the one under which it does
	Code map[string]string `json:"code"`
	// Patterns of paths that others wrote, that programs made, or that document.
	Foreign []string `json:"foreign"`

	foreign *regexp.Regexp
}

//go:embed languages.json
var tableText []byte

// languages reads the table when it is first needed.
var languages = sync.OnceValue(func() *table {
	t := &table{}
	if err := json.Unmarshal(tableText, t); err != nil {
		panic(err) // a test reads it
	}
	t.foreign = regexp.MustCompile("(?:" + strings.Join(t.Foreign, ")|(?:") + ")")
	return t
})

// byName gives the candidates for a file by its name; none for a name that tells nothing.
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

// byText gives the candidates for a program without an extension by its first line, which
// names what runs it.
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
