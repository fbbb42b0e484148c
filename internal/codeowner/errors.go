package codeowner

import (
	"fmt"
	"slices"
	"strings"

	"arbor/internal/repo"
)

// Kinds of errors, as at GitHub.
const (
	invalidPattern = "Invalid pattern"
	invalidOwner   = "Invalid owner"
	unknownOwner   = "Unknown owner"
)

// Error is something wrong with a line of a file.
type Error struct {
	Line       int
	Column     int // of the first wrong byte
	Kind       string
	Source     string // the line
	Suggestion string // empty: none
	Path       string
}

// Message returns the error in words, with the line and a mark at its place, for a font of fixed width.
func (e *Error) Message() string {
	text := fmt.Sprintf("%s on line %d:", e.Kind, e.Line)
	if e.Suggestion != "" {
		text += " " + e.Suggestion
	}
	source := e.Shown()
	if source == "" || e.Column > len(source)+1 {
		return text
	}
	before := strings.Map(func(c rune) rune {
		if c == '\t' {
			return c
		}
		return ' '
	}, strings.ToValidUTF8(source[:min(e.Column-1, len(source))], " "))
	return text + "\n\n  " + source + "\n  " + before + "^"
}

// Shown returns the line, or its beginning if it is long.
func (e *Error) Shown() string {
	return strings.ToValidUTF8(e.Source[:min(len(e.Source), maxSource)], "\ufffd")
}

// owners returns the different owners that the file names, at most maxNamed.
func (f *File) owners() (list []string) {
	seen := map[string]bool{}
	for n := range f.lines {
		for _, o := range f.ownersOf(n) {
			if !seen[o] && len(seen) < maxNamed {
				seen[o] = true
				list = append(list, o)
			}
		}
	}
	return list
}

// addUnknown adds an error for each owner of owners who does not count in a repository.
func (f *File) addUnknown(known *Known, in repo.ID) {
	asked := map[string]bool{}
	for _, o := range f.owners() {
		asked[o] = true
	}
	number, next := 0, 0
	for source := range strings.SplitSeq(f.text, "\n") {
		number++
		if next == len(f.lines) || len(f.Errors) == maxErrors {
			break
		}
		if f.lines[next].number != number {
			continue
		}
		next++
		source = strings.TrimSuffix(source, "\r")
		start := len(source) - len(strings.TrimLeft(source, blanks))
		for _, o := range fields(source, start+patternLength(source[start:])) {
			if asked[o.text] && !known.Has(in, o.text) {
				f.report(Error{Line: number, Column: o.at + 1, Kind: unknownOwner, Source: source, Suggestion: remedy(o.text)})
			}
		}
	}
	slices.SortStableFunc(f.Errors, func(a, b Error) int { return a.Line - b.Line })
}

// remedy returns what to do about an owner who does not count.
func remedy(owner string) string {
	switch ownerKind(owner) {
	case group:
		return "make sure the team " + owner + " exists, is publicly visible, and has write access to the repository"
	case email:
		return "make sure " + owner + " is the verified address of a user with write access to the repository"
	}
	return "make sure " + owner + " exists and has write access to the repository"
}
