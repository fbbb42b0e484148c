package search

import (
	"fmt"
	"regexp"
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
	maxGroups     = 32  // alternatives
	maxDepth      = 6   // of groups within groups
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
//	author:x milestone:"x y" head:x base:x reason:x   repeated: one of them
//	assignee:x mentions:x commenter:x involves:x label:x reviewed-by:x review-requested:x   repeated: all of them
//	review:none|required|approved|changes_requested status:pending|success|failure
//	label:a,"b c"                  one of the two
//	no:label no:assignee no:milestone assignee:* milestone:* label:*
//	created:>=2020-01-01 updated:2020-01-01..* closed: merged: comments:>5
//	sort:updated-asc
//	a AND b, a OR b, NOT a, (a OR b) -(c d)
//
// A minus negates, and so does NOT. AND joins, as a space does, and binds stronger than OR. What is said within
// parentheses stands by itself: "repeated" counts there alone, and so does in:, which inner ones inherit. A
// parenthesis inside of a word or a value that is closed there belongs to it. A word with a colon that is no qualifier of
// GitHub's is a word; a qualifier of GitHub's for what Arbor does not have, a value that a qualifier cannot have,
// and an operator or a parenthesis that joins nothing, is an error, so that nobody takes an
// answer for more than it is (decision 68). Letters of qualifiers may be of either case. In a time, a space may stand for the plus
// that a client did not escape. Errors: 422.
func Parse(q string) (*Query, error) {
	if !utf8.ValidString(q) || strings.Contains(q, "\x00") {
		return nil, invalid("The search must be UTF-8 without NUL.")
	}
	p := &parser{text: q, rest: q}
	query := p.whole()
	switch {
	case p.err != nil:
		return nil, p.err
	case !p.used:
		return nil, errs.Validation(errs.Field{Resource: resource, Field: "q", Code: errs.Missing})
	case p.length > maxText:
		return nil, invalid("The search is longer than 256 characters.")
	case query.depth() > maxDepth:
		return nil, invalid("The search is nested more than %d deep.", maxDepth)
	}
	return query, nil
}

func invalid(format string, args ...any) error {
	return errs.Validation(errs.Field{Resource: resource, Field: "q", Code: errs.InvalidField, Message: fmt.Sprintf(format, args...)})
}

// parser reads a query from left to right, each byte a fixed number of times.
type parser struct {
	text, rest string
	q          *Query // what is read at present
	top        Sort   // of the whole
	used       bool   // there was a word or a qualifier
	length     int    // code points of words
	words      int
	values     int // of qualifiers, as far as they are counted
	groups     int
	err        error
}

// fail notes what is wrong, and where.
func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		at := utf8.RuneCountInString(p.text[:len(p.text)-len(p.rest)]) + 1
		p.err = invalid("%s (at character %d)", fmt.Sprintf(format, args...), at)
	}
}

// whole reads everything.
func (p *parser) whole() *Query {
	list := p.alternatives(0)
	if p.err == nil && p.rest != "" {
		p.fail("A closing parenthesis has no opening one: quote it if it is meant as text.")
	}
	q := list[0]
	if len(list) > 1 {
		q = &Query{Groups: []Group{{Any: list}}}
	}
	q.Sort = p.top
	return q
}

// alternatives reads what OR joins, up to the end or a closing parenthesis.
func (p *parser) alternatives(depth int) (list []*Query) {
	for {
		outer := p.q
		p.q = &Query{}
		some := p.together(depth)
		list, p.q = append(list, p.q), outer
		more := p.err == nil && p.operator("OR")
		if p.groups++; p.groups > maxGroups {
			p.fail("The search has more than %d alternatives.", maxGroups)
		}
		switch {
		case !some && (more || len(list) > 1):
			p.fail("OR needs something on both sides: quote the word if it is meant as text.")
		case !some && depth > 0:
			p.fail("There is nothing between the parentheses.")
		}
		if !more || p.err != nil {
			return list
		}
	}
}

// together reads what AND joins, or a space, into p.q; some is false where there is nothing.
func (p *parser) together(depth int) (some bool) {
	for joined := false; p.err == nil; joined = p.operator("AND") {
		if p.atEnd() {
			if joined {
				p.fail("AND needs something on both sides: quote the word if it is meant as text.")
			}
			return some
		}
		not := p.operator("NOT")
		if p.rest == "" || p.rest[0] == ')' {
			p.fail("NOT needs something behind it: quote the word if it is meant as text.")
			return some
		}
		some = p.term(not, depth) || some
	}
	return some
}

// atEnd skips spaces and reports that nothing more is joined by AND.
func (p *parser) atEnd() bool {
	p.rest = strings.TrimLeft(p.rest, spaces)
	return p.rest == "" || p.rest[0] == ')' || p.sees("OR")
}

// sees reports that an operator comes next.
func (p *parser) sees(name string) bool {
	after, found := strings.CutPrefix(p.rest, name)
	return found && (after == "" || strings.IndexAny(after, spaces+"()") == 0)
}

// operator reads an operator, if it comes next, and the spaces around it.
func (p *parser) operator(name string) bool {
	p.rest = strings.TrimLeft(p.rest, spaces)
	found := p.sees(name)
	if found {
		p.rest = strings.TrimLeft(p.rest[len(name):], spaces)
	}
	return found
}

// term reads one word, qualifier or group; false for one that says nothing.
func (p *parser) term(not bool, depth int) bool {
	switch {
	case p.sees("AND") || p.sees("OR") || p.sees("NOT"):
		p.fail("An operator follows another: quote the word if it is meant as text.")
		return false
	case p.rest[0] == '-':
		not, p.rest = true, p.rest[1:]
	}
	if strings.HasPrefix(p.rest, "(") {
		p.group(not, depth)
		return true
	}
	if name, ok := p.name(); ok {
		p.qualifier(name, not)
		return name != "sort"
	}
	if strings.HasPrefix(p.rest, `"`) {
		return p.word(p.quoted(), not)
	}
	return p.word(p.bare(), not)
}

// group reads what stands in parentheses.
func (p *parser) group(not bool, depth int) {
	if depth == maxDepth {
		p.fail("The search is nested more than %d deep.", maxDepth)
		return
	}
	p.rest = p.rest[1:]
	list := p.alternatives(depth + 1)
	if p.err == nil && p.rest == "" {
		p.fail("A parenthesis is not closed: quote it if it is meant as text.")
	}
	if p.err == nil {
		p.rest = p.rest[1:]
		p.q.Groups = append(p.q.Groups, Group{Not: not, Any: list})
	}
}

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
		if r, size := utf8.DecodeRuneInString(p.rest[end:]); open < 0 || strings.ContainsRune(spaces, r) {
			break
		} else {
			end += size
		}
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
		"commenter", "involves", "milestone", "label", "no", "created", "updated", "closed", "merged", "comments", "sort",
		"head", "base", "review", "reviewed-by", "review-requested", "user-review-requested", "status", "reason"}
}

// theirs are GitHub's qualifiers for what Arbor does not have.
func theirs() []string {
	return []string{"team", "project", "language", "linked", "team-review-requested", "sha", "app", "reactions", "interactions",
		"has", "parent-issue", "sub-issue", "topic", "blocked-by", "blocking", "is-blocked"}
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

// An unescaped plus in an address is a space: these are what stands before and behind
// that of a time.
var (
	clock  = regexp.MustCompile(`T\d\d:\d\d(:\d\d(\.\d+)?)?$`)
	offset = regexp.MustCompile(`^ \d\d:\d\d(\.\.|[` + spaces + `)]|$)`)
)

// times is list for times.
func (p *parser) times() []string {
	list := p.list()
	for last := len(list) - 1; clock.MatchString(list[last]) && offset.MatchString(p.rest); last = len(list) - 1 {
		zone := "+" + p.rest[1:6]
		p.rest = p.rest[6:]
		more := p.list()
		list[last] += zone + more[0]
		list = append(list, more[1:]...)
	}
	return list
}

func (p *parser) qualifier(name string, not bool) {
	p.used = true
	before := *p
	var list []string
	if slices.ContainsFunc(spans(), func(f spanField) bool { return f.name == name }) {
		list = p.times()
	} else {
		list = p.list()
	}
	if slices.Contains(list, "") {
		p.fail("The qualifier %q needs a value.", name)
		return
	}
	value := strings.Join(list, ",")
	switch {
	case slices.Contains(theirs(), name):
		before.fail("The qualifier %q is not supported.", name)
	case !p.field(name, value, list, not):
		before.fail("%q is not a value of the qualifier %q.", minus(not)+errs.Clip(value), name)
	case p.values > maxQualifiers:
		before.fail("The search has more than %d qualifiers.", maxQualifiers)
	}
	p.err = before.err
}
