package listing

import (
	"net/url"
	"slices"
	"strings"

	"arbor/internal/page"
)

// maxQuery is how long a search may be, in bytes.
const maxQuery = 1000

// Query is what stands in a search box, term by term: words, and qualifiers such as label:"good first issue".
// What package search makes of it is decided there; here terms are only kept apart.
type Query []string

// Parse takes a text apart. Quotes keep spaces together.
func Parse(text string) (q Query) {
	begin, quoted := -1, false
	for n := 0; n <= len(text); n++ {
		if n == len(text) || !quoted && strings.IndexByte(" \t\r\n", text[n]) >= 0 {
			if begin >= 0 {
				q = append(q, text[begin:n])
			}
			begin = -1
			continue
		}
		if begin < 0 {
			begin = n
		}
		switch text[n] {
		case '"':
			quoted = !quoted
		case '\\':
			if quoted && n+1 < len(text) {
				n++
			}
		}
	}
	return q
}

// String puts it together.
func (q Query) String() string { return strings.Join(q, " ") }

// cut parts a term into a qualifier's name, in small letters, and its value; a word has no name.
func cut(term string) (name, value string) {
	name, value, found := strings.Cut(term, ":")
	if !found || strings.ContainsAny(name, `"(`) {
		return "", term
	}
	return strings.ToLower(name), value
}

// Value is the value of the first qualifier of that name, without quotes.
func (q Query) Value(name string) string {
	for _, term := range q {
		if n, value := cut(term); n == name {
			return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `"`, "").Replace(value)
		}
	}
	return ""
}

// Has reports a qualifier with that value.
func (q Query) Has(name, value string) bool {
	want := strings.ToLower(page.Term(name, value))
	plain := strings.ToLower(name + `:"` + value + `"`)
	return slices.ContainsFunc(q, func(t string) bool {
		t = strings.ToLower(t)
		return t == want || t == plain
	})
}

// Without leaves out the qualifiers of those names, and their opposites.
func (q Query) Without(names ...string) Query {
	return slices.DeleteFunc(slices.Clone(q), func(t string) bool {
		name, value := cut(t)
		return slices.Contains(names, strings.TrimPrefix(name, "-")) ||
			strings.TrimPrefix(name, "-") == "no" && slices.Contains(names, strings.ToLower(value))
	})
}

// With returns the query with one qualifier of the name in place of others; an empty value removes it.
func (q Query) With(name, value string) Query {
	q = q.Without(name)
	if value == "" {
		return q
	}
	return append(q, page.Term(name, value))
}

// WithNo asks for what has none of the name.
func (q Query) WithNo(name string) Query { return append(q.Without(name), "no:"+name) }

// Toggled returns the query with the qualifier added, next to others of its name, or removed if q has it.
func (q Query) Toggled(name, value string) Query {
	if !q.Has(name, value) {
		return append(slices.Clone(q), page.Term(name, value))
	}
	return slices.DeleteFunc(slices.Clone(q), func(t string) bool { return Query{t}.Has(name, value) })
}

// isState reports a term that says open, closed or merged.
func isState(term string) bool {
	name, value := cut(term)
	switch value = strings.ToLower(strings.Trim(value, `"`)); strings.TrimPrefix(name, "-") {
	case "state":
		return true
	case "is":
		return value == "open" || value == "closed" || value == "merged" || value == "unmerged"
	}
	return false
}

// State is open or closed where the query says so; merged is closed.
func (q Query) State() string {
	for _, t := range q {
		if isState(t) && t[0] != '-' {
			_, value := cut(t)
			if value = strings.ToLower(strings.Trim(value, `"`)); value == "merged" {
				return ""
			} else if value != "unmerged" {
				return value
			}
		}
	}
	return ""
}

// WithState asks for one state; an empty one for all.
func (q Query) WithState(state string) Query {
	others := slices.DeleteFunc(slices.Clone(q), isState)
	if state == "" {
		return others
	}
	return append(Query{"is:" + state}, others...)
}

// isLarge reports a query that has to be put in parentheses before more is asked: one with alternatives, or
// one that names repositories itself.
func (q Query) isLarge() bool {
	return slices.ContainsFunc(q, func(t string) bool {
		name, _ := cut(t)
		return t == "OR" || strings.HasPrefix(t, "(") || name == "repo" || name == "user" || name == "org"
	})
}

func escape(text string) string { return url.QueryEscape(text) }
