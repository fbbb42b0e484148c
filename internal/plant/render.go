package plant

import (
	"net/http"
	"strconv"
)

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

// appendItem appends a plant as an element of a list, after a comma. The list's
// bracket takes the place of the first one.
func appendItem(b []byte, p *Plant) []byte { return appendPlant(append(b, ','), p) }

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
