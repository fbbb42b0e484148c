package rule

import (
	"strings"
	"unicode/utf8"
)

// maxPattern bounds a pattern of refs, paths or repositories, in bytes.
const maxPattern = 255

// isPattern reports whether a name has characters that are special in patterns.
func isPattern(name string) bool { return strings.ContainsAny(name, `*?[\`) }

// matchName reports whether a pattern matches the whole name, as fnmatch does for paths: "*" and "?" stop at a
// slash, "**/" is any number of directories, and "**" elsewhere is anything. It takes time in proportion to the
// product of both lengths at most, whatever the pattern is.
func matchName(pattern, name string) bool {
	if !isPattern(pattern) {
		return pattern == name
	}
	tokens := parsePattern(pattern)
	at := make([]bool, len(tokens)+1) // the tokens before which a match of the name so far may stand
	at[0] = true
	skip(tokens, at, true)
	atStart := true // at the beginning of a path segment
	for len(name) > 0 {
		c, size := utf8.DecodeRuneInString(name)
		next := make([]bool, len(tokens)+1)
		some := false
		for i, t := range tokens {
			if !at[i] || !t.matches(c) {
				continue
			}
			some = true
			if t.many {
				next[i] = true
			} else {
				next[i+1] = true
			}
		}
		if !some {
			return false
		}
		atStart = c == '/'
		at, name = next, name[size:]
		skip(tokens, at, atStart)
	}
	return at[len(tokens)]
}

// skip adds the places behind tokens that may match nothing.
func skip(tokens []token, at []bool, atStart bool) {
	for i, t := range tokens {
		if at[i] && t.many && (!t.dirs || atStart) {
			at[i+1] = true
		}
	}
}

// token is a part of a pattern: one character, a class of characters, or any number of them.
type token struct {
	literal rune
	any     bool // any character but a slash
	slashes bool // with any: also a slash
	many    bool // any number of them
	dirs    bool // "**/": ends at the beginning of a path segment
	class   string
	not     bool // none of the class
}

func (t *token) matches(c rune) bool {
	switch {
	case t.any:
		return c != '/' || t.slashes
	case t.class != "":
		return c != '/' && inClass(t.class, c) != t.not
	}
	return c == t.literal
}

// parsePattern splits a pattern. A bracket that is not closed stands for itself.
func parsePattern(pattern string) []token {
	var list []token
	for len(pattern) > 0 {
		switch {
		case strings.HasPrefix(pattern, "**/"):
			list = append(list, token{any: true, slashes: true, many: true, dirs: true})
			pattern = pattern[3:]
			continue
		case strings.HasPrefix(pattern, "**"):
			list = append(list, token{any: true, slashes: true, many: true})
			pattern = strings.TrimLeft(pattern, "*")
			continue
		case pattern[0] == '*':
			list = append(list, token{any: true, many: true})
			pattern = pattern[1:]
			continue
		case pattern[0] == '?':
			list = append(list, token{any: true})
			pattern = pattern[1:]
			continue
		case pattern[0] == '[':
			if class, not, rest, ok := parseClass(pattern[1:]); ok {
				list = append(list, token{class: class, not: not})
				pattern = rest
				continue
			}
		case pattern[0] == '\\' && len(pattern) > 1:
			pattern = pattern[1:]
		}
		c, size := utf8.DecodeRuneInString(pattern)
		list = append(list, token{literal: c})
		pattern = pattern[size:]
	}
	return list
}

func parseClass(text string) (class string, not bool, rest string, ok bool) {
	if text, not = strings.CutPrefix(text, "!"); !not {
		text, not = strings.CutPrefix(text, "^")
	}
	end := strings.IndexByte(text, ']')
	if end == 0 { // a bracket that comes first is one of the characters
		if end = strings.IndexByte(text[1:], ']') + 1; end == 0 {
			return "", false, "", false
		}
	}
	if end < 0 {
		return "", false, "", false
	}
	return text[:end], not, text[end+1:], true
}

// inClass reports whether a class such as "a-z_" has a character.
func inClass(class string, c rune) bool {
	list := []rune(class)
	for i := 0; i < len(list); i++ {
		if i+2 < len(list) && list[i+1] == '-' {
			if list[i] <= c && c <= list[i+2] {
				return true
			}
			i += 2
		} else if list[i] == c {
			return true
		}
	}
	return false
}
