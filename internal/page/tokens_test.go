package page

import (
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"arbor/internal/test/testkit"
)

// tokensFile has the colours, sizes, weights, radii and spaces that all other style sheets use.
const tokensFile = "assets/00-tokens.css"

var (
	cssComment     = regexp.MustCompile(`(?s)/\*.*?\*/`)
	cssDeclaration = regexp.MustCompile(`([a-z-]+)\s*:\s*([^;{}]+?)\s*(?:[;}]|$)`)
	cssBody        = regexp.MustCompile(`\{([^{}]*)\}`)
	cssVariable    = regexp.MustCompile(`var\(--[a-z0-9-]+\)`)

	literalColor = regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|\b(?:rgba?|hsla?|oklch|white|black|red|green|blue|gr[ae]y)\b`)
	literalSize  = regexp.MustCompile(`(?:^|[^-\w.])\d*\.?\d+(?:rem|px|pt)\b`)
	weights      = []string{"", "inherit"}
	radius       = regexp.MustCompile(`^(?:0|50%|inherit|\s)*$`)
	spaces       = regexp.MustCompile(`^(?:padding|margin|gap|row-gap|column-gap)(?:-[a-z]+)?$`)
)

// literals lists the declarations of a style sheet whose value should be a token. Sizes in em follow the text that
// they belong to, and negative margins are offsets: these may be written as they are.
func literals(css string) (list []string) {
	for _, body := range cssBody.FindAllStringSubmatch(cssComment.ReplaceAllString(css, ""), -1) {
		for _, d := range cssDeclaration.FindAllStringSubmatch(body[1], -1) {
			name := d[1]
			value := strings.TrimSpace(strings.TrimSuffix(cssVariable.ReplaceAllString(d[2], ""), "!important"))
			value = strings.ReplaceAll(value, " - ", " -") // what is taken off is an offset, too
			bad := literalColor.MatchString(value)
			switch {
			case name == "font-size" || name == "font" || spaces.MatchString(name):
				bad = bad || literalSize.MatchString(value)
			case name == "font-weight":
				bad = bad || !slices.Contains(weights, value)
			case strings.HasPrefix(name, "border-") && strings.HasSuffix(name, "radius"):
				bad = bad || !radius.MatchString(value)
			case name == "box-shadow":
				bad = bad || value != "" && value != "none" && !strings.HasPrefix(value, "inset")
			}
			if bad {
				list = append(list, d[0])
			}
		}
	}
	return list
}

// Pages have few colours, sizes, weights, radii and spaces. If this failed, two parts that should look alike would
// differ by a pixel, or would have no colour of their own in the dark.
func TestStylesUseTokens(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(assetFiles, "assets/*.css")
	testkit.NoError(t, err)
	all, defined := "", map[string]bool{}
	for _, name := range names {
		data, err := assetFiles.ReadFile(name)
		testkit.NoError(t, err)
		text := cssComment.ReplaceAllString(string(data), "")
		all += text
		for _, m := range regexp.MustCompile(`(--[a-z0-9-]+)\s*:`).FindAllStringSubmatch(text, -1) {
			defined[m[1]] = true
		}
		if name == tokensFile {
			continue
		}
		for _, d := range literals(text) {
			t.Errorf("%s: use a token of %s: %s", name, tokensFile, d)
		}
	}
	if len(names) < 10 {
		t.Fatalf("%d files", len(names))
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`var\((--[a-z0-9-]+)`).FindAllStringSubmatch(all, -1) {
		used[m[1]] = true
	}
	if got, want := slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(defined)); !slices.Equal(got, want) {
		t.Errorf("style sheets use\n%q and define\n%q", got, want)
	}
}

// literals finds each kind, and lets pass what is no literal.
func TestLiterals(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"color: #fff", "color: red", "background: rgb(1 2 3)", "border: 1px solid #123456",
		"font-size: .9rem", "font: 15px/1.5 var(--sans)", "font-weight: 550", "border-radius: 3px", "padding: 0 .9rem",
		"margin: 1rem auto !important", "gap: var(--s2) 7px", "box-shadow: 0 0 1px var(--line)"} {
		if got := literals("#a .b:hover { display: block; " + bad + " }"); len(got) != 1 {
			t.Errorf("%s: %q", bad, got)
		}
	}
	fine := `@media (max-width: 48rem) { #abc:hover { color: var(--ink); font: var(--t1)/1.5 var(--mono); font-size: .87em;
		font-weight: var(--bold); border-radius: 0 0 var(--round) 50%; padding: .1em var(--s2); margin: calc(-1 * var(--s2)) -3px;
		margin-left: 0 !important; box-shadow: inset .2rem 0 var(--focus); width: 3rem; white-space: nowrap } }`
	if got := literals(fine); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
