package search

import (
	"slices"
	"unicode"
)

// TextMatch is GitHub's search-result-text-match: a part of a text in which something matches.
type TextMatch struct {
	ObjectURL  string  `json:"object_url"`
	ObjectType *string `json:"object_type"`
	Property   string  `json:"property"`
	Fragment   string  `json:"fragment"`
	Matches    []Match `json:"matches"`

	Line int `json:"-"` // of the text in which the fragment begins, from 1
}

// Match is a place in a fragment, in characters.
type Match struct {
	Text    string `json:"text"`
	Indices [2]int `json:"indices"`
}

// Limits of the shown text.
const (
	maxFragments = 3
	maxMatches   = 20  // of a fragment
	aroundMatch  = 100 // characters before and behind the first match
)

// Fragments returns the parts of a text that contain words, ignoring case: none when no
// word occurs. With lines set they begin and end with lines, where these are short.
func Fragments(text string, words []string, lines bool) (list []TextMatch) {
	runes := []rune(text)
	folded := foldRunes(runes)
	var looked [][]rune
	for _, w := range words {
		if w != "" {
			looked = append(looked, foldRunes([]rune(w)))
		}
	}
	line, counted := 1, 0 // of the text at counted
	for from := 0; len(list) < maxFragments; {
		at, _ := firstOf(folded[from:], looked)
		if at < 0 {
			return list
		}
		at += from
		begin, end := max(at-aroundMatch, from), min(at+2*aroundMatch, len(runes))
		if lines {
			begin, end = toLines(runes, at, begin, end)
		}
		for ; counted < begin; counted++ {
			if runes[counted] == '\n' {
				line++
			}
		}
		list = append(list, TextMatch{Line: line, Fragment: string(runes[begin:end]),
			Matches: matchesIn(runes[begin:end], folded[begin:end], looked)})
		from = end
	}
	return list
}

// toLines moves the ends of a part around a place to the beginning and the end of lines.
func toLines(runes []rune, at, begin, end int) (int, int) {
	for i := begin; begin > 0 && i < at; i++ {
		if runes[i] == '\n' {
			begin = i + 1
			break
		}
	}
	for i := end - 1; i > at+aroundMatch/2; i-- {
		if runes[i] == '\n' {
			return begin, i
		}
	}
	return begin, end
}

func foldRunes(text []rune) []rune {
	folded := make([]rune, len(text))
	for i, r := range text {
		folded[i] = unicode.ToLower(r)
	}
	return folded
}

// firstOf returns the first position of one of the words, or -1.
func firstOf(text []rune, words [][]rune) (at, length int) {
	for i, r := range text {
		for _, w := range words {
			if r == w[0] && len(text)-i >= len(w) && slices.Equal(text[i:i+len(w)], w) {
				return i, len(w)
			}
		}
	}
	return -1, 0
}

func matchesIn(text, folded []rune, words [][]rune) []Match {
	list := []Match{}
	for from := 0; len(list) < maxMatches; {
		at, length := firstOf(folded[from:], words)
		if at < 0 {
			break
		}
		at += from
		from = at + length
		list = append(list, Match{string(text[at:from]), [2]int{at, from}})
	}
	return list
}

// MatchesOf returns the fragments of several texts of one resource.
func MatchesOf(url, kind string, words []string, texts ...[2]string) []TextMatch {
	list := []TextMatch{}
	for _, of := range texts {
		for _, m := range Fragments(of[1], words, false) {
			m.ObjectURL, m.ObjectType, m.Property = url, &kind, of[0]
			list = append(list, m)
		}
	}
	return list
}
