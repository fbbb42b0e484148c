package plant

import (
	"net/http"
	"strconv"

	"arbor/internal/web"
)

// appendPlant appends a plant as answers show it: name and, when it has one, tag; nothing
// else (decision 46). It does so by hand: a list has no pages, so it may hold a million,
// and encoding/json takes six times as long (BenchmarkAppend).
func appendPlant(b []byte, p *Plant) []byte {
	b = append(b, `{"name":`...)
	b = web.AppendString(b, p.Name)
	if p.Tag != nil {
		b = append(b, `,"tag":`...)
		b = web.AppendString(b, *p.Tag)
	}
	return append(b, '}')
}

// appendItem appends a plant as an element of a list, after a comma. The list's
// bracket takes the place of the first one.
func appendItem(b []byte, p *Plant) []byte { return appendPlant(append(b, ','), p) }

// jsonType is shared by all answers, and never changed.
var jsonType = []string{"application/json"}

// answer sends a whole body of JSON.
func answer(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}
