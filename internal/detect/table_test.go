package detect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arbor/internal/test/testkit"

	"github.com/go-enry/go-enry/v2"
	"github.com/go-enry/go-enry/v2/data"
)

var update = flag.Bool("update", false, "write languages.json anew")

// theirs is the table as go-enry has it.
func theirs() *table {
	t := &table{Extensions: likely(data.LanguagesByExtension), Filenames: likely(data.LanguagesByFilename),
		Interpreters: likely(data.LanguagesByInterpreter), Code: map[string]string{},
		Colors: map[string]string{}}
	for name := range data.LanguagesType {
		if kind := enry.GetLanguageType(name); kind == enry.Programming || kind == enry.Markup {
			counted := cmp.Or(enry.GetLanguageGroup(name), name)
			t.Code[name] = counted
			if color, known := data.LanguagesColor[counted]; known {
				t.Colors[counted] = color
			}
		}
	}
	for _, list := range [][]*regexp.Regexp{data.VendorMatchers, data.DocumentationMatchers} {
		for _, pattern := range list {
			t.Foreign = append(t.Foreign, pattern.String())
		}
	}
	for _, ext := range slices.Sorted(maps.Keys(data.GeneratedCodeExtensions)) {
		t.Foreign = append(t.Foreign, regexp.QuoteMeta(ext)+"$")
	}
	return t
}

// likely orders candidates by how much is written in them, most first.
func likely(lists map[string][]string) map[string][]string {
	ordered := map[string][]string{}
	for key, list := range lists {
		ordered[key] = slices.SortedStableFunc(slices.Values(list), func(a, b string) int {
			return cmp.Compare(likelihood(b), likelihood(a))
		})
	}
	return ordered
}

// common are the languages in which most code is written that shares its extension with another
// one's, most first. go-enry knows only of how many examples it learned.
var common = []string{"Python", "JavaScript", "TypeScript", "Java", "C#", "C", "C++", "PHP", "Go", "Rust",
	"Ruby", "Swift", "Kotlin", "Shell", "Objective-C", "Scala", "R", "Perl", "Lua", "Haskell", "F#", "Elixir",
	"Clojure", "Julia", "MATLAB", "Verilog", "GDScript",
	"Solidity", "HTML", "CSS", "Assembly", "Pascal", "Fortran", "OCaml", "Erlang", "Common Lisp",
	"Emacs Lisp", "Prolog", "TeX",
	"Visual Basic .NET", "Apex", "GLSL", "D", "Groovy", "ReScript", "Markdown", "JSON", "YAML", "SQL"}

func likelihood(language string) float64 {
	if at := slices.Index(common, language); at >= 0 {
		return float64(-at) // others are below
	}
	if p, known := data.LanguagesLogProbabilities[language]; known {
		return p - float64(len(common))
	}
	return math.Inf(-1)
}

// The table is go-enry's, so it follows when that is brought up to date.
func TestTableIsGoEnrys(t *testing.T) {
	t.Parallel()
	want, err := json.MarshalIndent(theirs(), "", " ")
	testkit.NoError(t, err)
	want = append(want, '\n')
	if *update {
		//nolint:gosec // everybody may read it
		testkit.NoError(t, os.WriteFile("languages.json", want, 0o644))
		return
	}
	if !bytes.Equal(want, tableText) {
		t.Error("languages.json is not what go-enry says: go test ./internal/detect -args -update")
	}
}

// What a file's name tells is what it tells go-enry.
func TestNamesTellWhatTheyTellGoEnry(t *testing.T) {
	t.Parallel()
	names := []string{"a", ".", "..", "A.GO", "x.blade.php", "Makefile", "sub/Dockerfile", ".bashrc", "a.b.c",
		"x.d.ts", "README", "a.", "é.rs"}
	for ext := range data.LanguagesByExtension {
		names = append(names, "x"+ext, strings.ToUpper("x"+ext))
	}
	for _, name := range names {
		want := enry.GetLanguagesByFilename(name, nil, nil)
		if len(want) == 0 {
			want = enry.GetLanguagesByExtension(name, nil, nil)
		}
		slices.Sort(want)
		if got := slices.Sorted(slices.Values(languages().byName(name))); !slices.Equal(got, want) {
			t.Errorf("%s: %q, go-enry says %q", name, got, want)
		}
	}
}

// What is not a repository's own is what go-enry says, for paths as they are.
func TestForeignIsWhatGoEnrySays(t *testing.T) {
	t.Parallel()
	c := &counter{table: languages(), dirs: map[string]bool{}}
	for _, file := range []string{"main.go", "vendor/a.go", "x/vendor/b/c/d.go", "node_modules/x/y.js",
		"docs/a.go", "a/b/docs/c.go", "jquery.js", "x/y/jquery-1.2.3.js", "x/y/z/main.go", "rebar", "x/rebar",
		"x/y/rebar", "a/third_party/b.c", "a.min.js", "x/a.d.ts",
		"deps/a.c", "x/deps/a.c", "dependencies/a.c", "x/y/dependencies/a.c", "inst/extdata/a.R",
		"x/inst/extdata/a.R", "vignettes/a.R",
		"examples/a.go", "x/README.c", "extjs/a.js", "select2/a.js", "configure", "x/gradlew", "cache/a.go",
		"a/b/c/d/e/f.go"} {
		if got, want := c.isForeign(file), enry.IsVendor(file) || enry.IsDocumentation(file); got != want {
			t.Errorf("%s: %v, go-enry says %v", file, got, want)
		}
	}
}

func TestFirstLinesTellWhatRunsAFile(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"#!/bin/sh\necho": "Shell", "#! /usr/bin/env python3": "Python", "#!/usr/bin/python2.7 -u": "Python",
		"#!/usr/bin/env -S A=1 node --x\n": "JavaScript", "#!": "", "# /bin/sh": "", "": "",
		"#!/usr/bin/env": "", "#!/bin/nothing": "",
	} {
		if got := languages().byText([]byte(line)); (len(got) == 0) != (want == "") ||
			want != "" && got[0] != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func FuzzByText(f *testing.F) {
	f.Add([]byte("#!/usr/bin/env -S A=1 node"))
	f.Fuzz(func(_ *testing.T, text []byte) { languages().byText(text) })
}
