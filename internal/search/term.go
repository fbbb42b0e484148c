package search

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
)

// Term is a word or a qualifier of a search whose terms all must hold.
type Term struct {
	Name   string // of the qualifier, in lower case; empty: this is a word or a phrase
	Value  string // after the colon, or the word
	Not    bool
	before parser // as it was before the term
}

// Refuse is the 422 that names the place of the term.
func (t *Term) Refuse(format string, args ...any) error {
	t.before.err = nil
	t.before.fail(format, args...)
	return t.before.err
}

// Wrong is the Refuse of a value that the qualifier cannot have.
func (t *Term) Wrong() error {
	return t.Refuse("%q is not a value of the qualifier %q.", minus(t.Not)+errs.Clip(t.Value), t.Name)
}

// Language says which qualifiers a search has.
type Language struct {
	Known  []string
	Times  []string // of these, those whose values are times
	Absent []string // GitHub's, for what Arbor does not have: 422
}

// Read reads a search of words and qualifiers, with the limits of Parse. There is AND and NOT, and
// neither OR nor parentheses: these are refused, like everything that is not understood (decision 68). Error:
// 422.
func (l Language) Read(q string) ([]*Term, error) {
	if !utf8.ValidString(q) || strings.Contains(q, "\x00") {
		return nil, invalid("The search must be UTF-8 without NUL.")
	}
	p := &parser{text: q, rest: q, q: &Query{}}
	var list []*Term
	for p.err == nil {
		joined := len(list) > 0 && p.operator("AND")
		p.rest = strings.TrimLeft(p.rest, spaces)
		switch {
		case p.rest == "" && joined:
			p.fail("AND needs something on both sides: quote the word if it is meant as text.")
		case p.sees("OR"):
			p.fail("OR is not supported in this search: quote the word if it is meant as text.")
		case p.sees("AND"):
			p.fail("An operator joins nothing: quote the word if it is meant as text.")
		case p.rest != "" && strings.IndexByte("()", p.rest[0]) >= 0:
			p.fail("Parentheses are not supported in this search: quote them if they are meant as text.")
		}
		if p.rest == "" || p.err != nil {
			break
		}
		if t := l.term(p); t != nil {
			list = append(list, t)
		}
	}
	switch {
	case p.err != nil:
		return nil, p.err
	case len(list) == 0:
		return nil, errs.Validation(errs.Field{Resource: resource, Field: "q", Code: errs.Missing})
	case p.length > maxText:
		return nil, invalid("The search is longer than 256 characters.")
	}
	return list, nil
}

// term reads one term; nil for one that says nothing, and after an error.
func (l Language) term(p *parser) *Term {
	t := &Term{before: *p}
	if t.Not = p.operator("NOT"); t.Not && p.rest == "" {
		p.fail("NOT needs something behind it: quote the word if it is meant as text.")
	}
	if strings.HasPrefix(p.rest, "-") {
		t.Not, p.rest = true, p.rest[1:]
	}
	name, found := p.name(l.Known, l.Absent)
	switch {
	case found:
		t.Name = name
		t.Value = l.value(p, t)
		p.values++
	case strings.HasPrefix(p.rest, `"`):
		t.Value = p.quoted()
	default:
		t.Value = p.bare()
	}
	if p.values > maxQualifiers {
		p.fail("The search has more than %d qualifiers.", maxQualifiers)
	}
	if p.err != nil || !found && !p.word(t.Value, t.Not) {
		return nil
	}
	return t
}

// value reads the value of a qualifier.
func (l Language) value(p *parser, t *Term) string {
	if slices.Contains(l.Absent, t.Name) {
		p.err = t.Refuse("The qualifier %q is not supported.", t.Name)
		return ""
	}
	read := p.list
	if slices.Contains(l.Times, t.Name) {
		read = p.times
	}
	list := read()
	if slices.Contains(list, "") {
		p.fail("The qualifier %q needs a value.", t.Name)
	}
	return strings.Join(list, ",")
}

// Condition returns the SQL for a span of an expression: numbers, or times in microseconds.
func (s Span) Condition(expression string) string {
	return fmt.Sprintf("(%s >= %d AND %[1]s < %[3]d)", expression, s.From, s.To)
}

// Has reports that a number lies in the span.
func (s Span) Has(n int64) bool { return s.From <= n && n < s.To }
