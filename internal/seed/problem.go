package seed

import (
	"fmt"
	"strconv"
	"strings"
)

// maxProblems is the maximum number of reported problems of one file.
const maxProblems = 100

// Problem is something in a seed that cannot be.
type Problem struct {
	Line int    // in the file, from 1; 0: nowhere in particular
	Key  string // such as users[2].login; empty: the whole file
	Text string // what is wrong; never the value of a token
}

// Error is all that is wrong with a seed, in the order of its lines.
type Error struct {
	File     string
	Problems []Problem // at least one
}

// Error returns a line for each problem: FILE:LINE: KEY: what is wrong.
func (e *Error) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		if p.Key != "" {
			b.WriteString(": " + p.Key)
		}
		b.WriteString(": " + p.Text)
	}
	return b.String()
}

// position is the position of a mapping in a seed. Each mapping embeds one.
type position struct {
	key   string
	line  int
	lines map[string]int // of its keys
}

func (p *position) setPosition(q position) { *p = q }

// is reports whether the seed contains the mapping.
func (p *position) is() bool { return p.line > 0 }

// problem returns a problem with the value of a key, or with the whole mapping without a key, or
// if the key was omitted.
func (p *position) problem(key, format string, args ...any) Problem {
	at := Problem{p.line, p.key, fmt.Sprintf(format, args...)}
	if line, ok := p.lines[key]; ok {
		at.Line, at.Key = line, join(p.key, key)
	}
	return at
}

func join(path, key string) string {
	if strings.ContainsAny(key, ". []") {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
