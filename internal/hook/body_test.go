package hook

import (
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/web"
)

// FuzzBody: whatever a body says, a hook that is taken has an address that is one, and events that exist,
// once each, and is read from its columns as it was.
func FuzzBody(f *testing.F) {
	for _, seed := range []string{
		`{"config": {"url": "http://a.example/x", "content_type": "json", "secret": "peas", "insecure_ssl": 0}, "events": ["push", "push"]}`,
		`{"config": {"url": "http://127.0.0.1"}, "add_events": ["*"], "remove_events": ["push"], "active": false}`,
		`{"config": {"url": "http://a@[::1%25lo]:99999", "insecure_ssl": "1", "secret": null}, "events": []}`,
		`{"config": null, "events": [null]}`, `{"config": [], "events": "push"}`,
		`{"config": {"url": "http://a.example\n", "secret": "\u0000", "insecure_ssl": {}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := web.With(httptest.NewRequest("PATCH", "/x", strings.NewReader(text)),
			Info("http://x", "http://x"))
		body, err := web.ParseObject([]byte(text), Resource)
		if err != nil {
			return
		}
		api := NewAPI(New(nil, nil, nil))
		c := Edit{Active: body.Bool("active"), Events: readEvents(body, "events"),
			Add: readEvents(body, "add_events").Value, Remove: readEvents(body, "remove_events").Value}
		if api.readNested(r, body, &c) != nil || body.Err() != nil {
			return
		}
		h := &Hook{Events: []string{"push"}}
		c.apply(h, web.From(r.Context()), db.Time(0))
		if h.URL != "" {
			if _, err := newRequest(h, &Delivery{Payload: []byte("{}")}, "x"); err != nil {
				t.Errorf("%q cannot be asked: %v", h.URL, err)
			}
			if strings.ContainsAny(h.URL, "\x00\r\n @") && api.s.CheckURL(h.URL) != nil {
				t.Errorf("%q is taken", h.URL)
			}
		}
		if again := splitEvents(joined(h.Events)); !slices.Equal(again, h.Events) {
			t.Errorf("the events %q are read as %q", h.Events, again)
		}
		for n, e := range h.Events {
			if !known(e) || slices.Index(h.Events, e) != n {
				t.Errorf("%q are taken as events", h.Events)
			}
		}
		if h.Secret != nil && (*h.Secret == "" || strings.ContainsRune(*h.Secret, 0)) {
			t.Errorf("%q is taken as a secret", *h.Secret)
		}
	})
}

// FuzzDepth: the depth of what JSON takes is that of its brackets outside of texts.
func FuzzDepth(f *testing.F) {
	for _, seed := range []string{`{"a": [1, {"b": "]}\"{"}]}`, `[[[]]]`, `"[\\"`, `{}`, `1`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if want, ok := decodedDepth(text); ok && depth([]byte(text)) != want {
			t.Errorf("%q is %d deep, want %d", text, depth([]byte(text)), want)
		}
	})
}

// decodedDepth is depth by the library's own reading; ok: the text is JSON.
func decodedDepth(text string) (most int, ok bool) {
	if !json.Valid([]byte(text)) {
		return 0, false
	}
	n, in := 0, json.NewDecoder(strings.NewReader(text))
	for {
		token, err := in.Token()
		if err != nil {
			return most, errors.Is(err, io.EOF)
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			n++
			most = max(most, n)
		case json.Delim('}'), json.Delim(']'):
			n--
		}
	}
}
