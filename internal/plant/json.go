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
	return name == "application/json" || strings.HasPrefix(name, "application/") && strings.HasSuffix(name, "+json")
}

// readPlant reads the body of a creation: exact keys, exact integers, the last
// of a repeated key, unknown ones ignored (decisions 17, 47, 51).
func readPlant(r *http.Request) (*Plant, error) {
	if !declaredJSON(r) {
		return nil, errs.Wrap(errs.UnsupportedMedia, "the body must be declared as Content-Type: application/json", notDeclared)
	}
	body, err := web.ReadBody(r)
	if err != nil {
		return nil, err
	}
	return parsePlant(body)
}

// parsePlant is readPlant for a body already read.
func parsePlant(body []byte) (*Plant, error) {
	o, err := web.ParseObject(body, "Plant")
	if err != nil {
		if utf8.Valid(body) && json.Valid(body) {
			return nil, refuse(notObject, "the body must be a JSON object")
		}
		return nil, refuse(badJSON, "the body is not valid JSON in UTF-8")
	}
	p := &Plant{}
	raw := o.Raw("id")
	if absent(raw) {
		return nil, refuse(noID, `"id" is required`)
	}
	if p.ID, err = strconv.ParseInt(string(raw), 10, 64); err != nil {
		return nil, refuse(badID, `"id" must be an integer of 64 bits`)
	}
	raw = o.Raw("name")
	if absent(raw) {
		return nil, refuse(noName, `"name" is required`)
	}
	var ok bool
	if p.Name, ok = text(raw); !ok || p.Name == "" {
		return nil, refuse(badName, `"name" must be a string, not empty and without NUL`)
	}
	if raw = o.Raw("tag"); absent(raw) {
		return p, nil
	}
	tag, ok := text(raw)
	if !ok {
		return nil, refuse(badTag, `"tag" must be a string without NUL`)
	}
	p.Tag = &tag
	return p, nil
}

// absent reports a field that was not sent, or was sent as null.
func absent(raw json.RawMessage) bool { return raw == nil || string(raw) == "null" }

// text reads a JSON string without NUL, which not every database can hold.
func text(raw json.RawMessage) (string, bool) {
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

// appendPlant appends a plant as answers show it: name and, when it has one,
// tag; nothing else (decision 46).
func appendPlant(b []byte, p *Plant) []byte {
	b = append(b, `{"name":`...)
	b = appendString(b, p.Name)
	if p.Tag != nil {
		b = append(b, `,"tag":`...)
		b = appendString(b, *p.Tag)
	}
	return append(b, '}')
}

// appendString appends s as a JSON string. s is UTF-8; only what JSON demands
// is escaped.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		}
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// answer sends a whole body of JSON.
func answer(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}
