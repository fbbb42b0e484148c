package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"net/http"
	"sync"
	"sync/atomic"

	"arbor/internal/cache"
	"arbor/internal/keyed"
)

// Kept is a cached response.
type Kept struct {
	Body         []byte
	ETag         string // with its quotes
	Link         string // the header; empty: none
	LastModified string
	// too large to be cached: Body is empty, and readers need not wait for each other
	Large bool
}

// keptCost is approximately the memory of an answer besides its body and key, in bytes.
const keptCost = 300

// NewKept returns a cache of answers of at most so many bytes.
func NewKept(limit int64) *cache.Cache[string, Kept] {
	return cache.New(limit, func(key string, k Kept) int64 {
		return int64(cap(k.Body)+len(key)+len(k.ETag)+len(k.Link)) + keptCost
	})
}

// Answers keeps rendered answers of GET requests, each under a key and the state
// of the database that it depends on, and renders the others: one request at
// a time for each, so that a crowd costs what one caller does.
type Answers struct {
	kept    *cache.Cache[string, Kept]
	filling keyed.Mutex[answerKey]
	asked   askedKeys
}

type answerKey struct {
	state cache.State
	key   string
}

// NewAnswers keeps answers in a cache, which others may use, too.
func NewAnswers(kept *cache.Cache[string, Kept]) *Answers {
	return &Answers{kept: kept, asked: askedKeys{seed: maphash.MakeSeed()}}
}

// askedKeys remembers which keys were requested recently, approximately: a key may be mistaken for another
// one, and is replaced by others.
type askedKeys struct {
	seed  maphash.Seed
	slots [1024]atomic.Uint64
}

// again records a key, and reports whether it was requested before.
func (n *askedKeys) again(key string) bool {
	h := maphash.String(n.seed, key) | 1
	return n.slots[h>>16%uint64(len(n.slots))].Swap(h) == h
}

// ServeRepeated is Serve for addresses so numerous that most are
// requested once: an answer is kept when its address is requested again.
func (a *Answers) ServeRepeated(w http.ResponseWriter, r *http.Request, state cache.State, key string,
	render Render) error {
	if a.asked.again(key) {
		return a.Serve(w, r, state, key, render)
	}
	return answerPooled(w, r, http.StatusOK, render)
}

// Key names all that an answer depends on besides the database and the host's
// settings: the caller's id (0: anonymous), the dialect, the address, and all
// other arguments.
func Key(r *http.Request, caller fmt.Stringer, more ...any) string {
	info := From(r.Context())
	b := fmt.Append(nil, caller.String(), info.Media.Preview(Assignees), info.Media.Preview(Reactions),
		info.Media.Kind, " ", info.Prefix, " ", r.URL.EscapedPath(), " ", r.URL.RawQuery, " ")
	return ShortKey(fmt.Append(b, more...))
}

// ShortKey returns a key as a string, hashed if it is long.
func ShortKey(key []byte) string {
	if len(key) > maxKey {
		sum := sha256.Sum256(key)
		key = sum[:]
	}
	return string(key)
}

// maxKey is the maximum length in bytes of a key that is stored unhashed.
const maxKey = 600

// Serve writes a 200 with the response cached under the key in this state, or with the output of render.
// The key includes everything that the response depends on besides the state. If the state is unknown, it
// always renders.
func (a *Answers) Serve(
	w http.ResponseWriter, r *http.Request, state cache.State, key string, render Render,
) error {
	if state == cache.Unknown {
		return Answer(w, r, http.StatusOK, render)
	}
	if k, ok := a.kept.Get(state, key); ok {
		return k.send(w, r, render)
	}
	unlock, err := a.filling.Lock(r.Context(), answerKey{state, key})
	if err != nil {
		return err
	}
	if k, ok := a.kept.Get(state, key); ok { // somebody else has just rendered it
		unlock()
		return k.send(w, r, render)
	}
	return a.fill(w, r, answerKey{state, key}, render, sync.OnceFunc(unlock))
}

// send sends a cached response, and renders one that is too large.
func (k Kept) send(w http.ResponseWriter, r *http.Request, render Render) error {
	if k.Large {
		return Answer(w, r, http.StatusOK, render)
	}
	if k.Link != "" {
		w.Header()["Link"] = []string{k.Link}
	}
	if k.LastModified != "" {
		w.Header()["Last-Modified"] = []string{k.LastModified}
	}
	return Bytes(w, r, http.StatusOK, k.Body, k.ETag)
}

// fill renders a response once for concurrent requests, caches it and sends it. leave admits the next of these.
func (a *Answers) fill(
	w http.ResponseWriter, r *http.Request, on answerKey, render Render, leave func(),
) error {
	defer leave()
	out := &Output{w: w, r: r, status: http.StatusOK, begin: func() {
		a.kept.Put(on.state, on.key, Kept{Large: true})
		leave()
	}}
	return out.run(func(out *Output) error {
		if err := render(out); err != nil || out.begun || len(out.Buf) > max(MaxHeld, out.keep) || out.Passing {
			return err
		}
		if out.ETag == "" {
			out.ETag = Tag(out.Buf)
		}
		h := w.Header()
		a.kept.Put(on.state, on.key, Kept{Body: fitted(out.Buf), ETag: out.ETag,
			Link: h.Get("Link"), LastModified: h.Get("Last-Modified")})
		leave()
		out.free() // Bytes reserves what a slow client needs
		return nil
	})
}

// fitted returns a copy of a body that was rendered into a much larger buffer.
func fitted(body []byte) []byte {
	if cap(body)-len(body) > len(body)/4 {
		return bytes.Clone(body)
	}
	return body
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

// Stats returns the statistics of the cache, under a name.
func (a *Answers) Stats(name string) cache.Stats { return a.kept.Stats(name) }
