package web

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"net/http"
	"strings"
	"sync"
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

// Serve answers 200 with what is kept under the key, or with what render makes.
func (a *Answers) Serve(w http.ResponseWriter, r *http.Request, key string, render Render) error {
	for {
		if body, note, ok := a.cache.Get(key); ok {
			if note == large {
				return Answer(w, r, http.StatusOK, render)
			}
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

// large is the note of an answer that is too large to be kept: whoever asks for it
// need not wait for others.
const large = "large"

// fill renders an answer while nobody else does, keeps it and sends it.
func (a *Answers) fill(w http.ResponseWriter, r *http.Request, key string, render Render) error {
	leave := sync.OnceFunc(func() { a.filling.Leave(key) })
	defer leave()
	out := &Output{w: w, r: r, status: http.StatusOK, begin: func() {
		a.cache.Put(key, nil, large)
		leave()
	}}
	return out.run(func(out *Output) error {
		if err := render(out); err != nil || out.begun || len(out.Buf) > MaxHeld {
			return err
		}
		if out.ETag == "" {
			out.ETag = Tag(out.Buf)
		}
		note := out.ETag
		for _, name := range kept {
			note += "\n" + w.Header().Get(name)
		}
		a.cache.Put(key, out.Buf, note)
		leave()
		return nil
	})
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
