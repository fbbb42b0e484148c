package pull

import (
	"net/url"
	"strings"
)

// filter is what somebody searches a list for: words and qualifiers, as in the search for issues.
type filter struct{ words []string }

// readFilter cuts a search at its spaces, but for those within quotes.
func readFilter(text string) filter {
	var f filter
	var word strings.Builder
	quoted := false
	for _, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ' ' && !quoted:
			if word.Len() > 0 {
				f.words = append(f.words, word.String())
				word.Reset()
			}
			continue
		}
		word.WriteRune(c)
	}
	if word.Len() > 0 {
		f.words = append(f.words, word.String())
	}
	return f
}

// named reports whether a word is a qualifier with this name, and returns its value without quotes.
func named(word, name string) (value string, ok bool) {
	value, ok = strings.CutPrefix(word, name+":")
	return strings.Trim(value, `"`), ok
}

// has reports whether the search has a qualifier of this value.
func (f filter) has(name, value string) bool {
	for _, word := range f.words {
		if v, ok := named(word, name); ok && strings.EqualFold(v, value) {
			return true
		}
	}
	return false
}

// with is the search with this value of a qualifier and no other; an empty one takes it away, and so does the
// value that it has.
func (f filter) with(name, value string) string {
	kept := []string{}
	for _, word := range f.words {
		if _, ok := named(word, name); !ok {
			kept = append(kept, word)
		}
	}
	if value != "" && !f.has(name, value) {
		kept = append(kept, name+":"+quote(value))
	}
	return strings.Join(kept, " ")
}

// state is the search for pull requests that are open, closed or all.
func (f filter) state(state string) string {
	kept := []string{}
	for _, word := range f.words {
		switch strings.ToLower(word) {
		case "is:open", "is:closed", "is:merged", "state:open", "state:closed", "is:unmerged":
		default:
			kept = append(kept, word)
		}
	}
	if state != "" {
		kept = append(kept, "is:"+state)
	}
	return strings.Join(kept, " ")
}

func quote(value string) string {
	if strings.ContainsAny(value, " ,()\"") {
		return `"` + strings.ReplaceAll(value, `"`, "") + `"`
	}
	return value
}

// href is the address of a list with a search.
func href(q string) string { return "?" + url.Values{"q": {q}}.Encode() }

// option is one choice of a menu.
type option struct {
	Text  string
	Href  string
	On    bool
	Color string // of a label
}

// menu is a list of choices for one qualifier.
type menu struct {
	Title   string
	Name    string // of the qualifier
	Options []option
}

// menu returns a menu from alternating names and values.
func (f filter) menu(title, name string, pairs ...string) menu {
	m := menu{Title: title, Name: name}
	for n := 0; n+1 < len(pairs); n += 2 {
		m.Options = append(m.Options, option{Text: pairs[n], Href: href(f.with(name, pairs[n+1])),
			On: f.has(name, pairs[n+1])})
	}
	return m
}
