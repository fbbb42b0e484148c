package code

import (
	"html"
	"html/template"
	"path"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"arbor/internal/cache"
)

// Bounds of highlighting: what is beyond them is shown plain.
const (
	maxHighlighted = 256 << 10 // bytes of a text
	maxLexed       = 2000      // bytes of a line
	maxLexing      = 400 * time.Millisecond
	textsBytes     = 16 << 20 // of lines that are kept
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

// lines are the first lines of a text as safe HTML, and how many it has. The text is that of a blob.
func (p *Pages) lines(sha, name, text string) (shown []template.HTML, total int, cut bool) {
	total = strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		total++
	}
	if len(text) > maxText {
		text, cut = text[:maxText], true
		text = strings.ToValidUTF8(text[:strings.LastIndexByte(text, '\n')+1], "")
	}
	key := sha + " " + path.Ext(name) + " " + path.Base(name)
	list, ok := p.texts.Get(cache.Forever, key)
	if !ok {
		list = highlight(name, text)
		p.texts.Put(cache.Forever, key, list)
	}
	if len(list) > maxLines {
		list, cut = list[:maxLines], true
	}
	shown = make([]template.HTML, len(list))
	for n, line := range list {
		shown[n] = template.HTML(line) // escaped by highlight
	}
	return shown, total, cut
}

// highlight makes HTML of each line of a text, all of it escaped. A text that is large, of no known language, or takes
// long is plain, from there on.
func highlight(name, text string) []string {
	text = strings.TrimSuffix(text, "\n")
	h := &highlighter{}
	read := 0
	if lexer := lexers.Match(path.Base(name)); lexer != nil && len(text) <= maxHighlighted && !longLine(text) {
		read = h.lex(lexer, text)
	}
	h.add("", text[read:])
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

// lex adds the tokens of the text, and returns how many bytes of it they are.
func (h *highlighter) lex(lexer chroma.Lexer, text string) (read int) {
	defer func() { _ = recover() }() // a lexer's mistake leaves the rest plain
	next, err := chroma.Coalesce(lexer).Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		return 0
	}
	begun := time.Now()
	for token := next(); token != chroma.EOF && read < len(text); token = next() {
		value := token.Value[:min(len(token.Value), len(text)-read)] // lexers may end texts with a newline
		if !strings.HasPrefix(text[read:], value) {
			return read
		}
		h.add(class(token.Type), value)
		if read += len(value); time.Since(begun) > maxLexing {
			return read
		}
	}
	return read
}

// highlighter puts tokens into lines.
type highlighter struct {
	lines []string
	line  strings.Builder
}

func (h *highlighter) add(class, text string) {
	for {
		part, rest, more := strings.Cut(text, "\n")
		if part != "" {
			if class != "" {
				h.line.WriteString(`<i class="` + class + `">`)
			}
			h.line.WriteString(html.EscapeString(part))
			if class != "" {
				h.line.WriteString(`</i>`)
			}
		}
		if !more {
			return
		}
		h.lines = append(h.lines, h.line.String())
		h.line.Reset()
		text = rest
	}
}

// class is how a token is shown: keyword, type, string, number, comment, function, name; empty: plain.
func class(t chroma.TokenType) string {
	switch t {
	case chroma.KeywordType, chroma.NameClass, chroma.NameBuiltin, chroma.NameNamespace, chroma.NameException, chroma.NameEntity:
		return "t"
	case chroma.NameFunction, chroma.NameFunctionMagic, chroma.NameDecorator, chroma.GenericHeading, chroma.GenericSubheading:
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
