package codeowner

import (
	"errors"
	"regexp"
	"strings"
)

// parse reads the lines. One with an error is skipped, as at GitHub.
func (f *File) parse(text string) {
	f.text = text
	f.newIndex()
	number := 0
	for source := range strings.SplitSeq(text, "\n") {
		number++
		source = strings.TrimSuffix(source, "\r")
		if !f.parseLine(number, source) {
			f.ignore("it has more than 100,000 lines")
			return
		}
	}
}

// parseLine reads a line. It reports whether there is room for it.
func (f *File) parseLine(number int, source string) bool {
	start := len(source) - len(strings.TrimLeft(source, blanks))
	if start == len(source) || source[start] == '#' {
		return true
	}
	end := start + patternLength(source[start:])
	p, err := parsePattern(source[start:end])
	if err != nil {
		f.report(Error{Line: number, Column: start + 1, Kind: invalidPattern, Source: source, Suggestion: err.Error()})
		return true
	}
	owners := fields(source, end)
	for n, o := range owners {
		if ownerKind(o.text) == 0 || n == maxOwners {
			f.report(Error{Line: number, Column: o.at + 1, Kind: invalidOwner, Source: source})
			return true
		}
	}
	if len(f.lines) == maxLines {
		return false
	}
	names := ""
	if len(owners) > 0 {
		last := owners[len(owners)-1]
		names = source[owners[0].at : last.at+len(last.text)]
	}
	f.add(len(f.lines), p)
	f.lines = append(f.lines, line{number, names})
	return true
}

// report adds an error.
func (f *File) report(e Error) {
	if len(f.Errors) < maxErrors {
		e.Path = f.Path
		f.Errors = append(f.Errors, e)
	}
}

const blanks = " \t"

// patternLength returns where the pattern ends with which a text begins: at a space without a backslash.
func patternLength(s string) int {
	for n := 0; n < len(s); n++ {
		switch s[n] {
		case '\\':
			n++
		case ' ', '\t':
			return n
		}
	}
	return len(s)
}

// field is a word of a line.
type field struct {
	at   int
	text string
}

// fields returns the words from a place on, without a comment.
func fields(source string, from int) (list []field) {
	for at := from; at < len(source); {
		if strings.IndexByte(blanks, source[at]) >= 0 {
			at++
			continue
		}
		if source[at] == '#' {
			return list
		}
		end := at + 1
		for end < len(source) && strings.IndexByte(blanks, source[end]) < 0 {
			end++
		}
		list = append(list, field{at, source[at:end]})
		if len(list) > maxOwners {
			return list
		}
		at = end
	}
	return list
}

// Kinds of owners.
const (
	user = iota + 1
	group
	email
)

// ownerKind returns the kind of an owner, or 0 for what is none.
func ownerKind(s string) int {
	name, mark := strings.CutPrefix(s, "@")
	before, after, two := strings.Cut(name, "/")
	switch {
	case len(s) > 320:
	case mark && !two && isName(name):
		return user
	case mark && isName(before) && isName(after):
		return group
	case !mark:
		before, after, _ = strings.Cut(s, "@")
		if dot := strings.IndexByte(after, '.'); before != "" && dot > 0 && dot < len(after)-1 && !strings.Contains(after, "@") {
			return email
		}
	}
	return 0
}

func isName(s string) bool {
	for n := range len(s) {
		c := s[n]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return s != ""
}

// Elements of a pattern: one for each part of a path. In those with wildcards two bytes that no name of a file has
// stand for * and ?.
const (
	star     = '\x00'
	question = '/'
	onePart  = "\x00"
	anyParts = "\x00\x00" // of a path, also none
)

// pattern is what a path is compared with, part by part.
type pattern []string

// parsePattern reads a pattern of gitignore, without its ! and [ ].
func parsePattern(s string) (pattern, error) {
	switch {
	case len(s) > maxPattern:
		return nil, errors.New("patterns may have at most 1,024 bytes")
	case strings.IndexByte(s, 0) >= 0:
		return nil, errors.New("patterns cannot contain NUL")
	case s[0] == '!':
		return nil, errors.New("patterns cannot be negated with `!`")
	case strings.HasPrefix(s, `\#`):
		return nil, errors.New("patterns cannot begin with `#`")
	case strings.ContainsAny(s, "[]"):
		return nil, errors.New("patterns cannot have ranges of characters in `[ ]`")
	case strings.Contains(s, "***"):
		return nil, errors.New("Did you mean `" + manyStars.ReplaceAllString(s, "**") + "`?")
	case strings.Trim(s, "/") == "":
		return nil, errors.New("The pattern `" + s + "` will never match anything, did you mean `*` instead?")
	}
	parts := strings.Split(s, "/")
	anchored := len(parts) > 2 || len(parts) == 2 && parts[1] != ""
	if parts[0] == "" {
		parts, anchored = parts[1:], true
	}
	var p pattern
	if !anchored {
		p = append(p, anyParts)
	}
	for n, part := range parts {
		last := n == len(parts)-1
		switch {
		case part == "" && last: // what is in a directory
			return append(p, onePart, anyParts), nil
		case part == "":
			return nil, errors.New("patterns cannot have `//`")
		case part == "**" && last && len(p) > 0:
			return append(p, onePart, anyParts), nil
		case part == "**":
			if len(p) == 0 || p[len(p)-1] != anyParts {
				p = append(p, anyParts)
			}
		case part == "*":
			p = append(p, onePart)
		default:
			element, err := parsePart(part)
			if err != nil {
				return nil, err
			}
			if p = append(p, element); last { // a directory with all that is in it, or a file
				p = append(p, anyParts)
			}
		}
	}
	return p, nil
}

var manyStars = regexp.MustCompile(`\*{3,}`)

// parsePart reads one part of a pattern.
func parsePart(s string) (string, error) {
	out := make([]byte, 0, len(s))
	for n := 0; n < len(s); n++ {
		switch c := s[n]; c {
		case '*':
			if len(out) == 0 || out[len(out)-1] != star {
				out = append(out, star)
			}
		case '?':
			out = append(out, question)
		case '\\':
			if n++; n == len(s) {
				return "", errors.New("patterns cannot end with `\\`")
			}
			out = append(out, s[n])
		default:
			out = append(out, c)
		}
	}
	return string(out), nil
}

// literal reports whether an element is a name.
func literal(element string) bool {
	return !strings.ContainsAny(element, string([]byte{star, question}))
}

// ownersOf returns the names of a line's owners.
func (f *File) ownersOf(n int) []string {
	return strings.Fields(f.lines[n].owners)
}
