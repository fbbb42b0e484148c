package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
)

// Limits of a query. Beyond them it is a 422.
const (
	maxText       = 256 // code points of words, as at GitHub
	maxWords      = 32
	maxQualifiers = 100 // several labels each count; repeated ones may count once
	maxGroups     = 32  // alternatives
	maxDepth      = 6   // of groups within groups
)

// spaces separate the terms of a query.
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
//	author:x milestone:"x y" head:x base:x reason:x     repeated: one of them
//	assignee:x mentions:x team:org/team commenter:x involves:x    repeated: all of them
//	label:x reviewed-by:x                               repeated: all of them
//	review-requested:x user-review-requested:x team-review-requested:org/team   and of these
//	review:none|required|approved|changes_requested status:pending|success|failure
//	label:a,"b c"                  one of the two
//	no:label no:assignee no:milestone assignee:* milestone:* label:*
//	created:>=2020-01-01 updated:2020-01-01..* closed: merged: comments:>5
//	sort:updated-asc
//	a AND b, a OR b, NOT a, (a OR b) -(c d)
//
// A minus negates, and so does NOT. AND joins, as a space does, and binds stronger than OR. What stands in
// parentheses is a query of its own: "repeated" counts there alone, and so does in:, which inner ones
// inherit. A parenthesis within a word or a value is part of it if it is closed there. Letters of qualifiers
// may be of either case. In a time, a space may stand for the plus that a client did not escape.
//
// A qualifier that Arbor does not have, a value that a qualifier cannot have, and an operator or a
// parenthesis that joins nothing are errors (decision 68): an answer never promises more than it holds.
// Errors: 422.
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
	return errs.Validation(errs.Field{Resource: resource, Field: "q", Code: errs.InvalidField,
		Message: fmt.Sprintf(format, args...)})
}

// parser reads a query from left to right, each byte a fixed number of times.
type parser struct {
	text, rest string
	q          *Query // the query being parsed
	top        Sort   // of the whole
	used       bool   // there was a word or a qualifier
	length     int    // code points of words
	words      int
	values     int // of qualifiers, as far as they are counted
	groups     int
	err        error
}

// fail records an error with its position.
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

// together reads what AND joins, or a space, into p.q; some is false if there is nothing.
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

// sees reports whether an operator comes next.
func (p *parser) sees(name string) bool {
	after, found := strings.CutPrefix(p.rest, name)
	return found && (after == "" || strings.IndexAny(after, spaces+"()") == 0)
}

// operator parses an operator and the spaces around it, if it comes next.
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
	if name, ok := p.name(ours(), theirs()); ok {
		p.qualifier(name, not)
		return name != "sort"
	}
	if p.err != nil {
		return false
	}
	if strings.HasPrefix(p.rest, `"`) {
		return p.word(p.quoted(), not)
	}
	return p.word(p.bare(), not)
}

// group parses a query in parentheses.
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

// qualifier reads the value of a qualifier and puts it where it belongs.
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
