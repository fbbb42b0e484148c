package search

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
)

// bare reads a word up to a space, or to a parenthesis that closes none of its own.
func (p *parser) bare() string {
	open, end := 0, 0
	for end < len(p.rest) {
		switch p.rest[end] {
		case '(':
			open++
		case ')':
			open--
		}
		r, size := utf8.DecodeRuneInString(p.rest[end:])
		if open < 0 || strings.ContainsRune(spaces, r) {
			break
		}
		end += size
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word
}

// word notes a word; false for an empty one.
func (p *parser) word(word string, not bool) bool {
	if word == "" {
		return false
	}
	p.length += utf8.RuneCountInString(word) + min(1, p.length)
	p.used = true
	if not {
		p.q.NotWords = append(p.q.NotWords, word)
	} else {
		p.q.Words = append(p.q.Words, word)
	}
	if p.words++; p.words > maxWords && p.length <= maxText {
		p.fail("The search has more than %d words.", maxWords)
	}
	return true
}

// name parses the name of a qualifier and its colon, and returns it in lower case. It returns false and
// consumes nothing if no qualifier follows. A name that is in none of the lists is an error, because a
// misspelled qualifier would give wrong results (decision 68). A word whose colon is followed by another
// one or by a slash (std::vector, http://x.org) is text.
func (p *parser) name(lists ...[]string) (string, bool) {
	end := strings.IndexFunc(p.rest, func(r rune) bool { return r != '-' && (r|0x20 < 'a' || r|0x20 > 'z') })
	if end <= 0 || p.rest[end] != ':' {
		return "", false
	}
	name := strings.ToLower(p.rest[:end])
	switch value := p.rest[end+1:]; {
	case slices.Contains(slices.Concat(lists...), name):
		p.rest = value
		return name, true
	case strings.TrimLeft(value, spaces) == value && strings.IndexAny(value, `:=/\)`) != 0 && value != "":
		p.fail("Unknown qualifier %q: quote the word if it is meant as text.", errs.Clip(name))
	}
	return "", false
}

// ours are the qualifiers that Arbor knows.
func ours() []string {
	return []string{"in", "repo", "user", "org", "is", "type", "state", "draft", "archived",
		"author", "assignee", "mentions", "commenter", "involves", "milestone", "label", "no", "created",
		"updated", "closed", "merged",
		"comments", "sort", "head", "base", "review", "reviewed-by", "review-requested",
		"user-review-requested", "team", "team-review-requested", "status", "reason", "linked"}
}

// theirs are GitHub's qualifiers for what Arbor does not have.
func theirs() []string {
	return []string{"project", "language", "sha", "app", "reactions", "interactions", "has",
		"parent-issue", "sub-issue", "topic", "blocked-by",
		"blocking", "is-blocked"}
}

// quoted parses a quoted string; without a second quote, the rest.
func (p *parser) quoted() string {
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			p.rest = p.rest[i+1:]
			return b.String()
		case c == '\\' && i+1 < len(p.rest) && (p.rest[i+1] == '"' || p.rest[i+1] == '\\'):
			i++
			b.WriteByte(p.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	p.rest = ""
	return b.String()
}

// list reads the values after a colon, separated by commas outside quotes.
func (p *parser) list() (list []string) {
	var value strings.Builder
	open := 0 // parentheses of the value
	for p.rest != "" {
		c := p.rest[0]
		switch at := strings.IndexAny(p.rest, `",()`+spaces); {
		case at < 0:
			value.WriteString(p.rest)
			p.rest = ""
		case at > 0:
			value.WriteString(p.rest[:at])
			p.rest = p.rest[at:]
		case c == '"':
			value.WriteString(p.quoted())
		case c == ',':
			list = append(list, value.String())
			value.Reset()
			p.rest = p.rest[1:]
		case c == '(' || c == ')' && open > 0:
			open += map[byte]int{'(': 1, ')': -1}[c]
			value.WriteByte(c)
			p.rest = p.rest[1:]
		default:
			return append(list, value.String())
		}
	}
	return append(list, value.String())
}

// An unescaped plus in an address is a space. clock matches the part of a time before such a space, offset
// the space and the part after it.
var (
	clock  = regexp.MustCompile(`T\d\d:\d\d(:\d\d(\.\d+)?)?$`)
	offset = regexp.MustCompile(`^ \d\d:\d\d(\.\.|[` + spaces + `)]|$)`)
)

// times is list for times.
func (p *parser) times() []string {
	list := p.list()
	for last := len(list) - 1; clock.MatchString(list[last]) &&
		offset.MatchString(p.rest); last = len(list) - 1 {
		zone := "+" + p.rest[1:6]
		p.rest = p.rest[6:]
		more := p.list()
		list[last] += zone + more[0]
		list = append(list, more[1:]...)
	}
	return list
}
