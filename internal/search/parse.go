package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
)

// Limits of a query: what is more is a 422.
const (
	maxText       = 256 // code points of words, as at GitHub
	maxWords      = 32
	maxQualifiers = 100 // labels of one count one by one; what is said twice may count once
)

// spaces part what a query is made of.
const spaces = " \t\r\n\u00a0\u3000"

// resource is the name of searches in validation errors (decision 15).
const resource = "Search"

// Parse reads GitHub's language of issue searches:
//
//	crash "stack trace" -windows   words, phrases, and what must not be there
//	in:title,body                  where they are looked for; else in comments, too
//	repo:o/n user:x org:x          one of these repositories; negated: none of them
//	is:issue is:pr type:issue type:pr
//	is:open is:closed state:open is:merged is:unmerged is:draft draft:true
//	is:locked is:unlocked is:public is:private archived:true archived:false
//	author:x milestone:"x y"       repeated: one of them
//	assignee:x mentions:x commenter:x involves:x label:x   repeated: all of them
//	label:a,"b c"                  one of the two
//	no:label no:assignee no:milestone assignee:* milestone:* label:*
//	created:>=2020-01-01 updated:2020-01-01..* closed: merged: comments:>5
//	sort:updated-asc
//
// A minus negates, and so does NOT before a word. AND is what joins everything,
// and may be written; OR may not. A word with a colon that is no qualifier of
// GitHub's is a word; a qualifier of GitHub's for what Arbor does not have, and
// a value that a qualifier cannot have, is an error, so that nobody takes an
// answer for more than it is. Letters of qualifiers may be of either case.
// Errors: 422.
func Parse(q string) (*Query, error) {
	if !utf8.ValidString(q) || strings.Contains(q, "\x00") {
		return nil, invalid("The search must be UTF-8 without NUL.")
	}
	p := &parser{rest: q, q: &Query{}}
	for p.next() {
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case !p.used:
		return nil, errs.Validation(errs.Field{Resource: resource, Field: "q", Code: errs.Missing})
	case p.text > maxText:
		return nil, invalid("The search is longer than 256 characters.")
	}
	return p.q, nil
}

func invalid(format string, args ...any) error {
	return errs.Validation(errs.Field{Resource: resource, Field: "q", Code: errs.InvalidField, Message: fmt.Sprintf(format, args...)})
}

// parser reads a query from left to right, each byte a fixed number of times.
type parser struct {
	rest   string
	q      *Query
	used   bool // there was a word or a qualifier
	text   int  // code points of words
	values int  // of qualifiers, as far as they are counted
	not    bool // a NOT stands before the next word
	err    error
}

// next reads one word or qualifier; false at the end.
func (p *parser) next() bool {
	p.rest = strings.TrimLeft(p.rest, spaces)
	if p.rest == "" || p.err != nil {
		return false
	}
	not := false
	if p.rest[0] == '-' {
		not, p.rest = true, p.rest[1:]
	}
	if name, ok := p.name(); ok {
		p.qualifier(name, not)
		return true
	}
	quoted := strings.HasPrefix(p.rest, `"`)
	var word string
	if quoted {
		word = p.quoted()
	} else {
		end := strings.IndexAny(p.rest, spaces)
		if end < 0 {
			end = len(p.rest)
		}
		word, p.rest = p.rest[:end], p.rest[end:]
	}
	switch {
	case quoted:
	case word == "AND" && !not:
		return true
	case word == "NOT" && !not:
		p.not = true
		return true
	case word == "OR" && !not:
		p.err = invalid("OR is not supported: search for each alternative by itself, or quote the word.")
		return true
	}
	p.word(word, not)
	return true
}

func (p *parser) word(word string, not bool) {
	not, p.not = not || p.not, false
	if word == "" {
		return
	}
	p.text += utf8.RuneCountInString(word) + min(1, p.text)
	p.used = true
	if not {
		p.q.NotWords = append(p.q.NotWords, word)
	} else {
		p.q.Words = append(p.q.Words, word)
	}
	if len(p.q.Words)+len(p.q.NotWords) > maxWords && p.text <= maxText {
		p.err = invalid("The search has more than %d words.", maxWords)
	}
}

// name reads the name of a qualifier and its colon, in small letters; what is
// none of GitHub's stays.
func (p *parser) name() (string, bool) {
	end := 0
	for end < len(p.rest) && end < 24 {
		c := p.rest[end] | 0x20
		if (c < 'a' || c > 'z') && p.rest[end] != '-' {
			break
		}
		end++
	}
	if end == 0 || end == len(p.rest) || p.rest[end] != ':' {
		return "", false
	}
	name := strings.ToLower(p.rest[:end])
	if !slices.Contains(ours(), name) && !slices.Contains(theirs(), name) {
		return "", false
	}
	p.rest = p.rest[end+1:]
	return name, true
}

// ours are the qualifiers that Arbor knows.
func ours() []string {
	return []string{"in", "repo", "user", "org", "is", "type", "state", "draft", "archived", "author", "assignee", "mentions",
		"commenter", "involves", "milestone", "label", "no", "created", "updated", "closed", "merged", "comments", "sort"}
}

// theirs are GitHub's qualifiers for what Arbor does not have.
func theirs() []string {
	return []string{"team", "project", "language", "linked", "review", "reviewed-by", "review-requested", "user-review-requested",
		"team-review-requested", "head", "base", "status", "sha", "app", "reactions", "interactions", "reason", "has", "parent-issue",
		"sub-issue", "topic"}
}

// quoted reads what stands in quotes; without a second one, the rest.
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

// list reads what stands behind a colon, parted by commas outside of quotes.
func (p *parser) list() (list []string) {
	var value strings.Builder
	for p.rest != "" {
		switch at := strings.IndexAny(p.rest, `",`+spaces); {
		case at < 0:
			value.WriteString(p.rest)
			p.rest = ""
		case at > 0:
			value.WriteString(p.rest[:at])
			p.rest = p.rest[at:]
		case p.rest[0] == '"':
			value.WriteString(p.quoted())
		case p.rest[0] == ',':
			list = append(list, value.String())
			value.Reset()
			p.rest = p.rest[1:]
		default:
			return append(list, value.String())
		}
	}
	return append(list, value.String())
}

func (p *parser) qualifier(name string, not bool) {
	not, p.not, p.used = not || p.not, false, true
	list := p.list()
	if slices.Contains(list, "") {
		p.err = invalid("The qualifier %q needs a value.", name)
		return
	}
	value := strings.Join(list, ",")
	switch {
	case slices.Contains(theirs(), name):
		p.err = invalid("The qualifier %q is not supported.", name)
	case !p.field(name, value, list, not):
		p.err = invalid("%q is not a value of the qualifier %q.", minus(not)+value, name)
	case p.values > maxQualifiers:
		p.err = invalid("The search has more than %d qualifiers.", maxQualifiers)
	}
}
