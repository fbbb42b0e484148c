package codeowner

import (
	"strings"
	"unicode/utf8"
)

// index finds the last line whose pattern matches a path, without looking at most of the others.
type index struct {
	whole  map[string]int       // by path: a file, or a directory with all that is in it
	inside map[string]int       // by path: what is in a directory
	names  map[string][2]int    // one more than the last lines, for a file or directory with a name, and inside one
	others map[string][]indexed // by the path with which a pattern begins: the other patterns, in their order
	depth  int                  // parts of the longest path of these
}

// indexed is a pattern that has to be compared.
type indexed struct {
	line int
	pattern
}

func (x *index) newIndex() {
	*x = index{whole: map[string]int{}, inside: map[string]int{}, names: map[string][2]int{},
		others: map[string][]indexed{}}
}

// add adds the pattern of a line, which is behind all others.
func (x *index) add(n int, p pattern) {
	known := 0
	for known < len(p) && literal(p[known]) {
		known++
	}
	x.depth = max(x.depth, known)
	path, rest := strings.Join(p[:known], "/"), p[known:]
	switch {
	case known > 0 && rest.is(anyParts):
		x.whole[path] = n
	case known > 0 && rest.is(onePart, anyParts):
		x.inside[path] = n
	case known == 0 && len(p) == 3 && literal(p[1]) && p.is(anyParts, p[1], anyParts):
		x.names[p[1]] = [2]int{n + 1, x.names[p[1]][1]}
	case known == 0 && len(p) == 4 && literal(p[1]) && p.is(anyParts, p[1], onePart, anyParts):
		x.names[p[1]] = [2]int{x.names[p[1]][0], n + 1}
	default:
		x.others[path] = append(x.others[path], indexed{n, rest})
	}
}

func (p pattern) is(elements ...string) bool {
	if len(p) != len(elements) {
		return false
	}
	for n := range p {
		if p[n] != elements[n] {
			return false
		}
	}
	return true
}

// find returns the last line whose pattern matches a path, or -1. It subtracts what it does from steps.
func (x *index) find(path string, steps *int) int {
	best := -1
	parts := strings.Split(path, "/")
	best = x.among(x.others[""], parts, best, steps)
	end := 0
	for n, part := range parts {
		*steps -= 1 + len(part)
		end += len(part)
		last := n == len(parts)-1
		if lines, is := x.names[part]; is {
			if best = max(best, lines[0]-1); !last {
				best = max(best, lines[1]-1)
			}
		}
		if n < x.depth {
			*steps -= end
			at := path[:end]
			if line, is := x.whole[at]; is {
				best = max(best, line)
			}
			if line, is := x.inside[at]; is && !last {
				best = max(best, line)
			}
			best = x.among(x.others[at], parts[n+1:], best, steps)
		}
		end++
	}
	return best
}

// among returns the last of some patterns that matches parts of a path, if it is behind the line best.
func (x *index) among(list []indexed, parts []string, best int, steps *int) int {
	for n := len(list) - 1; n >= 0 && list[n].line > best && *steps > 0; n-- {
		if list[n].match(parts, steps) {
			return list[n].line
		}
	}
	return best
}

// match reports whether the pattern matches all parts. Where it has anyParts, it tries the shortest first, and later
// only goes back to the last one: what came before need not be tried again.
func (p pattern) match(parts []string, steps *int) bool {
	at, in := 0, 0        // the element and the part that are compared
	again, from := -1, -1 // where to go on if they differ
	for in < len(parts) {
		*steps--
		switch {
		case at < len(p) && p[at] == anyParts:
			if at == len(p)-1 {
				return true
			}
			again, from = at+1, in
			at++
		case at < len(p) && matchPart(p[at], parts[in], steps):
			at, in = at+1, in+1
		case again >= 0 && *steps > 0:
			from++
			at, in = again, from
		default:
			return false
		}
	}
	for at < len(p) && p[at] == anyParts {
		at++
	}
	return at == len(p)
}

// matchPart reports whether an element matches a part of a path, as match does for stars.
func matchPart(element, part string, steps *int) bool {
	if *steps--; differs(element[0], part, 0) || differs(element[len(element)-1], part, len(part)-1) {
		return false // as most do
	}
	at, in := 0, 0
	again, from := -1, -1
	for in < len(part) {
		*steps--
		switch {
		case at < len(element) && element[at] == star:
			if at == len(element)-1 {
				return true
			}
			again, from = at+1, in
			at++
		case at < len(element) && element[at] == question:
			_, size := utf8.DecodeRuneInString(part[in:])
			at, in = at+1, in+size
		case at < len(element) && element[at] == part[in]:
			at, in = at+1, in+1
		case again >= 0 && *steps > 0:
			from++
			at, in = again, from
		default:
			return false
		}
	}
	for at < len(element) && element[at] == star {
		at++
	}
	return at == len(element)
}

// differs reports whether a byte of an element is another one than a byte of a part.
func differs(c byte, part string, at int) bool {
	return c != star && c != question && (part == "" || c != part[at])
}
