package graphql

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// What REST answers is taken apart only as far as a query needs it: encoding/json would look at each byte
// several times (BenchmarkIssueList). The bytes are this server's own. What is not well formed is an error
// where it is seen.

var errNoJSON = errors.New("graphql: no JSON where some was expected")

// payload is a JSON object of the REST API: its members in their order, parts of the answer's own bytes.
// There are too few for a map to be worth its making.
type payload []member

type member struct {
	name  []byte
	value json.RawMessage
}

// get returns a member's value, or nil.
func (p payload) get(name string) json.RawMessage {
	value, _ := p.find(name)
	return value
}

// find is get that tells a member without a value from none. Of members of one name the last counts.
func (p payload) find(name string) (value json.RawMessage, found bool) {
	for n := len(p) - 1; n >= 0; n-- {
		if string(p[n].name) == name {
			return p[n].value, true
		}
	}
	return nil, false
}

// with returns the payload with a member added or replaced.
func (p payload) with(name string, value json.RawMessage) payload {
	return append(slices.Clip(p), member{[]byte(name), value}) // what stands behind p may be another's
}

// members reads the members of a JSON object; nil of null.
func members(b []byte) (payload, error) {
	if isNullJSON(b) {
		return nil, nil
	}
	p, _, err := membersAt(b, space(b, 0), min(32, 4+len(b)/100))
	return p, err
}

// membersAt reads the object that begins at a place, and gives where it ends; about is how many members it
// may have.
func membersAt(b []byte, at, about int) (p payload, after int, err error) {
	p = make(payload, 0, about)
	after, err = each(b, at, '{', '}', func(key []byte, at int) (int, error) {
		name := key[1 : len(key)-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			var text string
			if err := json.Unmarshal(key, &text); err != nil {
				return 0, err
			}
			name = []byte(text)
		}
		after, err := skip(b, at)
		if err == nil {
			p = append(p, member{name, b[at:after:after]})
		}
		return after, err
	})
	return p, after, err
}

// elements reads the elements of a JSON array; nil of null.
func elements(b []byte) (list []json.RawMessage, err error) {
	if isNullJSON(b) {
		return nil, nil
	}
	_, err = each(b, space(b, 0), '[', ']', func(_ []byte, at int) (int, error) {
		after, err := skip(b, at)
		if err == nil {
			list = append(list, b[at:after:after])
		}
		return after, err
	})
	return list, err
}

// objectsIn reads a list of objects; nil of null.
func objectsIn(b []byte) (list []payload, err error) {
	if isNullJSON(b) {
		return nil, nil
	}
	about := 8
	_, err = each(b, space(b, 0), '[', ']', func(_ []byte, at int) (int, error) {
		p, after, err := membersAt(b, at, about)
		list, about = append(list, p), len(p)
		return after, err
	})
	return list, err
}

func isNullJSON(b []byte) bool {
	trimmed := bytes.TrimSpace(b)
	return len(trimmed) == 0 || string(trimmed) == "null"
}

// each calls fn for what is in the array or the object that begins at a place; key is nil in an array. fn
// gives where the value ends that begins at its place, and each where all of it ends.
func each(
	b []byte, at int, begin, end byte, fn func(key []byte, at int) (after int, err error),
) (int, error) {
	if at >= len(b) || b[at] != begin {
		return 0, errNoJSON
	}
	at = space(b, at+1)
	if at < len(b) && b[at] == end {
		return at + 1, nil
	}
	for at < len(b) {
		var key []byte
		if begin == '{' {
			after, err := skip(b, at)
			if err != nil || b[at] != '"' {
				return 0, errNoJSON
			}
			key = b[at:after]
			if at = space(b, after); at >= len(b) || b[at] != ':' {
				return 0, errNoJSON
			}
			at = space(b, at+1)
		}
		after, err := fn(key, at)
		if err != nil {
			return 0, err
		}
		switch at = space(b, after); {
		case at >= len(b):
			return 0, errNoJSON
		case b[at] == end:
			return at + 1, nil
		case b[at] != ',':
			return 0, errNoJSON
		}
		at = space(b, at+1)
	}
	return 0, errNoJSON
}

func space(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\n' || b[at] == '\t' || b[at] == '\r') {
		at++
	}
	return at
}

// skip returns the end of the value that begins at a position.
func skip(b []byte, at int) (int, error) {
	depth := 0
	for begin := at; at < len(b); {
		switch c := b[at]; c {
		case '"':
			after, err := skipText(b, at)
			if err != nil {
				return 0, err
			}
			at = after
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return 0, errNoJSON
			}
			at++
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return 0, errNoJSON
			}
			at++
			continue
		default:
			for at++; at < len(b) && !ends(b[at]); {
				at++
			}
		}
		if depth == 0 {
			if at == begin {
				return 0, errNoJSON
			}
			return at, nil
		}
	}
	return 0, errNoJSON
}

// ends reports what cannot stand in a number or a name.
func ends(c byte) bool {
	switch c {
	case ',', ':', '{', '}', '[', ']', ' ', '\n', '\t', '\r', '"':
		return true
	}
	return false
}

// skipText returns the end of the string that begins at a position.
func skipText(b []byte, at int) (int, error) {
	for at++; at < len(b); {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			break
		}
		slash := bytes.IndexByte(b[at:at+n], '\\')
		if slash < 0 {
			return at + n + 1, nil
		}
		at += slash + 2
	}
	return 0, errNoJSON
}

// decode reads a JSON value; numbers stay as they are. Nil: it is null, or there is none.
func decode(b json.RawMessage) any {
	switch {
	case len(b) == 0 || string(b) == "null":
		return nil
	case string(b) == "true":
		return true
	case string(b) == "false":
		return false
	case len(b) >= 2 && b[0] == '"' && bytes.IndexByte(b, '\\') < 0:
		return string(b[1 : len(b)-1])
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}
