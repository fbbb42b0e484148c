package plant

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"arbor/internal/errs"
	"arbor/internal/web"
)

// declaredJSON reports whether a request says that its body is JSON. No
// Content-Type says nothing (decision 48).
func declaredJSON(r *http.Request) bool {
	values := r.Header["Content-Type"]
	if len(values) != 1 {
		return false
	}
	name, _, _ := strings.Cut(values[0], ";")
	name = strings.ToLower(strings.TrimSpace(name))
	return name == "application/json" ||
		strings.HasPrefix(name, "application/") && strings.HasSuffix(name, "+json")
}

// readPlant reads the body of a creation: exact keys, exact integers, the last
// of a repeated key, unknown ones ignored (decisions 17, 47, 51).
func readPlant(r *http.Request) (*Plant, error) {
	if !declaredJSON(r) {
		return nil, errs.Wrap(errs.UnsupportedMedia,
			"the body must be declared as Content-Type: application/json", notDeclared)
	}
	for _, field := range [...]string{"id", "name", "tag"} {
		web.From(r.Context()).Ask(web.InBody, field)
	}
	body, err := web.ReadBody(r)
	if err != nil {
		return nil, err
	}
	return parsePlant(body)
}

// parsePlant is readPlant for a body already read. It splits the object itself:
// by way of web.ParseObject, which makes a map, it takes four times as long.
func parsePlant(body []byte) (*Plant, error) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return nil, refuse(badJSON, "the body is not valid JSON in UTF-8")
	}
	start := skipSpace(body, 0)
	if body[start] != '{' {
		return nil, refuse(notObject, "the body must be a JSON object")
	}
	var id, name, tag []byte
	for m := (members{body, start + 1}); ; {
		key, value, ok := m.next()
		if !ok {
			return newPlant(id, name, tag)
		}
		switch string(key) {
		case "id":
			id = value
		case "name":
			name = value
		case "tag":
			tag = value
		}
	}
}

// newPlant returns a plant from the JSON values of its fields; nil and null are
// absent.
func newPlant(id, name, tag []byte) (*Plant, error) {
	if absent(id) {
		return nil, refuse(noID, `"id" is required`)
	}
	p := &Plant{}
	var err error
	if p.ID, err = strconv.ParseInt(string(id), 10, 64); err != nil {
		return nil, refuse(badID, `"id" must be an integer of 64 bits`)
	}
	if absent(name) {
		return nil, refuse(noName, `"name" is required`)
	}
	var ok bool
	if p.Name, ok = text(name); !ok || p.Name == "" {
		return nil, refuse(badName, `"name" must be a string, not empty and without NUL`)
	}
	if absent(tag) {
		return p, nil
	}
	t, ok := text(tag)
	if !ok {
		return nil, refuse(badTag, `"tag" must be a string without NUL`)
	}
	p.Tag = &t
	return p, nil
}

// Parse returns a plant from the values of a form. An empty tag means none. Errors: 400 for an id that is
// not an integer of 64 bits, an empty name, and texts with NUL.
func Parse(id, name, tag string) (*Plant, error) {
	p := &Plant{Name: name, Tag: web.OrNil(tag)}
	var err error
	if p.ID, err = strconv.ParseInt(id, 10, 64); err != nil {
		return nil, refuse(badID, `"id" must be an integer of 64 bits`)
	}
	if name == "" || strings.IndexByte(name, 0) >= 0 {
		return nil, refuse(badName, `"name" must be a string, not empty and without NUL`)
	}
	if strings.IndexByte(tag, 0) >= 0 {
		return nil, refuse(badTag, `"tag" must be a string without NUL`)
	}
	return p, nil
}

// absent reports a field that was not sent, or was sent as null.
func absent(raw []byte) bool { return raw == nil || string(raw) == "null" }

// text reads a JSON string without NUL, which not every database can hold.
func text(raw []byte) (string, bool) {
	if raw[0] != '"' {
		return "", false
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return string(inner), true
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", false
	}
	return s, strings.IndexByte(s, 0) < 0
}

// members walks over the members of an object in JSON that is known to be
// valid, which is what makes it this short.
type members struct {
	body []byte
	at   int // behind the opening brace, or behind a value
}

// next returns a member's key, decoded, and its value as it was written.
func (m *members) next() (key, value []byte, ok bool) {
	i := skipSpace(m.body, m.at)
	if m.body[i] == ',' {
		i = skipSpace(m.body, i+1)
	}
	if m.body[i] == '}' {
		return nil, nil, false
	}
	end := valueEnd(m.body, i)
	key = m.body[i+1 : end-1]
	if bytes.IndexByte(key, '\\') >= 0 {
		var decoded string
		if err := json.Unmarshal(m.body[i:end], &decoded); err != nil {
			return nil, nil, false
		}
		key = []byte(decoded)
	}
	i = skipSpace(m.body, skipSpace(m.body, end)+1) // over the colon
	m.at = valueEnd(m.body, i)
	return key, m.body[i:m.at], true
}

// skipSpace returns the place of the first byte from i on that is not a space.
func skipSpace(body []byte, i int) int {
	for i < len(body) && (body[i] == ' ' || body[i] == '\n' || body[i] == '\t' || body[i] == '\r') {
		i++
	}
	return i
}

// valueEnd returns the place behind the value that begins at i.
func valueEnd(body []byte, i int) int {
	depth := 0
	for ; i < len(body); i++ {
		switch body[i] {
		case '"':
			for i++; body[i] != '"'; i++ {
				if body[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // behind a number
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}
