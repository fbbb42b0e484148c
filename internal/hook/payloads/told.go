package payloads

import (
	"bytes"
	"compress/flate"
	"crypto/rand"
	"encoding/json"
	"io"
	"strings"
	"sync"

	"arbor/internal/git"
	"arbor/internal/web"
)

// told is what Tell stores of an event.
type told struct {
	Places  places          `json:"places"`
	Payload json.RawMessage `json:"payload"` // but for what git knows
	Not     []git.SHA       `json:"not,omitempty"`
}

// places stand for the server's addresses in a payload, since each hook has its own: a name that nobody who
// writes a text can know.
type places string

func newPlaces() places { return places(strings.ToLower(rand.Text()) + ".invalid") }

func (p places) site() string { return "https://" + string(p) }

func (p places) prefix() string { return "https://api." + string(p) }

// addressed puts addresses into a payload.
func (t *told) addressed(info *web.Info) []byte {
	p := t.Places
	if p == "" {
		return t.Payload
	}
	return []byte(strings.NewReplacer(p.prefix(), quoted(info.Prefix), p.site(), quoted(info.Site),
		string(p), quoted(info.Host())).Replace(string(t.Payload)))
}

// quoted is a text as it stands inside another one in JSON.
func quoted(s string) string {
	b, err := web.Marshal(s)
	if err != nil {
		return ""
	}
	return string(b[1 : len(b)-1])
}

// compressors are used again: one takes half a megabyte.
var compressors = sync.Pool{New: func() any {
	w, _ := flate.NewWriter(nil, flate.BestSpeed) // it fails for another level only
	return w
}}

// pack returns the stored form. It is compressed: most of a payload are addresses, so it takes a fifth.
func pack(t *told) ([]byte, error) {
	b, err := web.Marshal(t)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := compressors.Get().(*flate.Writer)
	defer compressors.Put(w)
	w.Reset(&out)
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// unpack reads what pack made.
func unpack(b []byte) (*told, error) {
	r := flate.NewReader(bytes.NewReader(b))
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var t told
	return &t, json.Unmarshal(text, &t)
}
