// Package gitignore has templates of .gitignore files, for new repositories.
//
//	gitignore.go   the templates, below templates: a file each
//	api.go         GET /gitignore/templates, /gitignore/templates/{name}
package gitignore

import (
	"embed"
	"slices"
	"strings"
)

//go:embed templates/*.gitignore
var templates embed.FS

const suffix = ".gitignore"

// Names are the names of the templates, in order, without regard to case.
func Names() []string {
	files, err := templates.ReadDir("templates")
	if err != nil {
		panic(err) // it is in the program
	}
	names := make([]string, len(files))
	for n, f := range files {
		names[n] = strings.TrimSuffix(f.Name(), suffix)
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	})
	return names
}

// Template is the text of a template. known is false if none has exactly this name, as at GitHub.
func Template(name string) (text string, known bool) {
	if !slices.Contains(Names(), name) {
		return "", false
	}
	b, err := templates.ReadFile("templates/" + name + suffix)
	return string(b), err == nil
}
