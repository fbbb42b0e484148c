package repo

import (
	"embed"
	"slices"
	"strings"
)

//go:embed gitignore/*.gitignore
var gitignores embed.FS

const gitignoreSuffix = ".gitignore"

// Gitignores lists the names of the templates of .gitignore files, in order, without regard to case.
func Gitignores() []string {
	files, err := gitignores.ReadDir("gitignore")
	if err != nil {
		panic(err) // it is in the program
	}
	names := make([]string, len(files))
	for n, f := range files {
		names[n] = strings.TrimSuffix(f.Name(), gitignoreSuffix)
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	})
	return names
}

// Gitignore returns the text of a template of a .gitignore file. known is false if none has exactly this name,
// as at GitHub.
func Gitignore(name string) (text string, known bool) {
	if !slices.Contains(Gitignores(), name) {
		return "", false
	}
	b, err := gitignores.ReadFile("gitignore/" + name + gitignoreSuffix)
	return string(b), err == nil
}
