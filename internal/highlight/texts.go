package highlight

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"time"

	"arbor/internal/cache"
)

// Bounds of colouring for pages.
const (
	maxLexing = 400 * time.Millisecond
	// for a lexer that does not stop after maxLexing, between two tokens
	maxWaiting = 600 * time.Millisecond
	maxLexers  = 2        // at work in this process
	textsBytes = 16 << 20 // of lines that are kept
)

// Texts colours texts, and keeps their lines by language and hash. Safe for concurrent use.
type Texts struct {
	byHash *cache.Cache[string, []string]
}

// NewTexts returns Texts that keep nothing yet.
func NewTexts() *Texts {
	return &Texts{cache.New(textsBytes, func(key string, lines []string) int64 {
		cost := len(key) + 100
		for _, l := range lines {
			cost += len(l) + 16
		}
		return int64(cost)
	})}
}

// Stats returns the statistics of the cache, under a name.
func (t *Texts) Stats(name string) cache.Stats { return t.byHash.Stats(name) }

// Lines returns HTML of each line of a file's text, all of it escaped, or the cached result for the same text.
// A text that is large, of no known language, or takes long is plain, and so is one while others are
// at work.
func (t *Texts) Lines(ctx context.Context, name, text string) []string {
	text = strings.TrimSuffix(text, "\n")
	lexer := OfFile(name, text)
	if lexer == nil {
		return lines(ctx, nil, text)
	}
	key := keyOf(lexer, text)
	list, ok := t.byHash.Get(cache.Forever, key)
	if ok {
		return list
	}
	list, keep := inTime(ctx, key, lexer, text)
	if keep {
		t.byHash.Put(cache.Forever, key, list)
	}
	return list
}

// Kept returns what Lines has cached for a text, or nil; isPlain reports a text that Lines does not colour.
func (t *Texts) Kept(name, text string) (list []string, isPlain bool) {
	text = strings.TrimSuffix(text, "\n")
	lexer := OfFile(name, text)
	if lexer == nil {
		return nil, true
	}
	list, _ = t.byHash.Get(cache.Forever, keyOf(lexer, text))
	return list, false
}

func keyOf(l *Lexer, text string) string {
	return fmt.Sprintf("%s %x", l.Config().Name, sha256.Sum256([]byte(text)))
}

// inTime colours a text, or returns it plain after a short time; keep reports whether the result may be
// cached for the next request.
func inTime(ctx context.Context, key string, lexer *Lexer, text string) (list []string, keep bool) {
	if !working.enter(key) {
		return lines(ctx, nil, text), false
	}
	done := make(chan []string, 1)
	go func() { // a lexer can be left, but not stopped
		defer working.leave(key)
		done <- lines(ctx, lexer, text)
	}()
	late := time.NewTimer(maxWaiting)
	defer late.Stop()
	select {
	case list = <-done:
		return list, ctx.Err() == nil
	case <-ctx.Done():
		return lines(ctx, nil, text), false
	case <-late.C:
		return lines(ctx, nil, text), true
	}
}

// working are the texts that lexers of this process work on, so that they leave its other cores to other
// pages.
var working = workers{texts: map[string]bool{}}

type workers struct {
	mu    sync.Mutex
	texts map[string]bool // by the key of what is kept
}

// enter reports that the text may be worked on: few others are, and it is not among them.
func (w *workers) enter(key string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.texts) == maxLexers || w.texts[key] {
		return false
	}
	w.texts[key] = true
	return true
}

func (w *workers) leave(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.texts, key)
}
