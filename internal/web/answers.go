package web

import (
	"bytes"
	"context"
	"encoding/json"
	"hash/maphash"
	"net/http"
	"strings"
	"sync/atomic"
)

// Answers keeps rendered answers of GET requests, each under a key that names
// all that it depends on, and renders what is not there: one request at a time
// for each key, so that a crowd costs what one caller does.
type Answers struct {
	cache   *Cache
	filling Flights
}

// NewAnswers keeps answers in a cache, which others may use, too.
func NewAnswers(c *Cache) *Answers { return &Answers{cache: c} }

// kept are the headers that are kept with an answer.
var kept = [...]string{"Link", "Last-Modified"}

// Recent remembers which keys were asked for lately, roughly: a key may be taken
// for another one, and is forgotten when others come.
type Recent struct {
	seed  maphash.Seed
	slots [8192]atomic.Uint64
}

// NewRecent remembers nothing yet.
func NewRecent() *Recent { return &Recent{seed: maphash.MakeSeed()} }

// Again notes a key, and reports whether it was asked for before.
func (n *Recent) Again(key string) bool {
	h := maphash.String(n.seed, key) | 1
	return n.slots[h>>16%uint64(len(n.slots))].Swap(h) == h
}

// Render makes the body of an answer and its entity tag. It may set the headers
// Link and Last-Modified.
type Render func(ctx context.Context) (body []byte, etag string, err error)

// Serve answers 200 with what is kept under the key, or with what render makes.
func (a *Answers) Serve(w http.ResponseWriter, r *http.Request, key string, render Render) error {
	for {
		if body, note, ok := a.cache.Get(key); ok {
			etag, rest, _ := strings.Cut(note, "\n")
			for _, name := range kept {
				var value string
				if value, rest, _ = strings.Cut(rest, "\n"); value != "" {
					w.Header()[name] = []string{value}
				}
			}
			return Bytes(w, r, http.StatusOK, body, etag)
		}
		alone, err := a.filling.Enter(r.Context(), key)
		if err != nil {
			return err
		}
		if alone {
			return a.fill(w, r, key, render)
		}
	}
}

// fill renders an answer while nobody else does, keeps it and sends it.
func (a *Answers) fill(w http.ResponseWriter, r *http.Request, key string, render Render) error {
	body, etag, err := func() ([]byte, string, error) {
		defer a.filling.Leave(key)
		body, etag, err := render(r.Context())
		if err == nil {
			note := etag
			for _, name := range kept {
				note += "\n" + w.Header().Get(name)
			}
			a.cache.Put(key, body, note)
		}
		return body, etag, err
	}()
	if err != nil {
		return err
	}
	return Bytes(w, r, http.StatusOK, body, etag)
}

// Marshal renders v as JSON does in answers: without escapes that only HTML
// would need.
func Marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
