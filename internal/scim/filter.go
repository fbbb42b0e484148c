package scim

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"arbor/internal/external"
)

// Bounds of filters and paths.
const (
	maxFilter = 2000 // bytes
	maxTerms  = 10
)

// term is "attribute eq value".
type term struct {
	attribute string // in lower case, without the schema
	value     any    // a string, bool or float64, or nil
}

// parseFilter reads terms that are joined by "and". Error: 400.
func parseFilter(text string) ([]term, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	list, err := p.terms()
	if err == nil && p.rest != "" {
		err = p.wrong()
	}
	return list, err
}

// parser reads a filter or a path from the left.
type parser struct{ rest string }

func newParser(text string) (*parser, error) {
	if len(text) > maxFilter || !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return nil, wrong(badFilter, "a filter is UTF-8 text of at most %d bytes, without NUL", maxFilter)
	}
	return &parser{text}, nil
}

func (p *parser) wrong() error {
	return wrong(badFilter, `a filter is like userName eq "ann", or several of these with "and"`)
}

// word takes the next word: up to a blank, a bracket or the end.
func (p *parser) word() string {
	p.rest = strings.TrimLeft(p.rest, " ")
	n := strings.IndexAny(p.rest, " []()\"")
	if n < 0 {
		n = len(p.rest)
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	return word
}

// terms reads at least one term, up to the end or a bracket that closes.
func (p *parser) terms() (list []term, err error) {
	for {
		attribute := strings.ToLower(withoutSchema(p.word()))
		if attribute == "" || !strings.EqualFold(p.word(), "eq") || len(list) == maxTerms {
			return nil, p.wrong()
		}
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, term{attribute, value})
		p.rest = strings.TrimLeft(p.rest, " ")
		if p.rest == "" || p.rest[0] == ']' {
			return list, nil
		}
		if !strings.EqualFold(p.word(), "and") {
			return nil, p.wrong()
		}
	}
}

// value reads a value as JSON writes it.
func (p *parser) value() (v any, err error) {
	p.rest = strings.TrimLeft(p.rest, " ")
	text := ""
	if strings.HasPrefix(p.rest, `"`) {
		end := 1
		for end < len(p.rest) && p.rest[end] != '"' {
			if p.rest[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(p.rest) {
			return nil, p.wrong()
		}
		text, p.rest = p.rest[:end+1], p.rest[end+1:]
	} else {
		text = strings.ToLower(p.word())
	}
	if json.Unmarshal([]byte(text), &v) != nil {
		return nil, p.wrong()
	}
	if s, is := v.(string); is && strings.IndexByte(s, 0) >= 0 {
		return nil, p.wrong()
	}
	return v, nil
}

// withoutSchema takes the schema of users and groups from the name of an attribute. Extensions keep theirs.
func withoutSchema(name string) string {
	for _, schema := range [...]string{userSchema, groupSchema} {
		if len(name) > len(schema) && strings.EqualFold(name[:len(schema)], schema) && name[len(schema)] == ':' {
			return name[len(schema)+1:]
		}
	}
	return name
}

// conditions reads the filter of a list. Error: 400.
func conditions(text string, columns map[string]external.Column, prefix string) (list []external.Condition, err error) {
	terms, err := parseFilter(text)
	if err != nil {
		return nil, err
	}
	for _, t := range terms {
		column, known := columns[t.attribute]
		if !known {
			return nil, wrong(badFilter, "lists cannot be filtered by %q", t.attribute)
		}
		text, is := t.value.(string)
		switch column {
		case external.ByActive:
			value, known := readFlag(t.value)
			if !known {
				return nil, wrong(badFilter, "active is true or false")
			}
			list = append(list, external.Condition{Column: column, Value: value})
			continue
		case external.ByID:
			list = append(list, external.Condition{Column: column, Value: parseID(prefix, text)})
			continue
		}
		if !is {
			return nil, wrong(badFilter, "%s is a string", t.attribute)
		}
		list = append(list, external.Condition{Column: column, Value: text})
	}
	return list, nil
}

// path is what an operation changes: attribute, attribute.sub, or attribute[filter].sub.
type path struct {
	attribute string // in lower case; of an extension whole, so that it names nothing
	filter    []term // nil: none
	sub       string
}

// parsePath reads a path. Error: 400.
func parsePath(text string) (path, error) {
	text = withoutSchema(strings.TrimSpace(text))
	if len(text) >= 4 && strings.EqualFold(text[:4], "urn:") && len(text) <= maxFilter {
		return path{attribute: "urn:"}, nil
	}
	p, err := newParser(text)
	if err != nil {
		return path{}, wrong(badPath, "the path is not text of at most %d bytes", maxFilter)
	}
	var at path
	at.attribute = strings.ToLower(p.word())
	at.attribute, at.sub, _ = strings.Cut(at.attribute, ".")
	if strings.HasPrefix(p.rest, "[") && at.sub == "" {
		p.rest = p.rest[1:]
		if at.filter, err = p.terms(); err != nil || !strings.HasPrefix(p.rest, "]") {
			return path{}, wrong(badPath, "the path has a filter that cannot be read")
		}
		p.rest = p.rest[1:]
		if strings.HasPrefix(p.rest, ".") {
			p.rest = p.rest[1:]
			at.sub = strings.ToLower(p.word())
		}
	}
	if at.attribute == "" || p.rest != "" {
		return path{}, wrong(badPath, "the path cannot be read")
	}
	return at, nil
}
