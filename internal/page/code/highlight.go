package code

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"arbor/internal/cache"
)

// Bounds of highlighting: what is beyond them is shown plain.
const (
	maxHighlighted = 64 << 10 // bytes of a text
	maxLexed       = 2000     // bytes of a line
	maxLexing      = 400 * time.Millisecond
	// for a lexer that does not stop after maxLexing, between two tokens
	maxWaiting = 600 * time.Millisecond
	maxLexers  = 2        // at work in this process
	textsBytes = 16 << 20 // of lines that are kept
)

func newTexts() *cache.Cache[string, []string] {
	return cache.New(textsBytes, func(key string, lines []string) int64 {
		cost := len(key) + 100
		for _, l := range lines {
			cost += len(l) + 16
		}
		return int64(cost)
	})
}

// lines are the first lines of a text as HTML, all of it escaped, and how many it has.
func (p *Pages) lines(ctx context.Context, name, text string) (list []string, total int, cut bool) {
	total = strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		total++
	}
	if len(text) > maxText {
		text, cut = text[:maxText], true
		text = strings.ToValidUTF8(text[:strings.LastIndexByte(text, '\n')+1], "")
	}
	if total == 0 {
		return nil, 0, false
	}
	return p.coloured(ctx, name, text), total, cut
}

// coloured returns HTML of each line of a text, all of it escaped, or the cached result for the same text.
// A text that is large, of no known language, or takes long is plain, and so is one while others are
// at work.
func (p *Pages) coloured(ctx context.Context, name, text string) []string {
	text = strings.TrimSuffix(text, "\n")
	lexer := lexerOf(name, text)
	if lexer == nil {
		return highlight(ctx, nil, text)
	}
	key := fmt.Sprintf("%s %x", lexer.Config().Name, sha256.Sum256([]byte(text)))
	list, ok := p.texts.Get(cache.Forever, key)
	if ok {
		return list
	}
	list, keep := inTime(ctx, key, lexer, text)
	if keep {
		p.texts.Put(cache.Forever, key, list)
	}
	return list
}

// wholesale are the lexers that read a whole text before their first token (chroma.DelegatingLexer), so that
// no clock stops them: one has been seen to take more than half a second for 16 KiB of "<". With all others
// it is looked at in time.
var wholesale = map[string]bool{
	"ERB": true, "Go HTML Template": true, "PHTML": true, "Svelte": true, "YAML+Jinja": true,
}

// lexerOf is the lexer of a text's language; nil: the text is shown plain.
func lexerOf(name, text string) chroma.Lexer {
	if len(text) > maxHighlighted || longLine(text) {
		return nil
	}
	base := path.Base(name)
	lexer, known := lexersOf.Get(base)
	if !known {
		lexer = lexers.Match(base)
		lexersOf.Put(base, lexer)
	}
	if lexer == nil || wholesale[lexer.Config().Name] {
		return nil
	}
	return lexer
}

// lexersOf are the lexers of names of files, nil for none: chroma compares a name with some thousand
// patterns.
var lexersOf = cache.NewRecent[string, chroma.Lexer](1000, nil)

// inTime highlights a text, or returns it plain after a short time; keep reports whether the result may be
// cached for the next request.
func inTime(ctx context.Context, key string, lexer chroma.Lexer, text string) (list []string, keep bool) {
	if !working.enter(key) {
		return highlight(ctx, nil, text), false
	}
	done := make(chan []string, 1)
	go func() { // a lexer can be left, but not stopped
		defer working.leave(key)
		done <- highlight(ctx, lexer, text)
	}()
	late := time.NewTimer(maxWaiting)
	defer late.Stop()
	select {
	case list = <-done:
		return list, ctx.Err() == nil
	case <-ctx.Done():
		return highlight(ctx, nil, text), false
	case <-late.C:
		return highlight(ctx, nil, text), true
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

// highlight returns HTML of each line of a text, all of it escaped. It is plain without a lexer, and from the
// point where the lexer runs out of time.
func highlight(ctx context.Context, lexer chroma.Lexer, text string) []string {
	h := &highlighter{}
	read := 0
	if lexer != nil {
		read = h.lex(ctx, lexer, text)
	}
	h.add("", text[read:])
	h.close()
	return append(h.lines, h.line.String())
}

// longLine reports a line with which the regular expressions of a language may take very long.
func longLine(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if len(line) > maxLexed {
			return true
		}
	}
	return false
}

// lex adds the tokens of the text, and returns how many bytes of it they are. Tokens come one by one, not
// joined, so that the clock is looked at after each.
func (h *highlighter) lex(ctx context.Context, lexer chroma.Lexer, text string) (read int) {
	defer func() { _ = recover() }() // a lexer's mistake leaves the rest plain
	begun := time.Now()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return 0
	}
	for token := next(); token != chroma.EOF && read < len(text); token = next() {
		value := token.Value[:min(len(token.Value), len(text)-read)] // lexers may end texts with a newline
		if !strings.HasPrefix(text[read:], value) {
			return read
		}
		h.add(class(token.Type), value)
		if read += len(value); time.Since(begun) > maxLexing || ctx.Err() != nil {
			return read
		}
	}
	return read
}

// highlighter puts tokens into lines.
type highlighter struct {
	lines []string
	line  strings.Builder
	open  string // the class of the element that is open; empty: none is
}

// add adds a token to what was added before, and joins it to a neighbour of its class.
func (h *highlighter) add(class, text string) {
	for {
		part, rest, more := strings.Cut(text, "\n")
		if part != "" {
			h.begin(class)
			h.line.WriteString(escaper.Replace(part))
		}
		if !more {
			return
		}
		h.close()
		h.lines = append(h.lines, h.line.String())
		h.line.Reset()
		text = rest
	}
}

func (h *highlighter) begin(class string) {
	if class == h.open {
		return
	}
	h.close()
	if class != "" {
		h.line.WriteString(`<` + class + `->`)
	}
	h.open = class
}

func (h *highlighter) close() {
	if h.open != "" {
		h.line.WriteString(`</` + h.open + `->`)
	}
	h.open = ""
}

// escaper returns HTML of text that stands between tags. Quotes are not markup there.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Coloured text is in elements without a meaning of their own, named by the class: <k->func</k-> (HTML lets
// authors name elements so). They are half as long as an i with a class, and a page has thousands.
var colourTag = regexp.MustCompile(`</?[a-z]->`)

// tags is how many bytes of a line are tags.
func tags(line string) (n int) {
	return len("<k-></k->") * strings.Count(line, "</")
}

// escapes is how many bytes of a line escapes take besides what they stand for.
func escapes(line string) (n int) {
	return len("lt;") * strings.Count(line, "&")
}

// plainLine is a line without colours.
func plainLine(line string) string { return colourTag.ReplaceAllString(line, "") }

// class is how a token is shown: keyword, type, string, number, comment, function, name; empty: plain.
func class(t chroma.TokenType) string {
	switch t {
	case chroma.KeywordType, chroma.NameClass, chroma.NameBuiltin, chroma.NameNamespace, chroma.NameException,
		chroma.NameEntity:
		return "t"
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameDecorator, chroma.GenericHeading,
		chroma.GenericSubheading:
		return "f"
	case chroma.NameTag, chroma.KeywordConstant:
		return "k"
	case chroma.NameAttribute, chroma.NameVariable, chroma.NameConstant, chroma.NameProperty:
		return "v"
	case chroma.GenericDeleted:
		return "x"
	case chroma.GenericInserted:
		return "s"
	}
	switch t.Category() {
	case chroma.Keyword:
		return "k"
	case chroma.Comment:
		return "c"
	case chroma.Literal:
		if t.SubCategory() == chroma.LiteralNumber {
			return "m"
		}
		return "s"
	}
	return ""
}
